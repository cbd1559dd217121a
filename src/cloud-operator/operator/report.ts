import type { ClusterOperator } from '../../api/openshift/config-v1.ts';
import { redactedText } from '../../base/redaction.ts';
import type { CallOptions } from '../../kube/client/kube-client.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';
import type { ConditionOverride } from '../definition.ts';
import type { OperatorNames } from '../names.ts';
import {
  degraded,
  isVersionReported,
  overridden,
  progressing,
  progressText,
  stillAvailable,
  USUAL_TYPES,
} from '../status/conditions.ts';
import type { OperatorStatus, StatusUpdate } from '../status/operator-status.ts';
import type { OperatorMetrics } from './operator-metrics.ts';
import { usualRelatedObjects } from './related-objects.ts';

export interface ReportOptions {
  readonly names: OperatorNames;
  /** Of the release that this operator belongs to. */
  readonly version: string;
  readonly status: OperatorStatus;
  readonly metrics: OperatorMetrics;
}

export interface ReportContext extends CallOptions {
  /** As it was when the work began. */
  readonly operator: ClusterOperator | undefined;
  readonly events: EventRecorder;
  /** What the provider says besides (R54); absent where nobody could ask it yet. */
  readonly overrides?: readonly ConditionOverride[] | undefined;
}

export interface Waiting {
  readonly reason: string;
  readonly message: string;
}

/** Says in the ClusterOperator how things are, and tells of what changed by events. */
export class Report {
  readonly #options: ReportOptions;
  #hasToldOfUpgrade = false;

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  /** Whether anything had to be written. */
  async say(update: StatusUpdate, { operator, overrides, signal }: ReportContext): Promise<boolean> {
    const { names, status, metrics } = this.#options;
    const conditions = overridden(update.conditions, overrides ?? []);
    // What providers said before and do not say now goes; who does not know what they say takes nothing away.
    const keeps = overrides === undefined ? {} : { keeps: USUAL_TYPES };
    const { conditions: before = [], relatedObjects: known = [] } = operator?.status ?? {};
    // Whoever collects facts about a cluster begins here, also where nothing has worked yet (R55).
    const related = update.relatedObjects ?? (known.length === 0 ? usualRelatedObjects(names) : undefined);
    metrics.said([...before, ...conditions]);
    return await status.write(
      { ...update, ...keeps, conditions, ...(related !== undefined && { relatedObjects: related }) },
      signal === undefined ? {} : { signal },
    );
  }

  /** Something has been written, or has not arrived yet (R51, R52). */
  async progressing(context: ReportContext, update: Partial<StatusUpdate> & { readonly waiting?: Waiting } = {}) {
    const { version } = this.#options;
    const { operator, events } = context;
    const { waiting, ...rest } = update;
    const isReported = isVersionReported(operator, version);
    const facts = { version, isVersionReported: isReported, ...(waiting !== undefined && { waiting }) };
    const conditions = [...stillAvailable(operator, version), ...progressing(facts)];
    const isNews = await this.say({ ...rest, conditions }, context);
    const text = progressText(version);
    // A rollout that goes on may be that of the version before; what an earlier process told is not told again.
    if (!isNews || isReported || this.#hasToldOfUpgrade || isSaying(operator, text)) return;
    this.#hasToldOfUpgrade = true;
    events.normal(this.#regarding(operator), 'Status upgrade', text);
  }

  /** It does not work (R53). */
  async degraded(context: ReportContext, { reason, message }: { reason?: string; message: string }) {
    const { version } = this.#options;
    const { operator, events } = context;
    const conditions = degraded({
      version,
      isVersionReported: isVersionReported(operator, version),
      problem: redactedText(message),
      ...(reason !== undefined && { reason }),
    });
    const isNews = await this.say({ conditions }, context);
    if (isNews) events.warning(this.#regarding(operator), 'Status degraded', conditions[0]?.message ?? message);
  }

  #regarding(operator: ClusterOperator | undefined): ClusterOperator {
    const { clusterOperator: name } = this.#options.names;
    return operator ?? { apiVersion: 'config.openshift.io/v1', kind: 'ClusterOperator', metadata: { name } };
  }
}

const isSaying = (operator: ClusterOperator | undefined, text: string): boolean =>
  operator?.status?.conditions?.some(({ type, message }) => type === 'Progressing' && message === text) ?? false;

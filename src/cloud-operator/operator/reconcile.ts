import type { KubeObject } from '../../api/object.ts';
import {
  type ClusterOperator,
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  Proxy,
  SINGLETON,
} from '../../api/openshift/config-v1.ts';
import type { Clock } from '../../base/clock.ts';
import { dispositionOf, messageOf, retryError, SlipwayError, terminalError } from '../../base/errors.ts';
import { isLeadershipLost } from '../../kube/client/api-error.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../kube/controller/reconcile.ts';
import { APPLIED_KINDS } from '../apply/applier.ts';
import { composeContext } from '../config/compose.ts';
import { ClusterGates, type FeatureGates } from '../config/feature-gates.ts';
import { parseImages } from '../config/images.ts';
import type { CloudProvider, CloudProviderDefinition, ConditionOverride, RenderContext } from '../definition.ts';
import type { OperatorNames } from '../names.ts';
import { platformNameMismatch } from '../registry/providers.ts';
import { available, operatorVersions, toldBy } from '../status/conditions.ts';
import { FailureWindow } from '../status/failure-window.ts';
import type { OperatorStatus } from '../status/operator-status.ts';
import { THRESHOLD_MS } from './blockers.ts';
import {
  type Decision,
  decide,
  type KnownProviders,
  kubeletNotExternal,
  OWNER_CONDITION,
  unmanaged,
} from './desired.ts';
import { managementState, managementStateProblem } from './management-state.ts';
import type { Operands } from './operands.ts';
import type { OperatorMetrics } from './operator-metrics.ts';
import { relatedObjects, usualRelatedObjects } from './related-objects.ts';
import { Report, type ReportContext } from './report.ts';

export interface CloudOperatorOptions {
  readonly names: OperatorNames;
  /** Of the release that this operator belongs to. */
  readonly version: string;
  /** Whose feature gates hold. */
  readonly gatesVersion: string;
  readonly providers: KnownProviders;
  /** `--provider`. */
  readonly provider?: string;
  /** `images.json`, read again each time: a new release brings new images into the same file. */
  readonly images: {
    readonly file: string;
    readonly read: () => Promise<string>;
    /** Those that a provider uses. */
    readonly keys: readonly string[];
  };
  readonly tls: RenderContext['tls'];
  readonly operands: Operands;
  readonly status: OperatorStatus;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
}

/** Until a rollout is looked at again (R35, R36), and until users are told what is waited for (section 18, 11). */
const LOOK_AGAIN_MS = 30_000;

/** Deploys what the cloud of this cluster needs, and says in the ClusterOperator how that goes (section 6). */
export class CloudOperator {
  readonly #options: CloudOperatorOptions;
  readonly #report: Report;
  readonly #operands: Operands;
  readonly #failures = new FailureWindow({ thresholdMs: THRESHOLD_MS });
  readonly #clusterGates: ClusterGates;
  /** What the provider said last besides (R54); undefined before it could be asked. */
  #overrides: readonly ConditionOverride[] | undefined;
  #waitingSinceMs: number | undefined;
  /** What users were told and need not hear again. */
  readonly #told = new Map<string, string>();

  constructor(options: CloudOperatorOptions) {
    this.#options = options;
    this.#report = new Report(options);
    this.#operands = options.operands;
    this.#clusterGates = new ClusterGates(options.gatesVersion);
  }

  /** What only an edit helps with is told at once and not tried again, the rest when it lasts (R58). */
  async reconcile(context: ReconcileContext): Promise<Result> {
    try {
      const result = await this.#sync(context);
      this.#failures.succeeded();
      return result;
    } catch (thrown) {
      if (!isLeadershipLost(thrown) && !isStopped(context.signal)) await this.#failed(thrown, context);
      throw thrown;
    }
  }

  async #failed(thrown: unknown, { events }: ReconcileContext): Promise<void> {
    const { clock, status } = this.#options;
    const disposition = dispositionOf(thrown);
    const isFinal = disposition === 'terminal' || disposition === 'user';
    if (!isFinal && !this.#failures.failed(clock.monotonicMs())) return;
    try {
      const said = { operator: await status.read(), events, overrides: this.#overrides };
      await this.#report.degraded(said, { message: messageOf(thrown) });
    } catch (cause) {
      if (isLeadershipLost(cause)) throw cause;
      throw retryError('StatusNotWritten', `failed to set degraded condition: ${messageOf(cause)}`, { cause });
    }
  }

  async #sync(context: ReconcileContext): Promise<Result> {
    const { client, events, signal } = context;
    const { providers, provider, status } = this.#options;
    const operator = await status.read({ signal });
    this.#tellOfState(operator, context);
    const infra = await reading('Infrastructure', client.find(Infrastructure, SINGLETON, { signal }));
    this.#overrides = await this.#overridesOn(infra, context);
    const decision = decide({ infra, operator, providers, ...(provider !== undefined && { provider }) });
    return await this.#follow(decision, { operator, events, signal, overrides: this.#overrides }, context);
  }

  /** Whatever is done now: who pauses an operator does not make a preview a product. What it said last where it cannot be asked. */
  async #overridesOn(infra: Infrastructure | undefined, context: ReconcileContext) {
    if (infra === undefined) return [];
    const conditions = this.#saysBesides(infra);
    if (conditions === undefined) return [];
    const render = await this.#renderContext(infra, context).catch(() => undefined);
    return render === undefined ? this.#overrides : conditions(render);
  }

  #saysBesides(infra: Infrastructure): CloudProviderDefinition['conditions'] {
    const { providers, provider } = this.#options;
    try {
      return providers.resolve(infra, { provider })?.definition.conditions;
    } catch {
      // Whoever has to deploy something finds out the same, and tells of it.
      return undefined;
    }
  }

  async #follow(decision: Decision, said: ReportContext, context: ReconcileContext): Promise<Result> {
    const { names, version } = this.#options;
    const usual = { relatedObjects: usualRelatedObjects(names) };
    if (decision.kind !== 'waiting') this.#waitingSinceMs = undefined;
    if (decision.kind !== 'deploy') this.#operands.rest();
    switch (decision.kind) {
      case 'deploy':
        return await this.#deploy(decision, said, context);
      case 'waiting':
        return await this.#wait(decision.message, said);
      case 'available': {
        const { message } = decision;
        await this.#report.say({ ...available({ version, ...(message && { message }) }), ...usual }, said);
        return DONE;
      }
      case 'kubelet-not-external':
        await this.#report.say({ conditions: kubeletNotExternal(decision.message), ...usual }, said);
        return DONE;
      case 'unmanaged':
        // With the version: an upgrade of the cluster must not wait for somebody who is paused.
        await this.#report.say({ conditions: unmanaged(), versions: operatorVersions(version) }, said);
        return DONE;
      case 'removed': {
        const message = await this.#operands.removeAll().catch(throwSyncFailure);
        await this.#report.say({ ...available({ version, reason: 'Removed', message }), ...usual }, said);
        return DONE;
      }
    }
  }

  /** Not for ever without a word; config-sync wakes us by the ClusterOperator. */
  async #wait(message: string, said: ReportContext): Promise<Result> {
    const nowMs = this.#options.clock.monotonicMs();
    this.#waitingSinceMs ??= nowMs;
    const leftMs = this.#waitingSinceMs + LOOK_AGAIN_MS - nowMs;
    if (leftMs > 0) return after(leftMs);
    await this.#report.progressing(said, { waiting: { reason: 'WaitingForConfigSync', message } });
    return DONE;
  }

  async #deploy(
    { infra, provider }: Decision & { kind: 'deploy' },
    said: ReportContext,
    context: ReconcileContext,
  ): Promise<Result> {
    const { names, status, version } = this.#options;
    this.#tellOfPlatform(infra, provider, context);
    const render = await this.#renderContext(infra, context);
    const operands = rendered(provider, render);
    const related = relatedObjects({ names, provider, operands, kinds: APPLIED_KINDS });
    const isChanged = await this.#operands.apply(operands).catch(throwSyncFailure);
    if (isChanged) {
      await this.#report.progressing(said, { relatedObjects: related });
      return after(LOOK_AGAIN_MS);
    }
    const { isConverged, isShort, blocker } = await this.#operands
      .observe(provider, operands, toldBy(said.operator, version))
      .catch(throwSyncFailure);
    if (blocker?.isLasting === true) {
      await this.#report.degraded(said, blocker);
      return after(LOOK_AGAIN_MS);
    }
    if (!isConverged || blocker?.isAwaited === true) {
      await this.#report.progressing(said, { relatedObjects: related, ...(blocker && { waiting: blocker }) });
      return after(LOOK_AGAIN_MS);
    }
    await this.#report.say({ ...available({ version }), relatedObjects: related }, said);
    await status.remove(OWNER_CONDITION, { signal: context.signal });
    // Pods may begin to fail without any further event of their workload.
    return isShort ? after(LOOK_AGAIN_MS) : DONE;
  }

  async #renderContext(infra: Infrastructure, { client, signal }: ReconcileContext): Promise<RenderContext> {
    const { images: source, names, tls } = this.#options;
    const proxy = await reading('Proxy', client.find(Proxy, SINGLETON, { signal }));
    const gates = await this.#gates({ client, signal });
    try {
      const { file, keys } = source;
      const images = parseImages({ text: await source.read(), file, keys });
      return composeContext({ infra, proxy, images, gates, tls, managedNamespace: names.managedNamespace });
    } catch (cause) {
      const text = `failed to build operator config: ${messageOf(cause)}`;
      throw terminalError('InvalidOperatorConfig', text, { cause });
    }
  }

  async #gates({ client, signal }: Pick<ReconcileContext, 'client' | 'signal'>): Promise<FeatureGates> {
    const gate = await reading('FeatureGate', client.find(FeatureGate, SINGLETON, { signal }));
    const release = await reading('ClusterVersion', client.find(ClusterVersion, { name: 'version' }, { signal }));
    return this.#clusterGates.observed(gate, release);
  }

  #tellOfState(operator: ClusterOperator | undefined, { events }: ReconcileContext): void {
    const { unknown } = managementState(operator);
    const problem = unknown === undefined ? '' : managementStateProblem(unknown);
    if (operator !== undefined && this.#isNews('state', problem))
      events.warning(operator, 'InvalidManagementState', problem);
  }

  #tellOfPlatform(infra: Infrastructure, provider: CloudProvider, { events }: ReconcileContext): void {
    const problem = platformNameMismatch(provider, infra) ?? '';
    if (this.#isNews('platform', problem)) events.warning(infra, 'PlatformNameMismatch', problem);
  }

  /** Events tell of changes: not at each reconcile. */
  #isNews(topic: string, text: string): boolean {
    const isNews = text !== '' && this.#told.get(topic) !== text;
    this.#told.set(topic, text);
    return isNews;
  }
}

/** Rendering asks nobody: what fails once fails until a setting, an image or a definition is another (R20). */
function rendered(provider: CloudProvider, context: RenderContext): readonly KubeObject[] {
  try {
    return provider.getResources(context);
  } catch (cause) {
    throw terminalError('OperandsNotRendered', `failed to sync operands: ${messageOf(cause)}`, { cause });
  }
}

async function reading<T>(what: string, read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (cause) {
    throw retryError('ReadFailed', `failed to get ${what}: ${messageOf(cause)}`, { cause });
  }
}

/** `failed to sync operands: …`, with what failed still known to whoever decides about a retry (R34). */
function throwSyncFailure(thrown: unknown): never {
  if (isLeadershipLost(thrown)) throw thrown;
  const text = `failed to sync operands: ${messageOf(thrown)}`;
  if (!(thrown instanceof SlipwayError)) throw retryError('OperandSyncFailed', text, { cause: thrown });
  const { disposition, reason, retryAfterMs } = thrown;
  throw new SlipwayError(disposition, reason, text, {
    cause: thrown,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** The process ends, or somebody else leads; a reconcile that took too long has failed like others. */
function isStopped({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof SlipwayError && reason.reason === 'ReconcileTimeout');
}

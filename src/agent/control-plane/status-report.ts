import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { Condition } from '../../api/object.ts';
import { dispositionOf } from '../../base/errors.ts';
import { patcher } from '../../kube/apply/patcher.ts';
import {
  isConflict,
  isLeadershipLost,
  isNetwork,
  isServiceUnavailable,
  isTimeout,
  isTooManyRequests,
} from '../../kube/client/api-error.ts';
import { after, type ReconcileContext, type Result } from '../../kube/controller/reconcile.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';
import { type ConditionFields, conditionsOf, findCondition, setCondition } from '../../object/conditions.ts';
import { inOrder, isAboutOperation } from './conditions.ts';

type Status = NonNullable<OpenshiftAssistedControlPlane['status']>;
type Fields = Partial<Omit<Status, 'conditions' | 'observedGeneration'>>;

/** What only an edit helps with may be in another object, such as a Secret, of which no event tells. */
const LOOK_AGAIN_MS = 60_000;

export interface StatusReportOptions {
  /** The types that this controller writes; it never touches others. */
  readonly owned: readonly string[];
  /** Said of every outcome, from all conditions as they are then. */
  readonly summary?: (conditions: readonly Condition[]) => ConditionFields;
  /** `status.observedGeneration` is what the control-plane controller has seen, and nobody else. */
  readonly isObserver?: boolean;
}

/** What one reconcile says about a control plane. Three controllers write its status: each only what is its own. */
export class StatusReport {
  readonly #object: OpenshiftAssistedControlPlane;
  readonly #context: ReconcileContext;
  readonly #options: StatusReportOptions;
  #conditions: readonly Condition[];
  #fields: Fields = {};

  constructor(object: OpenshiftAssistedControlPlane, context: ReconcileContext, options: StatusReportOptions) {
    this.#object = object;
    this.#context = context;
    this.#options = options;
    this.#conditions = conditionsOf(object);
  }

  say(...all: readonly ConditionFields[]): void {
    const { generation } = this.#object.metadata;
    for (const fields of all) {
      const stamped = { ...fields, ...(generation !== undefined && { observedGeneration: generation }) };
      this.#conditions = setCondition(this.#conditions, stamped, this.#context.now()).conditions;
    }
  }

  /** What was said of this type, now or earlier. */
  said(type: string): Condition | undefined {
    return findCondition(this.#conditions, type);
  }

  set(fields: Fields): void {
    this.#fields = { ...this.#fields, ...fields };
  }

  /**
   * Does the work and writes what was said meanwhile, however it ends. What only an edit helps with is looked at again
   * after a while instead of never.
   */
  async around(work: () => Promise<Result>): Promise<Result> {
    let result: Result;
    try {
      result = await work();
    } catch (error) {
      // Whoever leads now tells of it.
      if (isLeadershipLost(error) || this.#context.signal.aborted) throw error;
      await this.write({ isDone: false });
      if (dispositionOf(error) === 'user') return after(LOOK_AGAIN_MS);
      throw error;
    }
    await this.write({ isDone: true });
    return result;
  }

  async write({ isDone }: { readonly isDone: boolean }): Promise<void> {
    const { owned, summary, isObserver = false } = this.#options;
    if (summary !== undefined) this.say(summary(this.#conditions));
    const before = conditionsOf(this.#object);
    const patching = patcher(this.#context.client, OpenshiftAssistedControlPlane, this.#object);
    const status = { ...this.#object.status, ...this.#fields, conditions: this.#conditions };
    // A draft is a copy that may be changed: nothing of what is put there is changed later.
    patching.draft.status = structuredClone(status) as NonNullable<typeof patching.draft.status>;
    await patching.patch({
      ownedConditions: owned,
      orderConditions: inOrder,
      observedGeneration: isDone && isObserver,
    });
    tellChanges(this.#context.events, this.#object, {
      before,
      after: this.#conditions.filter(({ type }) => owned.includes(type)),
    });
  }
}

interface Change {
  readonly before: readonly Condition[];
  readonly after: readonly Condition[];
}

/** An event for every reason that was not there before; the summary only repeats what others tell. */
function tellChanges(
  events: EventRecorder,
  object: OpenshiftAssistedControlPlane,
  { before, after: now }: Change,
): void {
  for (const { type, status, reason, message } of now) {
    const old = findCondition(before, type);
    const isCalm = isAboutOperation(type) && status === 'False';
    if (type === 'Ready' || old?.reason === reason || (isCalm && old === undefined)) continue;
    const note = message === '' ? `${type} is ${status}` : `${type} is ${status}: ${message}`;
    if (isTrouble(reason)) events.warning(object, reason, note);
    else events.normal(object, reason, note);
  }
}

/**
 * Whether a failure is one of those that every server has from time to time: a condition that followed them would flap.
 * What lasts is told by the loop.
 */
export const isPassing = (error: unknown): boolean =>
  isLeadershipLost(error) ||
  isNetwork(error) ||
  isConflict(error) ||
  isTimeout(error) ||
  isTooManyRequests(error) ||
  isServiceUnavailable(error);

/** Waiting is no trouble; what ends in one of these words is. */
const isTrouble = (reason: string): boolean =>
  /(Failed|Unavailable|NotFound|Unauthorized|Unreachable|Conflict|Cancelled|Taken)$|^Invalid/.test(reason) &&
  reason !== 'KubeconfigUnavailable';

import { type ApplyOf, type Condition, type Kind, type KubeObject, keyOf, keyText } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { isApplyConflict } from '../client/api-error.ts';
import type { ApplyOptions, KubeClient } from '../client/kube-client.ts';
import {
  differenceFrom,
  failureConditions,
  outcomeManager,
  ownsConditions,
  showsFailure,
} from './outcome-conditions.ts';
import type { OutcomeEchoes } from './outcome-echo.ts';
import type { Failure } from './settle.ts';

export interface OutcomeWriterOptions<T extends KubeObject> {
  readonly kind: Kind<T, unknown>;
  /** Under the field manager of the controller. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly echoes: OutcomeEchoes;
}

/** What the object said of the failure before. */
export type Showing = 'shown' | 'was shown' | 'unchanged';

const WRITE_TIMEOUT_MS = 10_000;
/** A text that differs every time is not worth a write every time. */
const TEXT_EVERY_MS = 60_000;

/**
 * Shows failures as conditions of the object and takes them back. Applied under a manager of its own, so that what the
 * reconciler says about its object stays the reconciler's. No request in steady state: everything is compared first.
 */
export class OutcomeWriter<T extends KubeObject> {
  readonly #options: OutcomeWriterOptions<T>;
  readonly #manager: string;
  /** Uids of objects that look failed by the word of somebody else. Bounded by the objects: see `gone`. */
  readonly #innocent = new Map<string, string | undefined>();

  constructor(options: OutcomeWriterOptions<T>) {
    this.#options = options;
    this.#manager = outcomeManager(options.client.fieldManager);
  }

  /** Ready=False, and Stalled=True when nothing but an edit helps; no write when the object says so already. */
  async show(object: T, failure: Failure, lastShownMs: number, signal: AbortSignal): Promise<Showing> {
    const { client, clock, kind } = this.#options;
    const current = await client.find(kind, keyOf(object));
    if (current === undefined || current.metadata.uid !== object.metadata.uid) return 'unchanged';
    const conditions = failureConditions(current, failure, clock.now());
    const difference = differenceFrom(current, conditions);
    if (difference === 'none') return 'was shown';
    const isSoon = clock.monotonicMs() - lastShownMs < TEXT_EVERY_MS;
    if (difference === 'message' && isSoon) return 'unchanged';
    this.#innocent.delete(keyText(keyOf(object)));
    await this.#apply(current, conditions, signal);
    return 'shown';
  }

  /** Takes back what `show` wrote, in this process or in one before. `wasShown`: this process did write. */
  async clear(object: T, wasShown: boolean, signal: AbortSignal): Promise<void> {
    if (!wasShown && !showsFailure(object)) return;
    const { client, kind } = this.#options;
    const key = keyOf(object);
    const { uid } = object.metadata;
    if (!wasShown && this.#innocent.get(keyText(key)) === uid) return;
    const current = wasShown ? object : await client.find(kind, key);
    if (current === undefined || !(wasShown || showsFailure(current))) return;
    // The cache keeps no managed fields, and whose condition it is stands only there.
    const live = await client.live.find(kind, key, { signal });
    if (live === undefined || live.metadata.uid !== uid) return;
    if (ownsConditions(live, this.#manager)) await this.#apply(live, [], signal);
    else this.#innocent.set(keyText(key), uid);
  }

  /**
   * Whether a reconciler failed only because it applied a condition that `show` holds, without force. Then the outcome
   * is given up, so that the next try succeeds.
   */
  async yields(object: T, thrown: unknown, signal: AbortSignal): Promise<boolean> {
    if (!isApplyConflict(thrown)) return false;
    const others = (thrown.details.causes ?? []).filter(({ message }) => !message?.includes(`"${this.#manager}"`));
    if (others.length > 0) return false;
    await this.#apply(object, [], signal);
    return true;
  }

  /** The object does not exist any more. */
  gone(key: string): void {
    this.#innocent.delete(key);
  }

  async #apply(object: T, conditions: readonly Condition[], signal: AbortSignal): Promise<void> {
    const { client, echoes, kind } = this.#options;
    const { name, namespace, uid } = object.metadata;
    const metadata = { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) };
    const status = conditions.length === 0 ? {} : { status: { conditions } };
    const options: ApplyOptions = {
      fieldManager: this.#manager,
      force: true,
      timeoutMs: WRITE_TIMEOUT_MS,
      signal,
    };
    // Kinds with conditions have them there: that is what `hasConditions` promises.
    const config = { metadata, ...status } as unknown as ApplyOf<T>;
    await echoes.during(keyText(keyOf(object)), () => client.applyStatus(kind, config, options));
  }
}

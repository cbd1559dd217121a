import type { Clock } from '../../base/clock.ts';
import type { CallContext } from '../../sdk/capabilities/call.ts';
import type { InstanceObservation, InstanceRef, Instances } from '../../sdk/capabilities/instances.ts';
import { ProviderError, type ProviderErrorKind } from '../../sdk/provider/provider-error.ts';
import { inParallel } from './in-parallel.ts';
import { failed, type InstanceAnswer, providerFailure, unanswered } from './instance-answer.ts';
import { type Batch, PendingBatch } from './pending-batch.ts';
import { Turns } from './turns.ts';

/** Calls at once for those who ask one by one: a batch that hangs must not hold up all others. */
const MOST_BATCHES = 4;
/** Calls at once about one machine each: however many nodes are worked on, clouds count the calls of a second. */
const MOST_ALONE = 30;
/** So long a call that is under way is waited for, by those who want the next: one that hangs may take a minute. */
const PATIENCE_MS = 1000;
/** Beyond this the oldest is forgotten, and asked about together with others again. */
const MOST_SUSPECTS = 10_000;
/** These say something about the cloud and not about one machine: asking one by one would only add to the trouble. */
const CLOUD_WIDE: ReadonlySet<ProviderErrorKind> = new Set([
  'throttled',
  'unavailable',
  'unauthenticated',
  'denied',
  'uncertain',
]);

/**
 * Asks a provider about machines in as few calls as it allows. Who asks at the same time, or while a call is under way,
 * shares the next call, which does not wait for one that hangs. Everything that goes wrong is a ProviderError, except
 * the reason of an abort.
 */
export class InstanceObserver {
  readonly #instances: Instances;
  readonly #clock: Pick<Clock, 'timer'>;
  readonly #maxBatch: number;
  /** Names whose last call together with others failed: one machine that cannot be asked about must not hide the rest. */
  readonly #suspects = new Set<string>();
  readonly #pending = new PendingBatch();
  readonly #turns = new Turns(MOST_ALONE);
  #inFlight = 0;
  #isScheduled = false;
  /** While somebody waits for a call that is under way. */
  #patience: Disposable | undefined;

  constructor(instances: Instances, clock: Pick<Clock, 'timer'>) {
    this.#instances = instances;
    this.#clock = clock;
    this.#maxBatch = Math.max(1, instances.declare().maxBatch ?? Number.POSITIVE_INFINITY);
  }

  /** Rejects when the provider cannot tell, and when the signal of the call aborts. */
  async observe(ref: InstanceRef, call: CallContext): Promise<InstanceObservation> {
    call.signal.throwIfAborted();
    if (!this.#isBatched(ref)) return await this.#alone(ref, call);
    const answer = this.#pending.join(ref, call);
    this.#schedule();
    try {
      return await answer;
    } finally {
      if (this.#pending.size === 0) this.#disarm();
    }
  }

  /** The answers by name of the node, for all that are asked about. Never rejects. */
  async observeMany(
    refs: readonly InstanceRef[],
    { concurrency }: { readonly concurrency: number },
    call: CallContext,
  ): Promise<ReadonlyMap<string, InstanceAnswer>> {
    const answers = new Map<string, InstanceAnswer>();
    const { signal } = call;
    // Decided now: a call that fails meanwhile changes who is asked about alone, but only the next time.
    const alone = refs.filter((ref) => !this.#isBatched(ref));
    const together = refs.filter((ref) => this.#isBatched(ref));
    const calls = [
      ...chunks(together, this.#maxBatch).map((group) => () => this.#together(group, call)),
      ...alone.map((ref) => () => this.#settledAlone(ref, call)),
    ];
    await inParallel(calls, { concurrency, signal }, async (ask) => {
      for (const [name, answer] of await ask()) answers.set(name, answer);
    });
    for (const { nodeName } of refs) if (!answers.has(nodeName)) answers.set(nodeName, failed(signal.reason));
    return answers;
  }

  #isBatched({ nodeName }: InstanceRef): boolean {
    return this.#instances.describeMany !== undefined && !this.#suspects.has(nodeName);
  }

  /** After this turn: whoever asks in it comes along. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  /** Full batches go at once, as many as may; others wait for the call that is under way, and grow meanwhile. */
  #send(): void {
    while (this.#inFlight < MOST_BATCHES && this.#pending.size > 0) {
      if (this.#inFlight > 0 && this.#pending.size < this.#maxBatch) return this.#arm();
      this.#sendOne();
    }
  }

  #sendOne(): void {
    this.#disarm();
    const batch = this.#inFlight < MOST_BATCHES ? this.#pending.take(this.#maxBatch) : undefined;
    if (batch === undefined) return;
    this.#inFlight++;
    void this.#answer(batch);
  }

  #arm(): void {
    this.#patience ??= this.#clock.timer(PATIENCE_MS, () => this.#sendOne());
  }

  #disarm(): void {
    this.#patience?.[Symbol.dispose]();
    this.#patience = undefined;
  }

  async #answer(batch: Batch): Promise<void> {
    batch.settle(await this.#together(batch.refs, batch.call));
    this.#inFlight--;
    // Who is answered may ask about the next machine right away: it comes along.
    this.#schedule();
  }

  /** One call of `describeMany`; an answer for each, never a rejection. */
  async #together(refs: readonly InstanceRef[], call: CallContext): Promise<ReadonlyMap<string, InstanceAnswer>> {
    try {
      const found = (await this.#instances.describeMany?.(refs, call)) ?? new Map<string, InstanceObservation>();
      return new Map(refs.map(({ nodeName }) => [nodeName, found.get(nodeName) ?? unanswered(nodeName)]));
    } catch (thrown) {
      const error = providerFailure(thrown, call);
      if (refs.length > 1 && error instanceof ProviderError && !CLOUD_WIDE.has(error.kind)) this.#suspect(refs);
      return new Map(refs.map(({ nodeName }) => [nodeName, failed(error)]));
    }
  }

  async #settledAlone(ref: InstanceRef, call: CallContext): Promise<ReadonlyMap<string, InstanceAnswer>> {
    const answer = await this.#alone(ref, call).catch(failed);
    return new Map([[ref.nodeName, answer]]);
  }

  async #alone(ref: InstanceRef, call: CallContext): Promise<InstanceObservation> {
    using _turn = await this.#turns.take(call.signal);
    try {
      const found = await this.#instances.describe(ref, call);
      this.#suspects.delete(ref.nodeName);
      return found;
    } catch (thrown) {
      throw providerFailure(thrown, call);
    }
  }

  #suspect(refs: readonly InstanceRef[]): void {
    for (const { nodeName } of refs) this.#suspects.add(nodeName);
    for (const oldest of this.#suspects) {
      if (this.#suspects.size <= MOST_SUSPECTS) return;
      this.#suspects.delete(oldest);
    }
  }
}

function chunks<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  if (items.length <= size) return items.length === 0 ? [] : [items];
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}

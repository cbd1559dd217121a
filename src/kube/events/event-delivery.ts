import { Event as CoreEvent } from '../../api/generated/core-v1.ts';
import { Event } from '../../api/generated/events-v1.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import {
  isAlreadyExists,
  isNetwork,
  isNoMatch,
  isNotFound,
  isServiceUnavailable,
  isTimeout,
} from '../client/api-error.ts';
import type { Writer } from '../client/kube-client.ts';
import { coreEvent, seriesFields, seriesPatch } from './event-object.ts';
import type { EventWrite } from './event-series.ts';

/** Why an event was not written. */
export type DropReason = 'overflow' | 'rejected' | 'unreachable' | 'shutdown' | 'spam';

export interface DeliveryOptions {
  readonly writer: Pick<Writer, 'create' | 'patch'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly dropped: (reason: DropReason) => void;
  /** Never ask for events.k8s.io. */
  readonly inCoreGroup?: boolean;
}

const LONGEST_QUEUE = 1000;
const TRIES = 12;
const PAUSE_MS = 10_000;
const JITTER = 0.25;
/** Several at once, so that one slow answer does not hold up all; the writes of one series never overlap. */
const LANES = 4;
/** How long the old group is used before the new one is asked again: a server that starts may not serve it yet. */
const FALLBACK_MS = 10 * 60_000;

/** Writes events in the background, in order for each series, and gives up rather than piling up (V3). */
export class EventDelivery {
  readonly #options: DeliveryOptions;
  /** Bounded: what comes when it is full is dropped and counted. */
  readonly #queue: EventWrite[] = [];
  readonly #busy = new Set<string>();
  readonly #waiting = new Set<() => void>();
  #coreUntilMs = -1;
  #isDraining = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Takes a write over, or drops it when 1,000 wait. */
  add(write: EventWrite): void {
    if (this.#queue.length >= LONGEST_QUEUE) return this.#options.dropped('overflow');
    this.#queue.push(write);
    this.#wake();
  }

  /** Nothing waits and nothing is being written. */
  get isIdle(): boolean {
    return this.#queue.length === 0 && this.#busy.size === 0;
  }

  /** Resolves when everything that was handed over is written or dropped, or when the signal aborts. */
  async idle(signal: AbortSignal): Promise<void> {
    while (!this.isIdle && !signal.aborted) await this.#change(signal);
  }

  /** Writes until `stop` aborts. From `drain` on each write gets one try and no pause. */
  async run(drain: AbortSignal, stop: AbortSignal): Promise<void> {
    const onDrain = () => {
      this.#isDraining = true;
      this.#wake();
    };
    drain.addEventListener('abort', onDrain, { once: true });
    if (drain.aborted) onDrain();
    await Promise.all(Array.from({ length: LANES }, () => this.#lane(drain, stop)));
    drain.removeEventListener('abort', onDrain);
    for (const _lost of this.#queue.splice(0)) this.#options.dropped('shutdown');
  }

  async #lane(drain: AbortSignal, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const write = this.#take();
      if (write === undefined) {
        await this.#change(stop);
        continue;
      }
      await this.#deliver(write, drain, stop);
      this.#busy.delete(write.series.key);
      this.#wake();
    }
  }

  /** The first write of a series that no other lane is busy with. */
  #take(): EventWrite | undefined {
    const at = this.#queue.findIndex(({ series }) => !this.#busy.has(series.key));
    const [write] = at < 0 ? [] : this.#queue.splice(at, 1);
    if (write !== undefined) this.#busy.add(write.series.key);
    return write;
  }

  async #deliver(write: EventWrite, drain: AbortSignal, stop: AbortSignal): Promise<void> {
    const { clock, log, dropped } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#write(write, stop);
      } catch (error) {
        const lost = this.#lost(error, tries, stop);
        const fields = { event: write.series.event.metadata.name, problem: messageOf(error), tries };
        if (lost !== undefined) {
          log.warn({ ...fields, why: lost }, 'event is lost');
          return dropped(lost);
        }
        log.debug(fields, 'event could not be written; trying again');
      }
      // All clients lost the server at the same moment; they need not come back at the same one.
      const pauseMs = PAUSE_MS * (1 - JITTER + 2 * JITTER * clock.random());
      await clock.sleep(pauseMs, drain).catch(() => undefined);
    }
  }

  /** Why a failed write is not tried again; undefined when it is. */
  #lost(error: unknown, tries: number, stop: AbortSignal): DropReason | undefined {
    if (stop.aborted) return 'shutdown';
    if (!isUnanswered(error)) return 'rejected';
    if (this.#isDraining) return 'shutdown';
    return tries >= TRIES ? 'unreachable' : undefined;
  }

  /** In events.k8s.io, or in the core group where that is not served (V5). */
  async #write(write: EventWrite, signal: AbortSignal): Promise<void> {
    const { clock, inCoreGroup = false } = this.#options;
    if (inCoreGroup || clock.monotonicMs() < this.#coreUntilMs) return this.#send(write, true, signal);
    try {
      await this.#send(write, false, signal);
    } catch (error) {
      if (!isNoMatch(error)) throw error;
      await this.#send(write, true, signal);
      this.#coreUntilMs = clock.monotonicMs() + FALLBACK_MS;
    }
  }

  async #send({ series, state }: EventWrite, isCore: boolean, signal: AbortSignal): Promise<void> {
    if (state === undefined) return this.#create({ series }, isCore, signal);
    const { writer } = this.#options;
    const { name, namespace = '' } = series.event.metadata;
    const patch = { type: 'merge', body: seriesPatch(state, isCore) } as const;
    const kind: Kind<KubeObject, unknown> = isCore ? CoreEvent : Event;
    try {
      await writer.patch(kind, { namespace, name }, patch, { signal });
    } catch (error) {
      // Events live an hour, and the creation may have been lost.
      if (!isNotFound(error) || isNoMatch(error)) throw error;
      await this.#create({ series, state }, isCore, signal);
    }
  }

  async #create({ series, state }: EventWrite, isCore: boolean, signal: AbortSignal): Promise<void> {
    const { event, firstObserved } = series;
    const { writer } = this.#options;
    const repeated = state !== undefined && { series: seriesFields(state) };
    try {
      if (isCore) {
        const object = { ...coreEvent(event, firstObserved, state), ...repeated };
        await writer.create(CoreEvent, object, { signal });
      } else await writer.create(Event, { ...event, ...repeated }, { signal });
    } catch (error) {
      // The name is ours alone: an earlier try arrived although its answer did not.
      if (!isAlreadyExists(error)) throw error;
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at the next change of the queue or when the signal aborts. */
  async #change(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake);
    if (signal.aborted) resolve();
    await promise;
    this.#waiting.delete(wake);
    signal.removeEventListener('abort', wake);
  }
}

/** Nobody looked at the event: no answer, or one from a server that cannot answer now. Anything else is a decision. */
const isUnanswered = (error: unknown): boolean =>
  isNetwork(error) || isServiceUnavailable(error) || isTimeout(error);

import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { aborted } from '../aborted.ts';
import type { Writer } from '../client/kube-client.ts';
import type { Runnable } from '../manager/runnable.ts';
import type { Counter, Metrics } from '../metrics/metrics.ts';
import { type DropReason, EventDelivery } from './event-delivery.ts';
import { eventName, eventObject, identity, type Occurrence, type Reporter, seriesKey } from './event-object.ts';
import type { EventDetails, EventRecorder } from './event-recorder.ts';
import { EventSeries, type EventWrite } from './event-series.ts';
import { SpamGuard } from './spam-guard.ts';

export interface EventRecorderOptions extends Reporter {
  /** A client that writes at once: without the fence of a leader, whose last events would be lost. */
  readonly client: Pick<Writer, 'create' | 'patch'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Another note is another event, as with the controllers of Kubernetes itself: for notes that are few and differ by what they tell. */
  readonly distinctNotes?: boolean;
  /**
   * Events are written in the core group, with their reporter as `source.component`: for programs that are read by
   * others who know no newer field. Only where events.k8s.io is not served unless told otherwise (V5).
   */
  readonly inCoreGroup?: boolean;
}

/** A recorder with its delivery, which runs as a part of a manager. */
export interface RunningEventRecorder extends EventRecorder, Runnable {
  /** The same delivery for another controller of this process. */
  for(reporter: Reporter): EventRecorder;
  /** Resolves when what was recorded is written or dropped, or after 2 s (or `timeoutMs`); never rejects. */
  flush(timeoutMs?: number): Promise<void>;
}

const FLUSH_MS = 2000;
const DROP_REASONS: readonly DropReason[] = ['overflow', 'rejected', 'unreachable', 'shutdown', 'spam'];

/**
 * A recorder of events (V1–V5). Recording never throws and never waits; writes happen while `run` runs. What is recorded
 * before is kept, up to 1,000 writes. It starts with the first group and stops with the last, so that the last words
 * of reconcilers are heard: on stop everything that is left is written, for 2 s at most.
 */
export const createEventRecorder = (options: EventRecorderOptions): RunningEventRecorder => new Recording(options);

class Recording implements RunningEventRecorder {
  readonly name = 'events';
  readonly group = 'http';
  readonly #options: EventRecorderOptions;
  readonly #series = new EventSeries();
  readonly #guard = new SpamGuard();
  readonly #delivery: EventDelivery;
  readonly #dropped: Counter;
  #finishing: Disposable | undefined;
  #isRunning = false;
  #lastNanoseconds = 0n;

  constructor(options: EventRecorderOptions) {
    const { client, clock, log, metrics, inCoreGroup = false } = options;
    this.#options = options;
    this.#dropped = metrics.counter({
      name: 'slipway_events_dropped_total',
      help: 'Events that were recorded and not written.',
      labels: ['reason'],
    });
    for (const reason of DROP_REASONS) this.#dropped.add({ reason }, 0);
    const dropped = (reason: DropReason) => this.#dropped.add({ reason });
    this.#delivery = new EventDelivery({ writer: client, clock, log, dropped, inCoreGroup });
  }

  normal(regarding: KubeObject, reason: string, note: string, details?: EventDetails): void {
    this.for(this.#options).normal(regarding, reason, note, details);
  }

  warning(regarding: KubeObject, reason: string, note: string, details?: EventDetails): void {
    this.for(this.#options).warning(regarding, reason, note, details);
  }

  for({ controller, instance }: Reporter): EventRecorder {
    const reporter = { controller, instance };
    const record =
      (type: Occurrence['type']): EventRecorder['normal'] =>
      (regarding, reason, note, { action = reason, related } = {}) =>
        this.#record({ reporter, regarding, related, type, reason, action, note });
    return { normal: record('Normal'), warning: record('Warning') };
  }

  async flush(timeoutMs = FLUSH_MS): Promise<void> {
    const deadline = new AbortController();
    using _timer = this.#options.clock.timer(timeoutMs, () => deadline.abort());
    await this.#delivery.idle(deadline.signal);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    this.#schedule();
    const stop = new AbortController();
    const delivering = this.#delivery.run(signal, stop.signal);
    await aborted(signal);
    this.#isRunning = false;
    this.#schedule();
    this.#hand(this.#series.finishAll());
    await this.flush();
    stop.abort(new Error('the process stops'));
    await delivering;
  }

  /** Whatever is wrong with an event, the reconciler that reports it must not fail (V5). */
  #record(occurrence: Occurrence): void {
    try {
      this.#observe(occurrence);
    } catch (err) {
      this.#dropped.add({ reason: 'rejected' });
      this.#options.log.warn({ err, reason: occurrence.reason }, 'event cannot be recorded');
    }
  }

  #observe(occurrence: Occurrence): void {
    const { clock, distinctNotes = false } = this.#options;
    const [at, nowMs] = [clock.now(), clock.monotonicMs()];
    // Without a timer while nothing runs, series end here.
    this.#hand(this.#series.finish(nowMs));
    const key = distinctNotes ? `${seriesKey(occurrence)}${occurrence.note}` : seriesKey(occurrence);
    const found = this.#series.find(key);
    const { reporter, regarding } = occurrence;
    const mayWrite = () => this.#guard.admits(`${reporter.controller}\n${identity(regarding)}`, nowMs);
    if (found !== undefined) this.#hand(this.#series.observe(found, at, nowMs, mayWrite));
    else if (mayWrite()) this.#begin(key, occurrence, at, nowMs);
    else this.#dropped.add({ reason: 'spam' });
    this.#schedule();
  }

  #begin(key: string, occurrence: Occurrence, at: Date, nowMs: number): void {
    const name = eventName(occurrence.regarding.metadata.name, this.#nanoseconds(at), () =>
      this.#options.clock.uuid(),
    );
    const event = eventObject(occurrence, name, at);
    const state = { count: 1, lastObserved: at };
    const times = { firstObserved: at, lastObservedMs: nowMs, handedMs: nowMs };
    this.#hand(this.#series.begin({ key, event, state, handedCount: 1, ...times }));
  }

  #hand(writes: readonly EventWrite[]): void {
    for (const write of writes) this.#delivery.add(write);
  }

  /** Grows, and differs between processes: the clock counts milliseconds, names must not repeat. */
  #nanoseconds(at: Date): bigint {
    const fraction = BigInt(Math.floor(this.#options.clock.random() * 1_000_000));
    const now = BigInt(at.getTime()) * 1_000_000n + fraction;
    this.#lastNanoseconds = now > this.#lastNanoseconds ? now : this.#lastNanoseconds + 1n;
    return this.#lastNanoseconds;
  }

  /** One timer for the series that was quiet for the longest time. */
  #schedule(): void {
    const { clock } = this.#options;
    const dueMs = this.#isRunning ? this.#series.nextFinishMs : undefined;
    if (dueMs === undefined) {
      this.#finishing?.[Symbol.dispose]();
      this.#finishing = undefined;
      return;
    }
    // A timer that is early looks again; re-arming it for each occurrence would cost more.
    this.#finishing ??= clock.timer(Math.max(0, dueMs - clock.monotonicMs()), () => {
      this.#finishing = undefined;
      this.#hand(this.#series.finish(clock.monotonicMs()));
      this.#schedule();
    });
  }
}

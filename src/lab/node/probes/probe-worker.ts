import { messageOf } from '../../../base/errors.ts';
import type { LabClock } from '../../clock/lab-clock.ts';
import {
  errorMessage,
  failureMessage,
  initialTrack,
  isFatal,
  nextTrack,
  type ProbeOutcome,
  type ProbeRule,
  type ProbeTrack,
  warningMessage,
} from './probe-track.ts';
import type { Probed, ProbeEvents } from './prober.ts';

/** A probe that cannot be made is tried so often before it is ignored (N22). */
const MOST_TRIES = 3;

export interface ProbeWorkerOptions {
  readonly rule: ProbeRule;
  readonly probed: Probed;
  readonly events: ProbeEvents;
  readonly clock: Pick<LabClock, 'now' | 'timer' | 'hold'>;
  readonly check: (signal: AbortSignal) => Promise<ProbeOutcome>;
  /** Whether the other probes let this one be made now. */
  readonly isAllowed: () => boolean;
  /** What counts is another. */
  readonly onChange: () => void;
}

/** One kind of probe of one run of a container: the first one period after the start, as upstream's workers look. */
export class ProbeWorker {
  readonly #options: ProbeWorkerOptions;
  readonly #stop = new AbortController();
  #track: ProbeTrack;
  #timer: Disposable | undefined;
  #isBusy = false;
  /** Asked for while one was under way; however often, it is made once more. */
  #isWanted = false;

  constructor(options: ProbeWorkerOptions) {
    this.#options = options;
    this.#track = initialTrack(options.rule.kind);
  }

  start(): void {
    this.#arm();
  }

  get result(): ProbeTrack['result'] {
    return this.#track.result;
  }

  /** At once instead of at the next tick, which comes a whole period later. */
  probeNow(): void {
    if (this.#isBusy) this.#isWanted = true;
    else this.#tick();
  }

  /** What is under way is broken off, and counts for nothing. Twice is the same as once. */
  stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#stop.abort();
  }

  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    if (this.#stop.signal.aborted || this.#track.isOver) return;
    this.#timer = this.#options.clock.timer(this.#options.rule.periodMs, () => this.#tick());
  }

  #tick(): void {
    this.#arm();
    if (this.#isBusy || this.#stop.signal.aborted || this.#track.isOver) return;
    if (this.#isTooEarly || !this.#options.isAllowed()) return;
    void this.#probe();
  }

  get #isTooEarly(): boolean {
    const { clock, probed, rule } = this.#options;
    return clock.now().getTime() - probed.run.startedAt.getTime() < rule.initialDelayMs;
  }

  async #probe(): Promise<void> {
    const { clock, rule, probed } = this.#options;
    this.#isBusy = true;
    using _hold = clock.hold(`${rule.kind} probe of ${probed.pod.metadata.name}/${probed.container.name}`);
    const outcome = await this.#outcome();
    this.#isBusy = false;
    if (outcome !== undefined && !this.#stop.signal.aborted) this.#settle(outcome);
    const isWanted = this.#isWanted;
    this.#isWanted = false;
    if (isWanted) this.#tick();
  }

  /** Undefined when it could not be made. Never rejects. */
  async #outcome(): Promise<ProbeOutcome | undefined> {
    const { check, events, rule } = this.#options;
    let why = '';
    for (let tries = 0; tries < MOST_TRIES && !this.#stop.signal.aborted; tries++) {
      try {
        return await check(this.#stop.signal);
      } catch (error) {
        why = messageOf(error);
      }
    }
    if (!this.#stop.signal.aborted) events.unhealthy(errorMessage(rule.kind, why));
    return undefined;
  }

  #settle(outcome: ProbeOutcome): void {
    const { events, rule, onChange } = this.#options;
    if (outcome.result === 'failure') events.unhealthy(failureMessage(rule.kind, outcome));
    if (outcome.result === 'warning') events.warned?.(warningMessage(rule.kind, outcome));
    const before = this.#track;
    this.#track = nextTrack(before, rule, outcome);
    if (this.#track.isOver) this.#timer?.[Symbol.dispose]();
    if (this.#track.result !== before.result) onChange();
    if (isFatal(this.#track)) this.#restart();
  }

  #restart(): void {
    const { events, rule, probed } = this.#options;
    const { name, restartPolicy = probed.pod.spec.restartPolicy } = probed.container;
    const will = restartPolicy === 'Never' ? '' : ', will be restarted';
    events.mustRestart(
      `Container ${name} failed ${rule.kind} probe${will}`,
      rule.probe.terminationGracePeriodSeconds,
    );
  }
}

import type { Clock } from '../../../base/clock.ts';
import type { LabClock } from '../../clock/lab-clock.ts';
import { type CheckOptions, probeCheck } from './probe-check.ts';
import { type ProbeKind, probeRule } from './probe-track.ts';
import { ProbeWorker } from './probe-worker.ts';
import type { ContainerProbes, Probed, ProbeEvents, ProbeState, StartProbes } from './prober.ts';

export interface ProberOptions extends CheckOptions {
  /** Ticks are lab time; it stands still while a program is asked (N23). */
  readonly clock: Pick<LabClock, 'now' | 'timer' | 'hold'>;
}

/** The prober of one node. It keeps nothing itself: what it starts ends when disposed, or with the container. */
export const createProber =
  (options: ProberOptions): StartProbes =>
  (probed, events) => {
    const probes = probed.run.isSimulated
      ? new SimulatedProbes(probed, events, options.clock)
      : new ProcessProbes(probed, events, options);
    probes.start();
    return probes;
  };

/** The probes of a process. */
class ProcessProbes implements ContainerProbes {
  readonly #workers: Readonly<Record<ProbeKind, ProbeWorker | undefined>>;
  readonly #probed: Probed;
  readonly #events: ProbeEvents;
  #isRunning = true;
  #told: ProbeState;

  constructor(probed: Probed, events: ProbeEvents, options: ProberOptions) {
    this.#probed = probed;
    this.#events = events;
    this.#workers = {
      startup: this.#worker('startup', options),
      liveness: this.#worker('liveness', options),
      readiness: this.#worker('readiness', options),
    };
    this.#told = this.state;
  }

  start(): void {
    for (const worker of Object.values(this.#workers)) worker?.start();
    const end = () => {
      this.#isRunning = false;
      this.#tell();
      this[Symbol.dispose]();
    };
    void this.#probed.run.exited.then(end, end);
  }

  /** Of a container that runs; both are false afterwards. */
  get state(): ProbeState {
    const { startup, readiness } = this.#workers;
    const isStarted = this.#isRunning && (startup === undefined || startup.result === 'success');
    return { isStarted, isReady: isStarted && (readiness === undefined || readiness.result === 'success') };
  }

  nudge(): void {
    if (this.state.isStarted && !this.state.isReady) this.#workers.readiness?.probeNow();
  }

  terminating(): void {
    this.#workers.startup?.stop();
    this.#workers.liveness?.stop();
  }

  [Symbol.dispose](): void {
    for (const worker of Object.values(this.#workers)) worker?.stop();
    // Whoever is done with it is not told how the container ends.
    this.#told = { isStarted: false, isReady: false };
    this.#isRunning = false;
  }

  #worker(kind: ProbeKind, options: ProberOptions): ProbeWorker | undefined {
    const [probed, events] = [this.#probed, this.#events];
    const rule = probeRule(probed.container, kind);
    if (rule === undefined) return undefined;
    return new ProbeWorker({
      rule,
      probed,
      events,
      clock: options.clock,
      check: (signal) => probeCheck(rule, probed, { ...options, signal }),
      // The startup probe until the container has started, the others from then on (N19).
      isAllowed: () => this.#isRunning && (kind === 'startup') !== this.state.isStarted,
      onChange: () => this.#tell(),
    });
  }

  #tell(): void {
    const { isStarted, isReady } = this.state;
    if (isStarted === this.#told.isStarted && isReady === this.#told.isReady) return;
    this.#told = { isStarted, isReady };
    this.#events.changed();
  }
}

/** A simulated container is not probed: it says itself when it is ready (N12, N23). */
class SimulatedProbes implements ContainerProbes {
  readonly #probed: Probed;
  readonly #events: ProbeEvents;
  readonly #clock: Pick<Clock, 'now' | 'timer'>;
  #timer: Disposable | undefined;
  #isRunning = true;
  #isReady = false;

  constructor(probed: Probed, events: ProbeEvents, clock: Pick<Clock, 'now' | 'timer'>) {
    this.#probed = probed;
    this.#events = events;
    this.#clock = clock;
  }

  start(): void {
    const { run } = this.#probed;
    const leftMs = (run.simulatedReadyAt?.getTime() ?? 0) - this.#clock.now().getTime();
    this.#isReady = leftMs <= 0;
    if (!this.#isReady) this.#timer = this.#clock.timer(leftMs, () => this.#become({ isReady: true }));
    const end = () => {
      if (this.#isRunning) this.#become({ isReady: false, isRunning: false });
    };
    void run.exited.then(end, end);
  }

  get state(): ProbeState {
    return { isStarted: this.#isRunning, isReady: this.#isRunning && this.#isReady };
  }

  nudge(): void {}

  terminating(): void {}

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#isRunning = false;
  }

  #become({ isReady, isRunning = true }: { readonly isReady: boolean; readonly isRunning?: boolean }): void {
    this.#isReady = isReady;
    if (!isRunning) this[Symbol.dispose]();
    this.#events.changed();
  }
}

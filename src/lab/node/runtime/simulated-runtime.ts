import type { Clock } from '../../../base/clock.ts';
import type { ExecResult } from '../../process/process-host.ts';
import type { ContainerExit, ContainerStart, Notice, RunningContainer } from './container-runtime.ts';
import { type Simulation, simulationOf } from './simulation-settings.ts';

/** Pretends to run containers. */
export interface SimulatedRuntime {
  /** Throws a ContainerProblem when the annotation of the pod cannot be read. */
  start(start: ContainerStart): RunningContainer;
}

/** Containers of images that nobody knows: they run, are ready and end by lab time alone, and say so (N12). */
export const simulatedRuntime = (clock: Clock): SimulatedRuntime => ({
  start: (start) => {
    const simulation = simulationOf(start.pod, start.container);
    const { name, image = '' } = start.container;
    start.log.line(`container ${name} is simulated: image "${image}" is not in the catalogue of the lab`);
    return new SimulatedContainer(start, simulation, clock);
  },
});

/** The `imageID` of an image that nobody has. */
export const simulatedImageId = (image: string): string => `simulated://${image}`;

class SimulatedContainer implements RunningContainer {
  readonly id: string;
  readonly isSimulated = true;
  readonly startedAt: Date;
  readonly simulatedReadyAt: Date;
  readonly notices: readonly Notice[];
  readonly exited: Promise<ContainerExit>;
  readonly #clock: Clock;
  readonly #end: (exit: ContainerExit) => void;
  readonly #timer: Disposable | undefined;
  #hasEnded = false;

  constructor({ container, log }: ContainerStart, { readyAfterMs, exit }: Simulation, clock: Clock) {
    const { name, image = '' } = container;
    this.#clock = clock;
    this.id = `simulated://${`${clock.uuid()}${clock.uuid()}`.replaceAll('-', '')}`;
    this.startedAt = clock.now();
    this.simulatedReadyAt = new Date(this.startedAt.getTime() + readyAfterMs);
    const message = `Container ${name} is simulated: image "${image}" is not in the catalogue of the lab`;
    this.notices = [{ reason: 'Simulated', message }];
    const { promise, resolve } = Promise.withResolvers<ContainerExit>();
    this.exited = promise;
    this.#end = (ended) => {
      log.end();
      resolve(ended);
    };
    if (exit !== undefined) this.#timer = clock.timer(exit.afterMs, () => this.#exit(exit.code));
  }

  /** Whoever is nobody stops at once, and in order. */
  stop(): Promise<ContainerExit> {
    this.#timer?.[Symbol.dispose]();
    this.#exit(0);
    return this.exited;
  }

  /** Nothing is there that could fail. */
  async execute(): Promise<ExecResult> {
    return { exitCode: 0, output: '', isTimedOut: false };
  }

  #exit(exitCode: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { startedAt } = this;
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    this.#end({ exitCode, reason, startedAt, finishedAt: this.#clock.now() });
  }
}

import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import { messageOf } from '../../../base/errors.ts';
import type { ContainerProbes } from '../probes/prober.ts';
import { type ContainerExit, ContainerProblem, type RunningContainer } from '../runtime/container-runtime.ts';
import { containerDirectory } from '../volumes/pod-directory.ts';
import { farewell, postStartProblem } from './container-farewell.ts';
import { type ContainerSeen, type EndedRun, type GoingRun, hasRun } from './container-seen.ts';
import { LOST } from './container-status.ts';
import { type PodEvents, tellFailure, tellStart } from './pod-events.ts';
import { holdTime, type PodParts, podTitle } from './pod-parts.ts';
import { StartPatience } from './start-patience.ts';
import { subPathExpansion } from './sub-path-expansion.ts';
import { graceLeftMs, specGraceMs } from './termination-order.ts';

/** The pod around a container. */
export interface PodAround {
  readonly parts: PodParts;
  readonly events: PodEvents;
  /** Newest, with its addresses. */
  pod(): Pod;
  /** Where its containers listen on this machine. */
  readonly wire: string;
  /** Something is to be decided and told anew. */
  changed(): void;
  /** Resolves when the newest status is on the server. */
  told(): Promise<void>;
  /** Containers of one pod start one after the other: the same pod, the same order. */
  inTurn(start: () => Promise<void>): Promise<void>;
  /** Containers are kept running. */
  readonly isGoing: boolean;
  /** The node has no power, or the lab ends: nobody cares any more. */
  readonly isOff: boolean;
}

/** How a container is stopped. */
export interface ContainerStop {
  /** Of the event `Killing`. */
  readonly message: string;
  readonly graceMs: number;
  /** Its pod goes as well: readiness is looked at to the end (N14). */
  readonly isWithPod?: boolean;
  /** Another run follows whatever the policy says (N17). */
  readonly isReplaced?: boolean;
  /** Resolves when those are gone that must be gone before. */
  readonly turn?: Promise<unknown>;
}

/** One container of a pod: its runs one after the other, and why there is none. */
export class PodContainer {
  readonly name: string;
  readonly #around: PodAround;
  readonly #patience: StartPatience;
  #restartCount: number;
  #run: GoingRun | EndedRun | undefined;
  #last: EndedRun | undefined;
  #going: RunningContainer | undefined;
  #probes: ContainerProbes | undefined;
  #starting: Promise<void> | undefined;
  /** Resolves when what goes on has ended. */
  #gone: Promise<void> | undefined;
  #stopping: ContainerStop | undefined;
  /** What was known before the run whose hook `postStart` has not ended: until then nobody hears of the run. */
  #before: ContainerSeen | undefined;
  #leaveHook: (() => void) | undefined;
  /** Its end is not on the server yet. The newest only: of those before it, nobody will be told any more. */
  #untold: RunningContainer | undefined;
  /** Of an end that was hurried while the run was only about to begin. */
  #mostGraceMs = Number.POSITIVE_INFINITY;
  #isSimulated = false;
  #isKilled = false;

  constructor(name: string, { restartCount, run, last }: ContainerSeen, around: PodAround) {
    this.name = name;
    this.#around = around;
    this.#patience = new StartPatience(around.events, around.parts.crashLoopMaxMs);
    this.#restartCount = restartCount;
    this.#run = run;
    this.#last = last;
  }

  get seen(): ContainerSeen {
    if (this.#before !== undefined) return { ...this.#before, isBusy: true };
    const run = this.#run?.kind === 'going' ? { ...this.#run, ...this.#probes?.state } : this.#run;
    const { waiting } = this.#patience;
    return {
      restartCount: this.#restartCount,
      ...(run !== undefined && { run }),
      ...(this.#last !== undefined && { last: this.#last }),
      ...(waiting !== undefined && { waiting }),
      isBusy: this.#starting !== undefined || this.#stopping !== undefined,
    };
  }

  /** Nothing of its newest run was real. */
  get isSimulated(): boolean {
    return this.#isSimulated;
  }

  /** Starts it if it may start now; else says when it may, in lab milliseconds. */
  tryStart(container: Container): number | undefined {
    const { image = '', name } = container;
    const nowMs = this.#around.parts.clock.now().getTime();
    const untilMs = this.#patience.untilMs({ pod: this.#around.pod(), name, image, run: this.#run, nowMs });
    if (untilMs !== undefined) return untilMs;
    this.#starting = this.#around
      .inTurn(() => this.#start(container))
      .finally(() => {
        this.#starting = undefined;
        this.#around.changed();
      });
    return undefined;
  }

  /** Stops the run that goes on, or is about to; resolves when it is gone. Only the first call decides how, later ones can shorten the grace. */
  async stop(stop: ContainerStop): Promise<void> {
    this.#leaveHook?.();
    await this.#starting;
    const going = this.#going;
    if (going === undefined) return;
    if (this.#stopping === undefined) await this.#stop(going, stop);
    else if (stop.graceMs < this.#stopping.graceMs) this.hurry(stop.graceMs);
    await this.#gone;
  }

  /** Less grace than it was given: it is told at once, whatever it waits for. */
  hurry(graceMs: number): void {
    this.#mostGraceMs = graceMs;
    const leftMs = graceLeftMs(graceMs, 0, this.#around.parts.maxGraceMs);
    if (this.#stopping !== undefined) this.#besides(this.#going?.stop(leftMs));
  }

  /** Without grace and without a word, also when it is only about to begin. */
  kill(): void {
    this.#isKilled = true;
    this.#silence();
    this.#besides(this.#going?.stop(0));
  }

  /** The status was written. */
  told(): void {
    const { run } = this.seen;
    if (run?.kind !== 'going') return;
    if (run.isReady) this.#going?.settled?.();
    else if (run.isStarted) this.#probes?.nudge();
  }

  /** Nobody looks any more; what runs goes on. */
  [Symbol.dispose](): void {
    this.#silence();
    this.#going?.settled?.();
  }

  async #start(container: Container): Promise<void> {
    const { parts, isGoing, isOff } = this.#around;
    // The pod may have come to its end while others had their turn.
    if (!isGoing || isOff) return;
    const pod = this.#around.pod();
    const restartCount = hasRun(this.seen) ? this.#restartCount + 1 : this.#restartCount;
    {
      using _hold = holdTime(parts, `start of container ${this.name} of pod ${podTitle(pod)}`);
      try {
        const going = await this.#runtimeStart(pod, container, restartCount);
        if (container.lifecycle?.postStart !== undefined) this.#before = this.seen;
        this.#follows(restartCount);
        this.#begun(going, container);
      } catch (error) {
        this.#failed(error, container, restartCount);
      }
    }
    await this.#greet(container);
  }

  /** The hook `postStart`, if there is one, then the probes; containers after this one wait for it, as with a kubelet. */
  async #greet(container: Container): Promise<void> {
    const going = this.#going;
    if (going === undefined) return;
    const problem = this.#before === undefined ? undefined : await this.#postStartProblem(going, container);
    this.#before = undefined;
    if (this.#going !== going || this.#around.isOff) return;
    if (problem === undefined) return this.#watch(going, container);
    this.#around.events.warning('FailedPostStartHook', `PostStartHook failed: ${problem}`);
    const graceMs = specGraceMs(this.#around.pod());
    this.#besides(this.#stop(going, { message: 'FailedPostStartHook', graceMs }));
  }

  /** Whoever stops the container does not wait for its hook. */
  async #postStartProblem(going: RunningContainer, container: Container): Promise<string | undefined> {
    const { parts, isGoing, isOff } = this.#around;
    if (!isGoing || isOff) return undefined;
    const { promise: left, resolve } = Promise.withResolvers<void>();
    this.#leaveHook = resolve;
    const problem = await postStartProblem({ parts, container, going, wire: this.#place, left });
    this.#leaveHook = undefined;
    return problem;
  }

  async #runtimeStart(pod: Pod, container: Container, restartCount: number): Promise<RunningContainer> {
    const { runtime, volumes, resolveStart, openLog, node } = this.#around.parts;
    const { warnings = [], ...settings } = await resolveStart(pod, container);
    for (const { reason, message } of warnings) this.#around.events.warning(reason, message);
    const mounts = await volumes.mountsFor(pod, container, subPathExpansion(settings.env));
    const log = await openLog(pod, container, restartCount);
    const { wire } = this.#around;
    const directory = containerDirectory(node.root, pod.metadata.uid ?? '', container.name);
    const address = { wire, api: pod.status?.podIP ?? wire };
    try {
      return await runtime.start({ pod, container, restartCount, ...settings, mounts, directory, log, address });
    } catch (error) {
      log.end();
      throw error;
    }
  }

  #begun(going: RunningContainer, container: Container): void {
    const { image = '' } = container;
    this.#going = going;
    this.#isSimulated = going.isSimulated;
    this.#run = {
      kind: 'going',
      id: going.id,
      image,
      startedAt: going.startedAt,
      isStarted: false,
      isReady: false,
    };
    this.#patience.begun();
    tellStart(this.#around.events, going, container);
    const lost = { ...LOST, startedAt: going.startedAt, finishedAt: going.startedAt };
    // Nobody knows what became of it: it counts as gone, so that another run can follow.
    this.#gone = going.exited.catch(() => lost).then((exit) => this.#ended(going, exit));
    if (this.#isKilled) this.#besides(going.stop(0));
  }

  /** The address that hooks ask: where all are one on the wire, only that of the API tells pods apart (X10). */
  get #place(): string {
    return this.#around.pod().status?.podIP ?? this.#around.wire;
  }

  /** Nobody waits for it; that it failed is told to those who run the lab. */
  #besides(work: Promise<unknown> | undefined): void {
    const { log } = this.#around.parts;
    work?.catch((error: unknown) => log.error({ err: error, container: this.name }, 'Cannot work on a container'));
  }

  #watch(run: RunningContainer, container: Container): void {
    const { parts, events, wire } = this.#around;
    const pod = this.#around.pod();
    const mustRestart = (message: string, graceSeconds: number | undefined) => {
      const graceMs = graceSeconds === undefined ? specGraceMs(this.#around.pod()) : graceSeconds * 1000;
      this.#besides(this.stop({ message, graceMs }));
    };
    const changed = () => this.#around.changed();
    const unhealthy = (message: string) => events.warning('Unhealthy', message);
    this.#probes = parts.startProbes({ pod, container, run, wire }, { changed, unhealthy, mustRestart });
  }

  async #stop(going: RunningContainer, stop: ContainerStop): Promise<void> {
    this.#stopping = stop;
    const { events, parts } = this.#around;
    events.normal('Killing', stop.message);
    if (stop.isWithPod === true) this.#probes?.terminating();
    else this.#silence();
    this.#around.changed();
    const { initContainers = [], containers } = this.#around.pod().spec;
    const container = [...initContainers, ...containers].find(({ name }) => name === this.name) ?? {
      name: this.name,
    };
    const { turn } = stop;
    const graceMs = Math.min(stop.graceMs, this.#mostGraceMs);
    const spentMs = await farewell({
      parts,
      events,
      container,
      going,
      wire: this.#place,
      graceMs,
      ...(turn !== undefined && { turn }),
    });
    this.#besides(going.stop(graceLeftMs(graceMs, spentMs, parts.maxGraceMs)));
  }

  #ended(going: RunningContainer, exit: Omit<EndedRun, 'kind'> | ContainerExit): void {
    const isReplaced = this.#stopping?.isReplaced === true;
    this.#silence();
    this.#before = undefined;
    this.#going = undefined;
    this.#stopping = undefined;
    this.#mostGraceMs = Number.POSITIVE_INFINITY;
    this.#run = { ...exit, kind: 'ended', id: going.id, ...(isReplaced && { isReplaced }) };
    this.#patience.ended();
    this.#around.changed();
    if (this.#around.isOff) going.settled?.();
    else this.#settleWhenTold(going);
  }

  /** At most one waits, however often it ends while the server is away. */
  #settleWhenTold(going: RunningContainer): void {
    const earlier = this.#untold;
    this.#untold = going;
    if (earlier !== undefined) return earlier.settled?.();
    const settle = () => {
      this.#untold?.settled?.();
      this.#untold = undefined;
    };
    this.#besides(this.#around.told().then(settle));
  }

  /** Another run: what was newest is the one before it. */
  #follows(restartCount: number): void {
    if (this.#run?.kind === 'ended') this.#last = this.#run;
    this.#restartCount = restartCount;
  }

  #failed(error: unknown, container: Container, restartCount: number): void {
    const { events, parts } = this.#around;
    const problem = error instanceof ContainerProblem ? error : undefined;
    if (problem === undefined) parts.log.warn({ err: error, container: this.name }, 'Cannot start a container');
    const waiting = { reason: problem?.reason ?? 'CreateContainerError', message: messageOf(error) };
    const isNew = this.#patience.failed(waiting);
    const now = parts.clock.now();
    if (problem?.exitCode === undefined) this.#patience.retryFrom(now.getTime());
    else {
      this.#follows(restartCount);
      this.#run = { kind: 'ended', exitCode: problem.exitCode, ...waiting, startedAt: now, finishedAt: now };
    }
    if (isNew) tellFailure(events, waiting, container);
  }

  #silence(): void {
    this.#probes?.[Symbol.dispose]();
    this.#probes = undefined;
  }
}

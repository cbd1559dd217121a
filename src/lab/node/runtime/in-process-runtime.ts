import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { createLog } from '../../../base/log.ts';
import type { Transport } from '../../../kube/transport/transport.ts';
import type { LabClock } from '../../clock/lab-clock.ts';
import type { ExecResult } from '../../process/process-host.ts';
import { ApiLink } from '../registration/api-link.ts';
import {
  type ContainerExit,
  ContainerProblem,
  type ContainerStart,
  type RunningContainer,
} from './container-runtime.ts';
import type { InProcessProgram } from './in-process-program.ts';

type Extra = Readonly<Record<string, readonly string[]>>;

/** Requests of a user in this process; `extra` is what a token would tell besides. */
export type PodTransport = (user: string, groups: readonly string[], extra: Extra) => Transport;

export interface InProcessOptions {
  readonly clock: LabClock;
  /** Patience with programs that stop is real time (T6). */
  readonly real: Clock;
}

/** Runs containers as functions of this process, on the clock of the lab: one process for many components (P12). */
export class InProcessRuntime implements AsyncDisposable {
  readonly #options: InProcessOptions;
  /** Bounded by the containers of the lab: each leaves when it has ended. */
  readonly #running = new Map<InProcessContainer, string>();
  #isEnding = false;

  constructor(options: InProcessOptions) {
    this.#options = options;
  }

  /** Throws a ContainerProblem when nobody knows the way to the pod's cluster. */
  start(
    start: ContainerStart,
    program: InProcessProgram,
    transportAs: PodTransport | undefined,
  ): RunningContainer {
    if (transportAs === undefined)
      throw new ContainerProblem(
        'CreateContainerError',
        `image "${start.container.image}" runs in the process of the lab, which instances of the cloud are not part of; take its name out of inProcess`,
      );
    if (this.#isEnding) throw new ContainerProblem('CreateContainerError', 'the lab is ending');
    const container = new InProcessContainer(this.#options, start, podLink(start, transportAs));
    this.#running.set(container, start.pod.metadata.uid ?? '');
    void container.exited.then(() => this.#running.delete(container));
    container.run(program);
    return container;
  }

  /** Those of one pod die at once: nothing they still do reaches the server. All of them without a uid. */
  kill(uid?: string): void {
    for (const [container, of] of this.#running) if (uid === undefined || of === uid) container.kill();
  }

  /** Before the API server ends: programs may have something to give back. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    await Promise.all([...this.#running.keys()].map((container) => container.stop(STOP_GRACE_MS)));
  }
}

/** How long the programs of a lab that ends may take. */
const STOP_GRACE_MS = 3000;

/** The way to the API server of the pod's account, which can be cut. */
function podLink({ pod }: ContainerStart, transportAs: PodTransport): ApiLink {
  const { name, namespace = 'default', uid = '' } = pod.metadata;
  const user = `system:serviceaccount:${namespace}:${pod.spec.serviceAccountName ?? 'default'}`;
  const extra = {
    'authentication.kubernetes.io/pod-name': [name],
    'authentication.kubernetes.io/pod-uid': [uid],
  };
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return new ApiLink(transportAs(user, groups, extra), `pod ${namespace}/${name}, which has ended,`);
}

const KILLED = 137;
const CANNOT_EXECUTE = 126;

class InProcessContainer implements RunningContainer {
  readonly id: string;
  readonly isSimulated = false;
  readonly startedAt: Date;
  readonly exited: Promise<ContainerExit>;
  readonly #options: InProcessOptions;
  readonly #start: ContainerStart;
  readonly #link: ApiLink;
  readonly #stop = new AbortController();
  readonly #end: (exit: ContainerExit) => void;
  #program: Promise<AsyncDisposable> | undefined;
  #killer: Disposable | undefined;
  #hasEnded = false;

  constructor(options: InProcessOptions, start: ContainerStart, link: ApiLink) {
    const { clock } = options;
    this.id = `slipway://${`${clock.uuid()}${clock.uuid()}`.replaceAll('-', '')}`;
    this.startedAt = clock.now();
    this.#options = options;
    this.#start = start;
    this.#link = link;
    const { promise, resolve } = Promise.withResolvers<ContainerExit>();
    this.exited = promise;
    this.#end = resolve;
  }

  /** Once. */
  run(program: InProcessProgram): void {
    const { clock } = this.#options;
    const { pod, env, args = [], address, log } = this.#start;
    const write = (line: string) => void log.write('stderr', Buffer.from(line));
    const context = {
      pod,
      env,
      args,
      ...(address !== undefined && { address: address.wire }),
      clock,
      transport: this.#link.transport,
      log: createLog({ level: 'info', write, now: () => clock.now() }),
      signal: this.#stop.signal,
      fail: (error: unknown) => void this.#finish(1, messageOf(error)),
    };
    // A program that throws at once is one that rejects.
    this.#program = Promise.resolve().then(() => program(context));
    this.#program.catch((error: unknown) => this.#finish(1, messageOf(error)));
  }

  stop(graceMs: number): Promise<ContainerExit> {
    if (graceMs <= 0) this.kill();
    else if (!this.#hasEnded) {
      this.#killer?.[Symbol.dispose]();
      this.#killer = this.#options.real.timer(graceMs, () => this.kill());
      void this.#finish(0);
    }
    return this.exited;
  }

  kill(): void {
    this.#link.partition(true);
    this.#exit(KILLED);
    void this.#finish(KILLED);
  }

  async execute(): Promise<ExecResult> {
    const output = 'the container runs in the process of the lab: nothing can be executed beside it';
    return { exitCode: CANNOT_EXECUTE, output, isTimedOut: false };
  }

  /** Tells the program to stop and waits for it. Never rejects. */
  async #finish(exitCode: number, message?: string): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(new Error('the container stops'));
    try {
      await (await this.#program)?.[Symbol.asyncDispose]();
      this.#exit(exitCode, message);
    } catch (error) {
      this.#exit(1, message ?? messageOf(error));
    }
  }

  #exit(exitCode: number, message?: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#killer?.[Symbol.dispose]();
    // Whatever of it goes on is not part of the pod any more.
    this.#link.partition(true);
    if (message !== undefined) this.#start.log.line(message);
    this.#start.log.end();
    this.#end({
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      ...(exitCode === KILLED && { signal: KILLED - 128 }),
      ...(message !== undefined && { message }),
      startedAt: this.startedAt,
      finishedAt: this.#options.clock.now(),
    });
  }
}

import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { Clock } from '../../../base/clock.ts';
import { CLOCK_VARIABLE } from '../../../kube/config/clock-setting.ts';
import type { LabAddress } from '../../address/address-plan.ts';
import { SHARED_ADDRESS } from '../../address/address-scheme.ts';
import { clockSetting, type LabClock } from '../../clock/lab-clock.ts';
import type { Mount } from '../../process/mounts.ts';
import {
  type ExitStatus,
  type OutputSink,
  type ProcessHost,
  type ProcessSpec,
  type RunningProcess,
  StartFailure,
} from '../../process/process-host.ts';
import { ChildTime } from './child-time.ts';
import { containerArgv, nonRootProblem, podHostname, unenforced } from './container-command.ts';
import {
  type ContainerExit,
  ContainerProblem,
  type ContainerStart,
  type Notice,
  type RunningContainer,
} from './container-runtime.ts';
import type { CatalogueImage } from './image-catalogue.ts';
import { layOutShims } from './program-shims.ts';
import { messageMount, terminationMessage } from './termination-message.ts';

export interface ProcessRuntimeOptions {
  readonly host: ProcessHost;
  readonly clock: LabClock;
  readonly real: Clock;
  /** PATH of containers whose image has none. */
  readonly path: string;
}

/** Runs containers as processes of this machine. */
export interface ProcessRuntime {
  /** Rejects with a ContainerProblem. */
  start(start: ContainerStart, image: CatalogueImage): Promise<RunningContainer>;
}

/** Containers of images that the catalogue knows (N11). */
export const processRuntime = (options: ProcessRuntimeOptions): ProcessRuntime => ({
  start: (start, image) => startProcess(options, start, image),
});

/** The `imageID` of an image of the catalogue: another program is another image. */
export const catalogueImageId = (name: string, image: CatalogueImage): string =>
  `slipway://${name}@sha256:${createHash('sha256').update(JSON.stringify(image)).digest('hex')}`;

async function startProcess(
  options: ProcessRuntimeOptions,
  start: ContainerStart,
  image: CatalogueImage,
): Promise<RunningContainer> {
  const { clock, real, host } = options;
  refuse(options, start, image);
  await mkdir(start.directory, { recursive: true });
  const message = await messageMount(start.directory, start.container);
  const spec = await processSpec(options, start, image, message);
  const { name, namespace = '' } = start.pod.metadata;
  const time = new ChildTime(clock, real, `container ${start.container.name} of pod ${namespace}/${name}`);
  const output = listened(spec.output, time);
  try {
    const process = await host.start({ ...spec, output });
    return new ProcessContainer({ options, start, process, spec, time, messageSource: message.source });
  } catch (error) {
    time.ended();
    time.settled();
    throw problemOf(error);
  }
}

/** What can be known before anything is laid out. */
function refuse({ host, clock }: ProcessRuntimeOptions, start: ContainerStart, image: CatalogueImage): void {
  const { pod, container } = start;
  const problem = nonRootProblem(pod, container, image);
  if (problem !== undefined) throw new ContainerProblem('CreateContainerConfigError', problem);
  if (image.foreign === true && clock.mode !== 'real')
    throw new ContainerProblem(
      'CreateContainerError',
      `image "${container.image}" is foreign and knows only real time, but the clock of the lab is ${clock.mode}; start the lab with clock real`,
    );
  if (host.isFull)
    throw new ContainerProblem(
      'ContainerCreating',
      `the lab runs ${host.live} processes, which is as many as maxChildren allows: waiting until one of them ends`,
    );
}

async function processSpec(
  options: ProcessRuntimeOptions,
  start: ContainerStart,
  image: CatalogueImage,
  message: Mount,
): Promise<ProcessSpec> {
  const { pod, container, restartCount, directory, address } = start;
  const { programs = {}, needs = [] } = image;
  const env: Readonly<Record<string, string>> = { HOSTNAME: podHostname(pod), ...image.env, ...start.env };
  const shims = Object.keys(programs).length > 0 ? await layOutShims(directory, programs) : undefined;
  const workdir = container.workingDir ?? image.workdir;
  return {
    container: `${pod.metadata.uid}/${container.name}/${restartCount}`,
    argv: containerArgv(image, start),
    env: {
      ...env,
      ...(shims !== undefined && { PATH: `${shims}:${env['PATH'] ?? options.path}` }),
      ...(address !== undefined && { SLIPWAY_POD_ADDRESS: ownAddress(address) }),
      ...clockVariable(options, image),
    },
    ...(workdir !== undefined && { workdir }),
    directory,
    mounts: [...start.mounts, message],
    ...(needs.includes('namespace') && { needsNamespace: true }),
    output: start.log,
  };
}

/** How the preload knows the pod: as it is dialled, but as the API shows it where all addresses are one (X10). */
const ownAddress = ({ wire, api }: LabAddress): string => (wire === SHARED_ADDRESS ? api : wire);

/** Asked for each child: the clock of the machine may have been set since the lab began (T7). */
function clockVariable(
  { clock, real }: ProcessRuntimeOptions,
  { foreign = false }: CatalogueImage,
): Readonly<Record<string, string>> {
  const setting = foreign ? undefined : clockSetting(clock, real);
  return setting === undefined ? {} : { [CLOCK_VARIABLE]: setting };
}

/** The same sink; what is written keeps the lab waiting. */
const listened = (sink: OutputSink, time: ChildTime): OutputSink => ({
  write: (stream, bytes) => {
    time.heard();
    return sink.write(stream, bytes);
  },
  drained: () => sink.drained(),
  end: () => sink.end(),
});

const problemOf = (error: unknown): unknown =>
  error instanceof StartFailure ? new ContainerProblem(error.reason, error.message, error.exitCode) : error;

const NO_OUTPUT: OutputSink = { write: () => true, drained: async () => {}, end: () => {} };

interface ProcessParts {
  readonly options: ProcessRuntimeOptions;
  readonly start: ContainerStart;
  readonly process: RunningProcess;
  readonly spec: ProcessSpec;
  readonly time: ChildTime;
  readonly messageSource: string;
}

class ProcessContainer implements RunningContainer {
  readonly id: string;
  readonly isSimulated = false;
  readonly startedAt: Date;
  readonly notices: readonly Notice[];
  readonly exited: Promise<ContainerExit>;
  readonly #parts: ProcessParts;
  #killAtMs = Number.POSITIVE_INFINITY;
  #killer: Disposable | undefined;

  constructor(parts: ProcessParts) {
    const { clock } = parts.options;
    this.#parts = parts;
    this.id = `slipway://${`${clock.uuid()}${clock.uuid()}`.replaceAll('-', '')}`;
    this.startedAt = clock.now();
    this.notices = noticesOf(parts);
    this.exited = this.#end(parts.process.exited);
  }

  stop(graceMs: number): Promise<ContainerExit> {
    const { options, process, spec, time } = this.#parts;
    const { real, host } = options;
    const killAtMs = real.monotonicMs() + graceMs;
    if (killAtMs >= this.#killAtMs) return this.exited;
    const isFirst = this.#killAtMs === Number.POSITIVE_INFINITY;
    this.#killAtMs = killAtMs;
    this.#killer?.[Symbol.dispose]();
    time.stopping();
    // Who has no grace gets no warning; whoever was stopping already gets less of it now.
    if (graceMs <= 0) host.killAll(spec.container);
    else if (!isFirst) this.#killer = real.timer(graceMs, () => host.killAll(spec.container));
    if (isFirst) process.stop(graceMs).catch(() => {});
    return this.exited;
  }

  async execute(argv: readonly string[], timeoutMs: number) {
    const { options, spec } = this.#parts;
    const result = await options.host.execute({ ...spec, argv, output: NO_OUTPUT }, timeoutMs);
    // Whoever asks how the container is must not take it for an answer that it is gone: he hears of the end first.
    if (result.isCutOff === true) await this.exited;
    return result;
  }

  settled(): void {
    this.#parts.time.settled();
  }

  async #end(exited: Promise<ExitStatus>): Promise<ContainerExit> {
    const { options, start, time, messageSource } = this.#parts;
    const { exitCode, signal } = await exited;
    this.#killer?.[Symbol.dispose]();
    time.ended();
    using _hold = options.clock.hold(`last words of container ${start.container.name}`);
    const message = await terminationMessage({ ...start, source: messageSource, exitCode });
    return {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      ...(signal !== undefined && exitCode > 128 && { signal: exitCode - 128 }),
      ...(message !== '' && { message }),
      startedAt: this.startedAt,
      finishedAt: options.clock.now(),
    };
  }
}

function noticesOf({ start, process }: ProcessParts): readonly Notice[] {
  const { pod, container } = start;
  const left = unenforced(pod);
  return [
    ...(process.rewritten.length > 0
      ? [
          {
            reason: 'PathsRewritten',
            message: `Container ${container.name}: ${process.rewritten.join(', ')}`,
          } as const,
        ]
      : []),
    ...(left.length > 0
      ? [
          {
            reason: 'NotEnforced',
            message: `The lab takes note of, but does not enforce: ${left.join(', ')}`,
          } as const,
        ]
      : []),
  ];
}

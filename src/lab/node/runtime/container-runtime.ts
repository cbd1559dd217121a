import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import type { Mount } from '../../process/mounts.ts';
import type { ExecResult } from '../../process/process-host.ts';
import type { ContainerLog } from '../logs/container-log.ts';

/** Everything about one run of a container, decided before it starts. */
export interface ContainerStart {
  readonly pod: Pod;
  readonly container: Container;
  /** How often it ran before. */
  readonly restartCount: number;
  /** Complete (N24), without what the process itself adds (P3). */
  readonly env: Readonly<Record<string, string>>;
  /** `command` and `args` with their variables expanded; undefined: those of the image (N11). */
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly mounts: readonly Mount[];
  /** `<pod directory>/containers/<name>` */
  readonly directory: string;
  readonly log: ContainerLog;
  /** Address of the pod on this machine and in the API; undefined without one. */
  readonly address?: { readonly wire: string; readonly api: string };
}

export interface ContainerExit {
  /** 128 + n for signal n. */
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: 'Completed' | 'Error' | 'ContainerStatusUnknown' | 'RunContainerError';
  readonly message?: string;
  readonly startedAt: Date;
  readonly finishedAt: Date;
}

/** Something that users should know of a run: an event Normal of its pod. */
export interface Notice {
  readonly reason: 'Simulated' | 'PathsRewritten' | 'NotEnforced';
  readonly message: string;
}

/** One run of a container, from its start to its end. */
export interface RunningContainer {
  /** `slipway://<64 hex>` or `simulated://<64 hex>` */
  readonly id: string;
  readonly isSimulated: boolean;
  readonly startedAt: Date;
  /** A simulated container that becomes ready or ends by annotation says so here; real ones are probed (N12). */
  readonly simulatedReadyAt?: Date;
  readonly notices?: readonly Notice[];
  readonly exited: Promise<ContainerExit>;
  /** Idempotent. Resolves with `exited`. */
  stop(graceMs: number): Promise<ContainerExit>;
  /** In the container's environment, with its mounts: exec probes and hooks. */
  execute(argv: readonly string[], timeoutMs: number): Promise<ExecResult>;
  /** Nobody waits for it any more: it is ready, or it has ended and that was told. Time may jump again (T5). */
  settled?(): void;
}

/** Why a container cannot start now: the waiting reason and message of its status (N9). */
export class ContainerProblem extends Error {
  readonly reason: /** There is no room for another process now (P12). */
    | 'ContainerCreating'
    | 'CreateContainerConfigError'
    | 'CreateContainerError'
    | 'RunContainerError'
    | 'ErrImagePull'
    | 'ErrImageNeverPull';
  /** Set when it counts as a run that failed: 126 or 127 (P2). */
  readonly exitCode?: number;

  constructor(reason: ContainerProblem['reason'], message: string, exitCode?: number) {
    super(message);
    this.name = 'ContainerProblem';
    this.reason = reason;
    if (exitCode !== undefined) this.exitCode = exitCode;
  }
}

/** Starts containers: as processes when their image is known, simulated otherwise (N11, N12). */
export interface ContainerRuntime {
  /** Rejects with a ContainerProblem. */
  start(start: ContainerStart): Promise<RunningContainer>;
  /** What the status says of an image: `imageID`. */
  imageId(image: string): string;
  /** Names of the images that run as processes, for the node's status (N3). */
  readonly images: readonly string[];
}

import type { Mount } from './mounts.ts';

/** What to start. The environment is complete: nothing of the lab's own reaches the child (P3). */
export interface ProcessSpec {
  /** `<pod uid>/<container>/<restart>`: found again in the environment of everything it starts (P4). */
  readonly container: string;
  /** Program and arguments, paths as the container sees them. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** As the container sees it; `home` in its own directory unless told otherwise. */
  readonly workdir?: string;
  /** Directory of this container: mounts are laid out below it. */
  readonly directory: string;
  readonly mounts: readonly Mount[];
  /** Files and directories of this machine, such as those of the image's programs, that no mount may hide. */
  readonly hostPaths?: readonly string[];
  /** The program needs its paths to be exactly where they are: refused in mode `rewrite` (P10). */
  readonly needsNamespace?: boolean;
  /** Called for each piece of output in order; must not throw. False: take no more until `drained` (P7). */
  readonly output: OutputSink;
}

export interface OutputSink {
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): boolean;
  /** Resolves when more may be written. */
  drained(): Promise<void>;
  /** Nothing more comes. */
  end(): void;
}

export interface ExitStatus {
  /** 128 + n for signal n. */
  readonly exitCode: number;
  readonly signal?: string;
}

/** A child with its whole process group. */
export interface RunningProcess {
  readonly pid: number;
  /** What was changed to serve the mounts, such as `argument 2` or `variable CONFIG`; empty in mode `namespace` (P8). */
  readonly rewritten: readonly string[];
  /** Resolves when the child and everything it left behind is gone and all output was delivered. */
  readonly exited: Promise<ExitStatus>;
  /**
   * SIGTERM to the group, SIGKILL after the grace (real time), then whoever left the group (P4). Resolves with `exited`.
   * A later call can only shorten the grace.
   */
  stop(graceMs: number): Promise<ExitStatus>;
  /** Processor time and memory of the group. */
  usage(): Promise<{ readonly cpuMs: number; readonly rssBytes: number }>;
}

/** The program could not be started (P2): 127 when it is not there, 126 when it cannot be executed. */
export class StartFailure extends Error {
  readonly reason: 'RunContainerError' | 'CreateContainerError';
  readonly exitCode: number;

  constructor(reason: StartFailure['reason'], message: string, exitCode: number) {
    super(message);
    this.name = 'StartFailure';
    this.reason = reason;
    this.exitCode = exitCode;
  }
}

export type Isolation = 'rewrite' | 'namespace';

/** All children of one lab. Disposing it ends them all (P15) and fails when something is left (P16). */
export interface ProcessHost extends AsyncDisposable {
  readonly isolation: Isolation;
  /** One sentence for people: how containers see their volumes here, and why (P10). */
  readonly isolationText: string;
  /** Rejects with a StartFailure. Waits for nothing but the start itself. */
  start(spec: ProcessSpec): Promise<RunningProcess>;
  /**
   * Runs a program beside a container, with its environment and mounts, to its end: exec probes and hooks. `output` of
   * the spec is not used. Rejects with a StartFailure. It ends with its container, and when the time is over (real).
   */
  execute(spec: ProcessSpec, timeoutMs: number): Promise<ExecResult>;
  readonly live: number;
  /** As many children as `maxChildren` run or start: another start is refused (P12). */
  readonly isFull: boolean;
  /** SIGKILL to all at once: the second Ctrl-C, a node without power. Of one prefix of container names, or all. */
  killAll(prefix?: string): void;
}

export interface ExecResult {
  readonly exitCode: number;
  /** At most 10 KiB. */
  readonly output: string;
  readonly isTimedOut: boolean;
  /** Its container ended meanwhile, so that how the program ended says nothing. */
  readonly isCutOff?: boolean;
}

import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { ContainerLog } from './container-log.ts';
import {
  containerLogDirectory,
  filesOfRun,
  linkRun,
  podLogDirectories,
  runFile,
  runsIn,
  unlinkLost,
} from './log-files.ts';
import type { LogOptions } from './log-options.ts';
import { readLog } from './log-reader.ts';
import { LOG_LIMITS, type LogLimits, RunLog } from './run-log.ts';

/** The last one and the one before: what `kubectl logs --previous` can show (N39). */
const KEPT_RUNS = 2;

export interface ContainerLogsOptions {
  /** What the node takes for `/`. */
  readonly root: string;
  /** Lab time: lines carry it. */
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: LogLimits;
}

/** One container of a pod. */
export interface LoggedContainer {
  readonly pod: Pod;
  readonly container: string;
}

/** The logs of all containers of one node (N39). Disposing it ends those that are open, with everything in its file. */
export class ContainerLogs implements AsyncDisposable {
  readonly #options: ContainerLogsOptions;
  /** Runs that go on, by path: each leaves when it has ended. */
  readonly #live = new Map<string, RunLog>();

  constructor(options: ContainerLogsOptions) {
    this.#options = options;
  }

  /**
   * Opens the log of a run, and removes those of all but the run before. `id` is that of the run without its scheme, for
   * the link in `/var/log/containers`; it is made up unless told otherwise.
   */
  async open({ pod, container }: LoggedContainer, run: number, id?: string): Promise<ContainerLog> {
    const { root, clock, log, limits = LOG_LIMITS } = this.#options;
    const directory = containerLogDirectory(root, pod, container);
    await mkdir(directory, { recursive: true, mode: 0o755 });
    const path = runFile(directory, run);
    await this.#live.get(path)?.[Symbol.asyncDispose]();
    await this.#prune({ pod, container }, run);
    const opened = await RunLog.open({ path, run, clock, log, limits });
    this.#live.set(path, opened);
    void opened.closed.then(() => this.#live.delete(path));
    await linkRun({ root, pod, container, run, id: id ?? runId(pod, container, run) });
    return opened;
  }

  /** The runs that left a log, the oldest first. */
  runs({ pod, container }: LoggedContainer): Promise<readonly number[]> {
    return runsIn(containerLogDirectory(this.#options.root, pod, container));
  }

  /** The log of one run; empty when there is none. A run that goes on may be followed. */
  read({ pod, container }: LoggedContainer, run: number, options: LogOptions, signal?: AbortSignal) {
    const directory = containerLogDirectory(this.#options.root, pod, container);
    return readLog({ directory, run, options, live: this.#live.get(runFile(directory, run)), signal });
  }

  /** Removes the logs of all pods but these, also those of an earlier life: a log goes with the object of its pod. */
  async keepOnly(uids: ReadonlySet<string>): Promise<void> {
    const { root } = this.#options;
    for (const directory of await podLogDirectories(root)) {
      if (uids.has(directory.uid)) continue;
      for (const [path, log] of this.#live) {
        if (path.startsWith(`${directory.path}/`)) await log[Symbol.asyncDispose]();
      }
      await rm(directory.path, { recursive: true, force: true });
    }
    await unlinkLost(root);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#live.values()].map((log) => log[Symbol.asyncDispose]()));
  }

  async #prune({ pod, container }: LoggedContainer, next: number): Promise<void> {
    const { root } = this.#options;
    const directory = containerLogDirectory(root, pod, container);
    const left = await runsIn(directory);
    // Higher numbers are of an earlier life, since which runs were counted anew.
    const runs = new Set([...left.filter((run) => run < next), next]);
    const old = [...[...runs].slice(0, -KEPT_RUNS), ...left.filter((run) => run > next)];
    if (old.length === 0) return;
    for (const run of old) {
      for (const { path } of await filesOfRun(directory, run)) await rm(path, { force: true });
    }
    await unlinkLost(root);
  }
}

/** As long as those of container runtimes, and the same in every life. */
const runId = ({ metadata: { uid = '' } }: Pod, container: string, run: number): string =>
  createHash('sha256').update(`${uid}/${container}/${run}`).digest('hex');

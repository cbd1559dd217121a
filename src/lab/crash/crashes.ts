import { userError } from '../../base/errors.ts';
import type { LabClock } from '../clock/lab-clock.ts';
import type { RunningCluster } from '../cluster/start-cluster.ts';
import type { ApiWrite, WriteLog } from '../cluster/write-log.ts';
import type { LabRuntime } from '../node/runtime/start-runtime.ts';
import { type Component, componentOf, isBy } from './component.ts';

export interface CrashOptions {
  /**
   * A user, or a short name: `deployment`, `scheduler`, `node/w-1`; `pod/<namespace>/<name>` for what runs as a process
   * and acts with the token of its pod.
   */
  readonly component: string;
  /** After which of its writes from now on; the first is 1. They are counted as `lab.writes` lists them. */
  readonly write: number;
  /** The first one unless told otherwise. */
  readonly cluster?: string;
}

export interface CrashParts {
  readonly clock: Pick<LabClock, 'hold'>;
  readonly writes: WriteLog;
  /** Throws when there is none of that name. */
  readonly cluster: (name: string | undefined) => RunningCluster;
  readonly runtime: Pick<LabRuntime, 'killPod'>;
}

/** Kills components of a lab in the middle of what they do (B3). Disposing rejects what has not happened. */
export class Crashes implements Disposable {
  readonly #parts: CrashParts;
  /** Bounded by those who wait for one. */
  readonly #pending = new Set<(reason: Error) => void>();

  constructor(parts: CrashParts) {
    this.#parts = parts;
  }

  /** Resolves when it was killed, and, unless it is a child, when another one works in its place. */
  after(options: CrashOptions): Promise<void> {
    try {
      const cluster = this.#parts.cluster(options.cluster);
      return this.#after(cluster, crashable(cluster, options), options.write);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #after(cluster: RunningCluster, component: Component, writes: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Nobody has to wait for it.
    promise.catch(() => {});
    let left = writes;
    const give = (reason: Error) => reject(reason);
    this.#pending.add(give);
    const subscription = this.#parts.writes.subscribe((write) => {
      if (write.cluster !== cluster.name || !isBy(component, write) || --left > 0) return;
      subscription[Symbol.dispose]();
      this.#kill(cluster, component, write)
        .then(resolve, reject)
        .finally(() => this.#pending.delete(give));
    });
    return promise;
  }

  [Symbol.dispose](): void {
    for (const give of this.#pending)
      give(new Error('the lab has ended before the crash that somebody waits for'));
    this.#pending.clear();
  }

  /** Up to its first wait this happens before the answer to the write is sent. */
  async #kill(cluster: RunningCluster, component: Component, { pod }: ApiWrite): Promise<void> {
    if (component.kind === 'pod') return this.#parts.runtime.killPod(pod?.uid ?? '');
    using _hold = this.#parts.clock.hold('a component that was killed starts again');
    if (component.kind === 'node') await cluster.crashNode(component.name);
    else await cluster.workloads.crash(component.users);
  }
}

function crashable({ name, api, workloads, nodeNames }: RunningCluster, options: CrashOptions): Component {
  const { component, write } = options;
  if (!Number.isInteger(write) || write < 1)
    throw userError(
      'InvalidCrash',
      `write is ${write}; it must be a whole number from 1 on: after which write to kill`,
    );
  if (api.authority === undefined)
    throw userError(
      'ForeignCluster',
      `the API server of cluster ${name} is not run by the lab, which does not see who writes there; use a cluster of the lab`,
    );
  return componentOf(component, { standIns: workloads.standIns, nodes: nodeNames });
}

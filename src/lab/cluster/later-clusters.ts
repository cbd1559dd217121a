import { readFile, rm, writeFile } from 'node:fs/promises';
import { userError } from '../../base/errors.ts';
import { whenMissing } from '../node/volumes/missing-file.ts';
import { type ClusterOptions, type RunningCluster, startCluster } from './start-cluster.ts';

/** The same for every cluster of a lab. */
export type ClusterSurroundings = Pick<
  ClusterOptions,
  'surroundings' | 'replace' | 'isDurable' | 'env' | 'activity' | 'writes'
>;

/** What is different for each. */
export type ClusterPlace = Pick<ClusterOptions, 'index' | 'serviceRange' | 'directory' | 'certificates'>;

export interface LaterClustersOptions extends ClusterSurroundings {
  /** Of the lab; grows and shrinks. */
  readonly running: RunningCluster[];
  /** Numbers from this one on are free, up to 31. */
  readonly firstIndex: number;
  readonly placeOf: (index: number) => ClusterPlace;
  /** Where people find kubeconfigs. */
  readonly kubeconfigPath: (cluster: string) => string;
}

export interface LaterCluster extends Required<Pick<ClusterOptions, 'domain' | 'crds' | 'moreStandIns'>> {
  readonly name: string;
  readonly index: number;
}

export interface StartedCluster {
  readonly cluster: RunningCluster;
  /** Of the administrator; the same text at every start where the same server is found at the same place. */
  readonly kubeconfig: string;
}

const LAST_INDEX = 31;

/** Clusters that come and go while the lab runs. Disposing it ends them; what they keep stays. */
export class LaterClusters implements AsyncDisposable {
  readonly #options: LaterClustersOptions;
  /** Their numbers, from when they are being started. */
  readonly #indices = new Map<number, RunningCluster | undefined>();

  constructor(options: LaterClustersOptions) {
    this.#options = options;
  }

  /** The last one that is free, since clusters of the next start may take the first. Throws when there is none. */
  freeIndex(): number {
    const { firstIndex } = this.#options;
    for (let index = LAST_INDEX; index >= firstIndex; index--) if (!this.#indices.has(index)) return index;
    throw userError(
      'OutsideAddressPlan',
      `a lab has ${LAST_INDEX} clusters at most, and all numbers from ${firstIndex} on are in use: remove a cluster`,
    );
  }

  /** The first of some names that no cluster of the lab has. */
  freeName(names: Iterable<string>): string {
    const taken = new Set(this.#options.running.map(({ name }) => name));
    for (const name of names) if (!taken.has(name)) return name;
    throw new Error('there are no more names');
  }

  async start(wanted: LaterCluster): Promise<StartedCluster> {
    const { running, placeOf, kubeconfigPath, ...surroundings } = this.#options;
    const { name, index, ...more } = wanted;
    this.#indices.set(index, undefined);
    try {
      const path = kubeconfigPath(name);
      const before = await readFile(path, 'utf8').catch(whenMissing);
      const place = placeOf(index);
      const setup = { name };
      const cluster = await startCluster({ ...surroundings, ...place, ...more, setup, kubeconfigPath: path });
      this.#indices.set(index, cluster);
      running.push(cluster);
      return { cluster, kubeconfig: await keptKubeconfig(path, before) };
    } catch (error) {
      this.#indices.delete(index);
      throw error;
    }
  }

  /** It ends, and everything that it kept is gone. */
  async remove(cluster: RunningCluster): Promise<void> {
    const index = [...this.#indices].find(([, one]) => one === cluster)?.[0];
    if (index === undefined) return;
    await this.#end(cluster, true);
    await rm(this.#options.placeOf(index).directory, { recursive: true, force: true });
    await rm(cluster.api.kubeconfigPath, { force: true });
    this.#indices.delete(index);
  }

  /** Where nodes of the cluster have everything. */
  directoryOf(index: number): string {
    return this.#options.placeOf(index).directory;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#indices.values()].filter((cluster) => cluster !== undefined);
    await Promise.all(all.map((cluster) => this.#end(cluster, false)));
  }

  async #end(cluster: RunningCluster, isForGood: boolean): Promise<void> {
    const { running } = this.#options;
    if (isForGood) await Promise.all(cluster.nodeNames.map((name) => cluster.removeNode(name)));
    const at = running.indexOf(cluster);
    if (at >= 0) running.splice(at, 1);
    await cluster[Symbol.asyncDispose]();
  }
}

/** Who has an old kubeconfig of the same server need not notice that it was started again. */
async function keptKubeconfig(path: string, before: string | undefined): Promise<string> {
  const now = await readFile(path, 'utf8');
  if (before === undefined || placeIn(before) !== placeIn(now)) return now;
  await writeFile(path, before, { mode: 0o600 });
  return before;
}

/** The lines that name the server and who vouches for it. */
const placeIn = (kubeconfig: string): string =>
  kubeconfig
    .split('\n')
    .filter((line) => /^\s*-?\s*(server|certificate-authority-data): /.test(line))
    .join('\n');

import { join } from 'node:path';
import type { LabWorkloads } from '../metal/workload/lab-workloads.ts';
import type { LabDirectory } from '../setup/lab-directory.ts';
import type { ClusterSetup, LabOptions } from '../setup/lab-options.ts';
import { type ClusterPlace, LaterClusters, type LaterClustersOptions } from './later-clusters.ts';
import { serviceRange } from './service-range.ts';
import { type ClusterOptions, type RunningCluster, startCluster } from './start-cluster.ts';

export interface LabClustersOptions extends Pick<ClusterOptions, 'surroundings' | 'env' | 'activity' | 'writes'> {
  readonly options: LabOptions;
  readonly place: LabDirectory;
  /** Gets those that run, and loses those that end. */
  readonly running: RunningCluster[];
}

export interface LabClusters {
  /** 1–31: the number that no cluster has, for instances of the cloud. */
  readonly block: number;
  /** Of a lab with machines. */
  readonly workloads: LabWorkloads | undefined;
}

const DAY_MS = 86_400_000;
const YEARS_MS = 3650 * DAY_MS;

/** Starts the clusters of a lab; they end with `parts`. */
export async function startLabClusters(
  given: LabClustersOptions,
  parts: AsyncDisposableStack,
): Promise<LabClusters> {
  const { options, place, running, ...surroundings } = given;
  const { nodes = 0, replace = {}, metal = false } = options;
  const setups: readonly ClusterSetup[] = options.clusters ?? [{ name: 'lab', nodes }];
  const common = { ...surroundings, replace, isDurable: options.data !== undefined };
  const places = clusterPlaces(given, metal === false ? setups.length : Number.POSITIVE_INFINITY);
  for (const [at, setup] of setups.entries()) {
    const kubeconfigPath = places.kubeconfigPath(setup.name);
    running.push(parts.use(await startCluster({ ...common, ...places.placeOf(at + 1), setup, kubeconfigPath })));
  }
  const block = setups.length + 1;
  if (metal === false) return { block, workloads: undefined };
  const later = { ...common, ...places, running, firstIndex: block + 1 };
  return { block, workloads: parts.use(await startWorkloads(metal, later, place)) };
}

/** What is different for each cluster, of so many. */
function clusterPlaces({ surroundings: { plan, clock, real }, place }: LabClustersOptions, count: number) {
  const times = [clock.now().getTime(), real.now().getTime()];
  return {
    placeOf: (index: number): ClusterPlace => ({
      index,
      serviceRange: serviceRange(plan.octet, index, count),
      directory: join(place.short, String(index)),
      // Children check certificates by the time outside, controllers by that of the lab (T8).
      certificates: {
        from: new Date(Math.min(...times) - DAY_MS),
        until: new Date(Math.max(...times) + YEARS_MS),
      },
    }),
    kubeconfigPath: (cluster: string): string => join(place.path, `${cluster}.kubeconfig`),
  };
}

/** Its modules are loaded for labs that have machines. */
async function startWorkloads(
  metal: Exclude<LabOptions['metal'], false | undefined>,
  later: LaterClustersOptions,
  { path, isEphemeral }: LabDirectory,
): Promise<LabWorkloads> {
  const { LabWorkloads } = await import('../metal/workload/lab-workloads.ts');
  const { clock, log } = later.surroundings;
  return await LabWorkloads.start({
    ...(typeof metal === 'object' && metal),
    clusters: new LaterClusters(later),
    clock,
    log,
    ...(!isEphemeral && { file: join(path, 'workloads.json') }),
  });
}

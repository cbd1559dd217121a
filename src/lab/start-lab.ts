import { SystemClock } from '../base/clock.ts';
import { userError } from '../base/errors.ts';
import { type Log, SILENT_LOG } from '../base/log.ts';
import type { Environment } from '../kube/config/surroundings.ts';
import { Activity } from '../kube/quiet/activity.ts';
import type { Endpoint } from './address/address-plan.ts';
import { type StartedAddressPlan, startAddressPlan } from './address/start-address-plan.ts';
import type { LabClock } from './clock/lab-clock.ts';
import { labClock } from './clock/start-clock.ts';
import type { LabCloud } from './cloud/start-cloud.ts';
import { LabCluster } from './cluster/lab-cluster.ts';
import type { RunningCluster } from './cluster/start-cluster.ts';
import { startLabClusters } from './cluster/start-lab-clusters.ts';
import { type ApiWrite, WriteLog } from './cluster/write-log.ts';
import { Crashes, type CrashOptions } from './crash/crashes.ts';
import type { WorkloadClusters } from './metal/workload/workload-clusters.ts';
import { type LabRuntime, startRuntime } from './node/runtime/start-runtime.ts';
import { type Outside, startOutside } from './outside/start-outside.ts';
import { keepOctet, openLabDirectory, requireSameOctet } from './setup/lab-directory.ts';
import type { LabOptions } from './setup/lab-options.ts';
import { type Check, type UntilOptions, until } from './waiting/until.ts';

/** A lab that runs. Disposing it ends everything that it started, and rejects when something is left. */
export interface Lab extends AsyncDisposable {
  readonly clock: LabClock;
  /** Where everything is kept while the lab lives. */
  readonly directory: string;
  /** Which network mode is on and why, and how files reach containers. */
  readonly summary: readonly string[];
  /** Throws when there is none of that name; the first one without a name. */
  cluster(name?: string): LabCluster;
  /** Throws when the lab was started without one. */
  readonly cloud: LabCloud;
  /** Clusters that are installed while the lab runs. Throws when the lab was started without `metal`. */
  readonly workloads: WorkloadClusters;
  /** Where the name server of the lab answers, on this machine. */
  readonly dns: Endpoint;
  /** Where a port of a lab address is found on this machine, as an `http:` URL (X7). */
  urlOf(address: string, port: number): string;
  /** Resolves when nothing moves and nothing is due; time does not pass (B3b). */
  settle(): Promise<void>;
  /** Waits, letting automatic time pass. Rejects with a picture of why it has not happened (B2). */
  until(check: Check, options: UntilOptions): Promise<void>;
  /**
   * Kills a component after its n-th write from now on (B3): a stand-in or a node in this process loses its way to the API
   * server at once and is started again, the processes of a pod get SIGKILL. Resolves when it happened.
   */
  crashAfter(options: CrashOptions): Promise<void>;
  /** A place in the list of writes: everything after it is `since` it. */
  mark(): number;
  /** Writes to the API servers by user: proves idleness and rights. */
  writes(options?: { readonly since?: number }): readonly ApiWrite[];
  /** Ends every process of it at once, for whoever cannot wait; disposing is still needed for the rest (P15). */
  kill(): void;
}

/** What a lab is given besides its options. */
export interface LabSurroundings {
  readonly log?: Log;
  /** Of this process: for credential plugins of clusters that run elsewhere. Empty unless given. */
  readonly env?: Environment;
}

const CRASH_LOOP_MAX_MS = 300_000;

/** Starts a lab, ready to use when this resolves. On failure everything that was started is ended again. */
export async function startLab(
  options: LabOptions = {},
  { log = SILENT_LOG, env = {} }: LabSurroundings = {},
): Promise<Lab> {
  const { data, network, octet, crashLoopMaxMs = CRASH_LOOP_MAX_MS } = options;
  await using parts = new AsyncDisposableStack();
  const real = new SystemClock();
  const activity = new Activity();
  const running: RunningCluster[] = [];
  const isBusy = () => running.some(({ workloads }) => !workloads.isIdle);
  const lastChangeMs = () => (running.some(isForeign) ? undefined : writes.lastChangeMs);
  const clock = parts.use(labClock(options, { activity, isBusy, lastChangeMs }));
  const writes = new WriteLog(clock);
  const place = parts.use(await openLabDirectory(data, { real, log, life: clock.uuid().slice(0, 8) }));
  if (octet !== undefined) requireSameOctet(place, octet);
  const { short: directory } = place;
  const zones: { names?: () => readonly string[] } = {};
  const plan = parts.use(
    await startAddressPlan({
      directory,
      clock: real,
      zones: () => zones.names?.() ?? [],
      ...(network !== undefined && { network }),
      ...(place.octet !== undefined && { preferredOctet: place.octet }),
      ...(octet !== undefined && { octet }),
    }),
  );
  await keepOctet(place, plan.octet);
  const runtime = parts.use(await startRuntime({ ...place, options, plan, directory, clock, real, log }));
  const maxGraceMs = options.maxGraceMs ?? Number.POSITIVE_INFINITY;
  const surroundings = { runtime, plan, clock, real, log, crashLoopMaxMs, maxGraceMs };
  const common = { options, surroundings, place, running, env, activity, writes };
  const { block, workloads } = await startLabClusters(common, parts);
  const machines = workloads === undefined ? {} : { bareMachines: workloads };
  const world = { options, surroundings, directory, clusters: running, block, ...machines };
  const outside = parts.use(await startOutside(world));
  zones.names = outside.zoneNames;
  parts.defer(() => runtime.stopInside());
  const crashes = parts.use(
    new Crashes({ clock, writes, runtime, cluster: (name) => clusterNamed(running, name) }),
  );
  return runningLab({
    clock,
    directory: place.path,
    plan,
    runtime,
    running,
    outside,
    workloads,
    activity,
    writes,
    crashes,
    all: parts.move(),
  });
}

interface LabParts extends Pick<Lab, 'clock' | 'directory'> {
  readonly plan: StartedAddressPlan;
  readonly runtime: LabRuntime;
  readonly running: readonly RunningCluster[];
  readonly outside: Outside;
  readonly workloads: WorkloadClusters | undefined;
  readonly activity: Activity;
  readonly writes: WriteLog;
  readonly crashes: Crashes;
  readonly all: AsyncDisposableStack;
}

function runningLab(parts: LabParts): Lab {
  const { clock, directory, plan, runtime, outside, activity, writes, crashes, all } = parts;
  const known = new WeakMap<RunningCluster, LabCluster>();
  const clusters = () =>
    parts.running.map((cluster) => {
      const found = known.get(cluster) ?? new LabCluster(cluster, clock);
      known.set(cluster, found);
      return found;
    });
  const holds = () => activity.holds.map(({ reason }) => reason);
  return {
    clock,
    directory,
    summary: [plan.summary, runtime.summary],
    dns: outside.dns,
    get cloud() {
      return outside.cloud;
    },
    get workloads() {
      if (parts.workloads !== undefined) return parts.workloads;
      throw userError('NoMetal', 'the lab was started without machines: start it with { metal: true }');
    },
    cluster: (name) => clusterNamed(clusters(), name),
    urlOf: (address, port) => {
      const target = plan.target({ host: address, port });
      return `http://${target.host}:${target.port}`;
    },
    settle: () => clock.settle(),
    until: (check, wait) => until({ clock, writes, holds, clusters }, check, wait),
    crashAfter: (crash) => crashes.after(crash),
    mark: () => writes.mark,
    writes: ({ since = 0 } = {}) => writes.since(since),
    kill: () => runtime.kill(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Nobody tells the lab of the writes to it. */
const isForeign = ({ api }: RunningCluster): boolean => api.authority === undefined;

function clusterNamed<T extends { readonly name: string }>(clusters: readonly T[], name: string | undefined): T {
  const found = name === undefined ? clusters[0] : clusters.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = clusters.map((one) => one.name).join(', ');
  throw userError(
    'UnknownCluster',
    `the lab has no cluster "${name ?? ''}"; it has ${names === '' ? 'none' : names}`,
  );
}

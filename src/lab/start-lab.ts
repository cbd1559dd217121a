import { join } from 'node:path';
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
import { serviceRange } from './cluster/service-range.ts';
import { type RunningCluster, startCluster } from './cluster/start-cluster.ts';
import { type ApiWrite, WriteLog } from './cluster/write-log.ts';
import { Crashes, type CrashOptions } from './crash/crashes.ts';
import type { NodeSurroundings } from './machine/instance-nodes.ts';
import { type LabRuntime, startRuntime } from './node/runtime/start-runtime.ts';
import { type Outside, startOutside } from './outside/start-outside.ts';
import { keepOctet, type LabDirectory, openLabDirectory, requireSameOctet } from './setup/lab-directory.ts';
import type { ClusterSetup, LabOptions } from './setup/lab-options.ts';
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

const DAY_MS = 86_400_000;
const YEARS_MS = 3650 * DAY_MS;
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
  for (const cluster of clusterPlaces(options, surroundings, place))
    running.push(parts.use(await startCluster({ ...cluster, surroundings, env, activity, writes })));
  const outside = parts.use(await startOutside({ options, surroundings, directory, clusters: running }));
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
  readonly activity: Activity;
  readonly writes: WriteLog;
  readonly crashes: Crashes;
  readonly all: AsyncDisposableStack;
}

function runningLab(parts: LabParts): Lab {
  const { clock, directory, plan, runtime, outside, activity, writes, crashes, all } = parts;
  const clusters = parts.running.map((cluster) => new LabCluster(cluster, clock));
  const holds = () => activity.holds.map(({ reason }) => reason);
  return {
    clock,
    directory,
    summary: [plan.summary, runtime.summary],
    dns: outside.dns,
    get cloud() {
      return outside.cloud;
    },
    cluster: (name) => clusterNamed(clusters, name),
    urlOf: (address, port) => {
      const target = plan.target({ host: address, port });
      return `http://${target.host}:${target.port}`;
    },
    settle: () => clock.settle(),
    until: (check, wait) => until({ clock, writes, holds, clusters: () => clusters }, check, wait),
    crashAfter: (crash) => crashes.after(crash),
    mark: () => writes.mark,
    writes: ({ since = 0 } = {}) => writes.since(since),
    kill: () => runtime.kill(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Pure but for the time: what is different for each cluster. */
function clusterPlaces(options: LabOptions, { plan, clock, real }: NodeSurroundings, place: LabDirectory) {
  const { clusters, nodes = 0, data, replace = {} } = options;
  const setups: readonly ClusterSetup[] = clusters ?? [{ name: 'lab', nodes }];
  const times = [clock.now().getTime(), real.now().getTime()];
  return setups.map((setup, at) => ({
    setup,
    index: at + 1,
    serviceRange: serviceRange(plan.octet, at + 1, setups.length),
    replace,
    directory: join(place.short, String(at + 1)),
    kubeconfigPath: join(place.path, `${setup.name}.kubeconfig`),
    isDurable: data !== undefined,
    // Children check certificates by the time outside, controllers by that of the lab (T8).
    certificates: { from: new Date(Math.min(...times) - DAY_MS), until: new Date(Math.max(...times) + YEARS_MS) },
  }));
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

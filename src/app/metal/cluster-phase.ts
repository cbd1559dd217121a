import { join } from 'node:path';
import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Agent } from '../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import { createLog } from '../../base/log.ts';
import { applyObject } from '../../kube/apply/apply-object.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { createRestMapper } from '../../kube/client/rest-mapper.ts';
import type { Lab, LabOptions, Metal } from '../../lab/index.ts';
import { HUB } from '../apiserver/hub-handover.ts';
import { LAB_CLUSTER_ID } from '../cloud/install-in-lab.ts';
import type { Phase, PhaseContext, PhaseOutcome, PhaseSuccess } from '../journey/phase.ts';
import { shellWord, shownPath } from '../journey/plain-text.ts';
import { warningText } from '../journey/warning-text.ts';
import { helloImages } from '../lab/hello.ts';
import { labFailure } from '../lab/lab-failure.ts';
import { LAB } from '../lab/lab-handover.ts';
import { startedLab, unlessStopped } from '../lab/lab-phase.ts';
import { PROVIDER } from '../provider/definition-phase.ts';
import { hubAdmin, installProviders, runProviders } from './agent-providers.ts';
import { clusterProbes, controlPlaneProblem } from './cluster-probes.ts';
import { type HostFacts, hostRows, installedHosts } from './host-rows.ts';
import {
  CONTROL_PLANE_HOSTS,
  JOURNEY_CLUSTER,
  JOURNEY_RELEASE,
  journeyClusterManifests,
  WORKER_HOSTS,
} from './journey-cluster.ts';

/** Minutes on real machines: nobody wants to wait for them in a lab. */
const PACE = 0.006;
const LOOK_MS = 150;
const WITHIN_MS = 180_000;
const HOSTS = CONTROL_PLANE_HOSTS.length + WORKER_HOSTS.length;
const { namespace, name } = JOURNEY_CLUSTER;

/** The Agent providers install a cluster on bare metal that this machine stands in for; its nodes wait for their cloud. */
export const clusterPhase: Phase = { id: 'cluster', needs: ['hub', 'definition'], run, probes: clusterProbes };

const labOptions = (): LabOptions => ({
  clusters: [],
  cloud: true,
  metal: { updateMs: 10_000 },
  images: helloImages(),
});

async function run(context: PhaseContext): Promise<PhaseOutcome> {
  const { signal } = context;
  context.progress('starting bare metal and those who install on it');
  const startedAt = context.clock.now();
  let running: Running;
  try {
    running = await start(context);
  } catch (error) {
    signal.throwIfAborted();
    return labFailure(error, { detail: 'the machines did not start' });
  }
  LAB.put(context, { ...running, isScenario: false, startedAt });
  try {
    return await installed(context, running);
  } catch (error) {
    signal.throwIfAborted();
    const detail = 'the cluster is not installed';
    if (!(error instanceof NotInstalled)) return labFailure(error, { detail });
    return { health: 'failed', detail, what: error.message, code: 'SW1109' };
  }
}

interface Running {
  readonly lab: Lab;
  readonly metal: Metal;
}

/** Everything ends in the opposite order of its start, and only when nothing is started any more. */
async function start(context: PhaseContext): Promise<Running> {
  const parts = new AsyncDisposableStack();
  const ended = Promise.withResolvers<string>();
  const alive: { lab?: Lab } = {};
  const starting = startAll(context, parts, {
    lab: (lab) => {
      alive.lab = lab;
    },
    ended: ended.resolve,
  });
  context.keep('the lab', {
    [Symbol.asyncDispose]: async () => {
      await starting.catch(() => undefined);
      await parts.disposeAsync();
    },
    kill: () => alive.lab?.kill(),
    ended: ended.promise,
  });
  return unlessStopped(starting, context.signal);
}

interface Told {
  readonly lab: (lab: Lab) => void;
  /** Why something has ended by itself. */
  readonly ended: (why: Promise<string>) => void;
}

async function startAll(context: PhaseContext, parts: AsyncDisposableStack, told: Told): Promise<Running> {
  const { clock, data, signal } = context;
  const hub = HUB.get(context);
  const warn = (line: string) => context.warn(warningText(line));
  const lab = parts.use(await startedLab(context, { ...labOptions(), data: join(data, 'lab') }));
  told.lab(lab);
  signal.throwIfAborted();
  const metal = parts.use(await startedMetal(context, lab));
  signal.throwIfAborted();
  context.progress('installing the Agent providers');
  await installProviders(hub, clock);
  // Before anybody reads what an earlier run has left: the registry has another address now.
  await applyManifests(context, metal);
  const providers = parts.use(runProviders({ hub, clock, warn }));
  told.ended(providers.ended);
  return { lab, metal };
}

async function startedMetal(context: PhaseContext, { workloads, cloud, clock, directory }: Lab): Promise<Metal> {
  const { server } = HUB.get(context);
  const { startMetal } = await import('../../lab/index.ts');
  const write = (line: string) => context.warn(warningText(line));
  const key = PROVIDER.get(context).definition.tags.clusterKey?.(LAB_CLUSTER_ID);
  return startMetal({
    hub: (user, groups) => server.client(user, groups),
    workloads,
    cloud,
    ...(key !== undefined && { tags: { [key]: 'owned' } }),
    clock,
    log: createLog({ level: 'warn', write, now: () => context.clock.now() }),
    directory,
    pace: PACE,
  });
}

async function applyManifests(context: PhaseContext, { releaseRepository }: Metal): Promise<void> {
  const { clock, signal } = context;
  const client = hubAdmin(HUB.get(context), clock);
  const mapper = createRestMapper(client, clock);
  const { platformName } = PROVIDER.get(context).definition;
  for (const object of journeyClusterManifests({ platformName, releaseRepository }))
    await applyObject({ client, mapper }, object, { force: true, signal });
}

async function installed(context: PhaseContext, { lab, metal }: Running): Promise<PhaseSuccess> {
  context.progress(
    `${name}: ${CONTROL_PLANE_HOSTS.length} control plane + ${WORKER_HOSTS.length} workers, OpenShift ${JOURNEY_RELEASE}`,
  );
  await watched(context, hubAdmin(HUB.get(context), context.clock));
  return success(context, lab, metal);
}

/** Tells how far each host is until all are installed. Rejects with a NotInstalled when that takes too long. */
async function watched(context: PhaseContext, client: KubeClient): Promise<void> {
  const { clock, signal } = context;
  const show = shownRows(context);
  const endMs = clock.monotonicMs() + WITHIN_MS;
  for (;;) {
    const facts = await factsOf(client);
    show(facts);
    const { state, stateInfo } = await installState(client);
    const count = installedHosts(facts);
    if (state === 'adding-hosts' && count === HOSTS) return;
    const wrong = await controlPlaneProblem(client);
    const why = wrong === undefined ? '' : `; ${wrong}`;
    context.waitingFor(`the installation is done (${state}, ${count} of ${HOSTS} hosts${why})`);
    if (ENDED.has(state)) throw new NotInstalled(`the installation ended: ${stateInfo}`);
    if (clock.monotonicMs() > endMs)
      throw new NotInstalled(
        `${count} of ${HOSTS} hosts are installed; the installation says: ${stateInfo || state}`,
      );
    await clock.sleep(LOOK_MS, signal);
  }
}

const ENDED: ReadonlySet<string> = new Set(['error', 'cancelled']);

/** Each line is told when it changes. */
function shownRows(context: PhaseContext): (facts: HostFacts) => void {
  const told = new Map<string, string>();
  return (facts) => {
    for (const row of hostRows(facts)) {
      const [key, text] = [row.path.join('/'), JSON.stringify(row)];
      if (told.get(key) !== text) context.row(row);
      told.set(key, text);
    }
  };
}

async function installState(client: KubeClient): Promise<{ readonly state: string; readonly stateInfo: string }> {
  const install = await client.find(AgentClusterInstall, JOURNEY_CLUSTER);
  return { state: 'not registered', stateInfo: '', ...install?.status?.debugInfo };
}

async function factsOf(client: KubeClient): Promise<HostFacts> {
  const [hosts, agents, machines, configs] = await Promise.all([
    client.list(BareMetalHost, { namespace }),
    client.list(Agent, { namespace }),
    client.list(Machine, { namespace }),
    client.list(OpenshiftAssistedConfig, { namespace }),
  ]);
  return { hosts: hosts.items, agents: agents.items, machines: machines.items, configs: configs.items };
}

function success(context: PhaseContext, lab: Lab, metal: Metal): PhaseSuccess {
  const { folder } = context;
  const { url, kubeconfigPath } = lab.cluster(name);
  const shown = shownPath(folder, kubeconfigPath);
  const hubFile = shownPath(folder, HUB.get(context).kubeconfigFile);
  return {
    health: 'done',
    detail: `${HOSTS} of ${HOSTS} hosts, OpenShift ${JOURNEY_RELEASE}, no bootstrap node`,
    addresses: [
      { label: 'cluster', value: url, note: `kubeconfig ${shown}` },
      { label: 'assisted-service', value: metal.assistedUrl },
    ],
    tries: [
      { kind: 'command', text: `kubectl --kubeconfig ${shellWord(shown)} get nodes -o wide` },
      { kind: 'command', text: `npx slipway describe cluster ${name} --kubeconfig ${shellWord(hubFile)}` },
    ],
  };
}

/** It failed or did not come in time, and nobody waits any longer. */
class NotInstalled extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotInstalled';
  }
}

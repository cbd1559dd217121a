import { Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import { Namespace } from '../../src/api/generated/core-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { applyObject } from '../../src/kube/apply/apply-object.ts';
import { createRestMapper } from '../../src/kube/client/rest-mapper.ts';
import { TestEnv } from '../../src/testing/test-env.ts';
import { clusterManifests, hostManifests } from '../../test/support/agent-manifests.ts';
import { agentControllers, agentCrds, agentOutside } from '../../test/support/agent-world.ts';
import { CountedRequests } from './counted-requests.ts';
import { toldByMetal3 } from './outside.ts';

const NAMESPACE = 'test-capi';
const CONTROL_PLANE = 3;
/** Between looks at Machines; virtual. */
const STEP_MS = 10_000;
/** The same request to create something, of many objects at one moment. */
const REPEATS_A_HOST = 100;
const MOST_STEPS = 720;

/** A hub on virtual time whose cluster is installed, with both providers still at work. */
export interface InstalledCluster extends AsyncDisposable {
  readonly env: TestEnv;
  /** Of both providers, since they started. */
  readonly counted: CountedRequests;
  /** From the first object that was applied until all Machines ran. */
  readonly seconds: number;
  /** In that time, of this process. */
  readonly processorSeconds: number;
  readonly virtualSeconds: number;
}

/** Installs a cluster of three control-plane hosts and workers on the rest. */
export async function installCluster(hosts: number): Promise<InstalledCluster> {
  await using parts = new AsyncDisposableStack();
  const env = parts.use(await TestEnv.start({ crds: agentCrds(), mostRepeats: REPEATS_A_HOST * hosts }));
  await env.client.create(Namespace, { metadata: { name: NAMESPACE } });
  const outside = parts.use(await agentOutside(env, { identify: toldByMetal3 }));
  const counted = new CountedRequests();
  const { bootstrap, controlPlane } = agentControllers(env, outside);
  await env.startManager({ name: 'stand-ins', add: outside.controllers });
  await env.startManager({ name: 'agent-bootstrap', add: bootstrap, wrap: counted.around });
  await env.startManager({ name: 'agent-control-plane', add: controlPlane, wrap: counted.around });
  const [startedMs, virtualMs, before] = [performance.now(), env.clock.monotonicMs(), process.cpuUsage()];
  const mapper = createRestMapper(env.client, env.clock);
  for (const object of manifestsFor(hosts)) await applyObject({ client: env.client, mapper }, object);
  await allRunning(env, hosts);
  const { user, system } = process.cpuUsage(before);
  const all = parts.move();
  return {
    env,
    counted,
    seconds: (performance.now() - startedMs) / 1000,
    processorSeconds: (user + system) / 1e6,
    virtualSeconds: (env.clock.monotonicMs() - virtualMs) / 1000,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const manifestsFor = (hosts: number): readonly KubeObject[] => [
  ...hostManifests(hosts, NAMESPACE),
  ...clusterManifests({ namespace: NAMESPACE, controlPlane: CONTROL_PLANE, workers: hosts - CONTROL_PLANE }),
];

async function allRunning(env: TestEnv, count: number): Promise<void> {
  for (let step = 0; step < MOST_STEPS; step++) {
    const { items } = await env.client.live.list(Machine, { namespace: NAMESPACE });
    const running = items.filter(({ status }) => status?.phase === 'Running').length;
    if (running === count && items.length === count) return;
    // What was recorded is of no use here, and would be most of the memory.
    env.recorder.clear();
    await env.advance(STEP_MS);
  }
  throw new Error(`not all of ${count} Machines run after ${(MOST_STEPS * STEP_MS) / 60_000} minutes`);
}

import { type ControlPlaneOptions, controlPlaneControllers } from '../../src/agent/control-plane/controllers.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../src/api/generated/core-v1.ts';
import { type Clock, VirtualClock } from '../../src/base/clock.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { CrashScenario, ScenarioLife, ScenarioWorld } from '../../src/testing/crash-scenario.ts';
import {
  adoptMachine,
  agentCrds,
  cpKey,
  FakeReleases,
  listMachines,
  NAMESPACE,
  prepare,
  readyAllMachines,
  setInstall,
} from './agent-control-plane-world.ts';
import { completed, partial, startWorkload, type WorkloadVersion } from './workload-version.ts';

const kinds = agentCrds().map((crd) => ({ toCRD: () => crd }));
const noWorkload = () => Promise.reject(new Error('no workload cluster in this scenario'));

export interface Story {
  readonly name: string;
  readonly act: (world: ScenarioWorld) => Promise<void>;
  readonly connect?: (life: ScenarioLife) => ControlPlaneOptions['connectWorkload'];
  readonly inventory?: () => unknown;
}

/** Names of Machines in the same order in every run, whoever else draws numbers: they are part of points. */
const naming = (clock: Clock, names: Clock): Clock => ({
  now: () => clock.now(),
  monotonicMs: () => clock.monotonicMs(),
  sleep: (ms, signal) => clock.sleep(ms, signal),
  timer: (ms, fire) => clock.timer(ms, fire),
  random: () => names.random(),
  uuid: () => clock.uuid(),
});

export const crashScenario = (start: () => Story): CrashScenario => ({
  name: start().name,
  kinds,
  start: () => {
    const { act, connect, inventory } = start();
    const names = new VirtualClock({ seed: 7 });
    return {
      controllers: (life) =>
        controlPlaneControllers({
          releases: new FakeReleases(),
          clock: naming(life.clock, names),
          connectWorkload: connect?.(life) ?? noWorkload,
        }),
      act,
      ...(inventory !== undefined && { inventory }),
    };
  },
});

const change = (client: KubeClient, spec: Readonly<Record<string, number | string>>) =>
  client.patch(OpenshiftAssistedControlPlane, cpKey, { type: 'merge', body: { spec } });

async function create({ client, converge }: ScenarioWorld): Promise<void> {
  await prepare(client);
  await converge();
  for (const machine of await listMachines(client)) await adoptMachine(client, machine);
  await readyAllMachines(client);
  await converge();
}

/** Three become one; core takes the parts of a Machine away with it. */
export const scaleDown = (): Story => ({
  name: 'scale down',
  act: async (world) => {
    await create(world);
    await change(world.client, { replicas: 1 });
    await world.converge();
  },
});

export const remove = (): Story => ({
  name: 'delete',
  act: async ({ client, converge }) => {
    await prepare(client, { spec: { replicas: 2 } });
    await converge();
    for (const machine of await listMachines(client))
      await client.addFinalizer(Machine, machine, 'example.com/core');
    await client.delete(OpenshiftAssistedControlPlane, cpKey);
    await converge();
    for (const machine of await listMachines(client))
      await client.removeFinalizer(Machine, machine, 'example.com/core');
    await converge();
  },
});

/** The ClusterVersion is outside of the cluster of the controllers: a write there is a point, too. */
export function upgrade(): Story {
  let workload: WorkloadVersion | undefined;
  let asked: unknown;
  return {
    name: 'upgrade',
    inventory: () => asked,
    connect: (life) => () => {
      if (workload === undefined) return Promise.reject(new Error('the workload cluster is not up'));
      const { client } = workload;
      const effect = { verb: 'patch', kind: 'clusterversion', name: 'version' };
      const patch: KubeClient['patch'] = (...call) => life.effect(effect, () => client.patch(...call));
      const get: KubeClient['get'] = (...call) => life.look(() => client.live.get(...call));
      return Promise.resolve({ ...client, patch, live: { ...client.live, get } });
    },
    act: async ({ client, env, converge }) => {
      await using started = await startWorkload(env);
      workload = started;
      await started.say({ desired: { version: '4.20.1', image: 'x' }, history: [completed('4.20.1')] });
      await prepare(client, { spec: { replicas: 0 } });
      await converge();
      await client.create(Secret, {
        metadata: { namespace: NAMESPACE, name: 'admin' },
        data: { kubeconfig: Buffer.from('k').toString('base64') },
      });
      const clusterMetadata = { clusterID: 'c', infraID: 'i', adminKubeconfigSecretRef: { name: 'admin' } };
      await setInstall(client, { debugInfo: { state: 'adding-hosts' } }, { clusterMetadata });
      await converge();
      await change(client, { distributionVersion: '4.20.2' });
      await converge();
      await started.say({
        desired: { version: '4.20.2', image: 'x' },
        history: [partial('4.20.2'), completed('4.20.1')],
      });
      await converge();
      await started.say({
        desired: { version: '4.20.2', image: 'x' },
        history: [completed('4.20.2'), completed('4.20.1')],
      });
      await converge();
      await converge();
      asked = await started.desiredUpdate();
      workload = undefined;
    },
  };
}

export const creation = (): Story => ({ name: 'create', act: create });

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  adoptMachine,
  type ControlPlaneWorld,
  cpKey,
  getControlPlane,
  listMachines,
  NAMESPACE,
  prepare,
  shownCondition,
  startWorld,
} from '../../../test/support/agent-control-plane-world.ts';
import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { Cluster, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { ClusterDeployment, ClusterImageSet } from '../../api/hive/hive-v1.ts';

const HELD = 'machine.cluster.x-k8s.io';
const ASSISTED = 'clusterdeployments.agent-install.openshift.io/ai-deprovision';
const deleting = async ({ client }: ControlPlaneWorld) =>
  shownCondition(await getControlPlane(client), 'Deleting');

describe('a control plane that is deleted', () => {
  it('agent/C14, agent/X17: Machines go first, then the ClusterDeployment, then the image set, and the finalizer last', async () => {
    await using world = await startWorld();
    const { client, env } = world;
    await prepare(client, { spec: { replicas: 2 } });
    await env.settle();
    for (const machine of await listMachines(client)) {
      await adoptMachine(client, machine);
      await client.addFinalizer(Machine, machine, HELD);
    }
    await client.addFinalizer(ClusterDeployment, await client.live.get(ClusterDeployment, cpKey), ASSISTED);
    await client.delete(OpenshiftAssistedControlPlane, cpKey);
    await env.settle();
    assert.match(
      (await deleting(world)) ?? '',
      /^True\/WaitingForMachineDeletion: Machines that are not gone yet: ocp-cp-\w+, ocp-cp-\w+$/,
    );
    assert.equal((await client.live.get(ClusterDeployment, cpKey)).metadata.deletionTimestamp, undefined);
    const machines = await listMachines(client);
    assert.equal(
      machines.every(({ metadata }) => metadata.deletionTimestamp !== undefined),
      true,
    );
    for (const machine of machines) await client.removeFinalizer(Machine, machine, HELD);
    await env.settle();
    assert.equal(
      await deleting(world),
      `True/WaitingForClusterDeploymentDeletion: ClusterDeployment ocp-cp is not gone yet; it is held by ${ASSISTED}`,
    );
    assert.equal((await client.live.list(ClusterImageSet)).items.length, 1);
    await client.removeFinalizer(ClusterDeployment, await client.live.get(ClusterDeployment, cpKey), ASSISTED);
    await env.settle();
    assert.equal(await client.live.find(OpenshiftAssistedControlPlane, cpKey), undefined);
    assert.deepEqual((await client.live.list(ClusterImageSet)).items, []);
    assert.deepEqual((await client.live.list(ClusterDeployment)).items, []);
  });

  it('agent/C5: also while it is paused, and when its Cluster is gone', async () => {
    await using world = await startWorld();
    const { client, env } = world;
    await prepare(client, { spec: { replicas: 1 } });
    await env.settle();
    await client.patch(
      Cluster,
      { namespace: NAMESPACE, name: 'ocp' },
      { type: 'merge', body: { spec: { paused: true } } },
    );
    await client.delete(Cluster, { namespace: NAMESPACE, name: 'ocp' });
    await client.delete(OpenshiftAssistedControlPlane, cpKey);
    await env.settle();
    assert.equal(await client.live.find(OpenshiftAssistedControlPlane, cpKey), undefined);
    assert.deepEqual(await listMachines(client), []);
  });

  it('agent/X17: what was made for a Machine that never was goes, too', async () => {
    await using world = await startWorld();
    const { client, env } = world;
    const { apiVersion, kind, metadata } = await prepare(client, { spec: { replicas: 0 } });
    await env.settle();
    await client.patch(OpenshiftAssistedControlPlane, cpKey, {
      type: 'merge',
      body: { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } },
    });
    await env.settle();
    await client.create(OpenshiftAssistedConfig, {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
      kind: 'OpenshiftAssistedConfig',
      metadata: {
        namespace: NAMESPACE,
        name: 'ocp-cp-bbbbb',
        labels: { 'cluster.x-k8s.io/cluster-name': 'ocp' },
        ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }],
      },
      spec: {},
    });
    await client.delete(OpenshiftAssistedControlPlane, cpKey);
    await env.settle();
    assert.deepEqual((await client.live.list(OpenshiftAssistedConfig)).items, []);
    assert.equal(await client.live.find(OpenshiftAssistedControlPlane, cpKey), undefined);
  });
});

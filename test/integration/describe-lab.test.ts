import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Cluster, Machine, MachineDeployment } from '../../src/api/cluster-api/core-v1beta2.ts';
import { Node } from '../../src/api/generated/core-v1.ts';
import type { NodeFacts } from '../../src/app/describe/facts.ts';
import { findCluster } from '../../src/app/describe/find-cluster.ts';
import { gatherFacts } from '../../src/app/describe/gather-facts.ts';
import { Hub } from '../../src/app/describe/hub.ts';
import { type ClusterReport, clusterReport } from '../../src/app/describe/report.ts';
import { causesIn, labelOf, rowsIn } from '../../src/app/describe/row.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import { AgentWorld } from '../support/agent-world.ts';

const KEY = { namespace: 'test-capi', name: 'test-multinode' };

/** What the providers and their stand-ins really write, from manifests to nothing: nothing is made up here. */
describe('a cluster of the lab while it is described', () => {
  let world: AgentWorld;
  before(async () => {
    world = await AgentWorld.start();
  });
  after(() => world[Symbol.asyncDispose]());

  const nodes = async (hub: Hub): Promise<NodeFacts> => {
    const kubeconfig = await hub.secretText(KEY.namespace, `${KEY.name}-kubeconfig`, 'value');
    if (kubeconfig === undefined) return { type: 'unread', why: 'none' };
    const client = await world.outside.workloads.connect(kubeconfig);
    return { type: 'read', nodes: (await client.live.list(Node)).items };
  };

  async function report(): Promise<ClusterReport> {
    const hub = new Hub(world.client, new AbortController().signal);
    const found = await findCluster(hub, { ...KEY, homeNamespace: 'default' });
    const now = () => world.env.clock.now();
    return clusterReport(await gatherFacts(found, { hub, isComplete: true, now, readNodes: () => nodes(hub) }));
  }

  const problemsOf = ({ root }: ClusterReport): readonly string[] =>
    causesIn(root).map((row) => `${labelOf(row)} ${row.word}: ${row.why ?? ''}`);

  it('experience/X43: is never called ill while it is installed, and always says what it waits for', async () => {
    await world.apply([...hostManifests(6), ...clusterManifests({})]);
    const seen = new Set<string>();
    let looks = 0;
    await world.until('all Machines run', async () => {
      if (looks++ % 3 !== 0) return false;
      const now = await report();
      assert.deepEqual(problemsOf(now), []);
      const isDone = now.root.health === 'done';
      if (!isDone) assert.match(now.next ?? '', /^nothing to do but wait: /);
      for (const { kind, health } of rowsIn(now.root)) seen.add(`${kind} ${health}`);
      return isDone && now.next === undefined;
    });
    for (const one of ['Agent working', 'Agent done', 'BareMetalHost working', 'Machine working', 'Machine done'])
      assert.ok(seen.has(one), `${one} was never seen`);
  });

  it('is all there in the end, each kind of it', async () => {
    const { root, nodes: counted, version, problems } = await report();
    assert.deepEqual([counted, version, problems], [{ ready: 5, total: 5 }, 'OpenShift 4.20.1', 0]);
    const kinds = new Set(rowsIn(root).map(({ kind }) => kind));
    const wanted = 'Cluster Metal3Cluster OpenshiftAssistedControlPlane ClusterDeployment AgentClusterInstall';
    const parts = 'ClusterImageSet MachineDeployment MachineSet Machine OpenshiftAssistedConfig Secret InfraEnv';
    for (const kind of `${wanted} ${parts} Agent Metal3Machine BareMetalHost Node`.split(' '))
      assert.ok(kinds.has(kind), kind);
    assert.ok(rowsIn(root).every(({ health }) => health === 'done'));
  });

  it('experience/X44: says why nothing moves when there are too few hosts', async () => {
    const key = { namespace: KEY.namespace, name: `${KEY.name}-worker` };
    await world.client.patch(MachineDeployment, key, { type: 'merge', body: { spec: { replicas: 4 } } });
    await world.env.advance(900_000);
    const now = await report();
    assert.match(
      problemsOf(now).join(),
      /^Metal3Machine\/\S+ no host: no BareMetalHost was chosen: 0 of 6 in namespace test-capi are free$/,
    );
    assert.match(now.next ?? '', /^add a BareMetalHost to namespace test-capi/);
    await world.client.patch(MachineDeployment, key, { type: 'merge', body: { spec: { replicas: 3 } } });
    await world.untilRunning(6);
  });

  it('says whom it waits for while it is deleted, and calls nothing ill that goes', async () => {
    await world.client.delete(Cluster, KEY);
    const said = new Set<string>();
    await world.until('it is gone', async () => {
      if ((await world.client.live.find(Cluster, KEY)) === undefined) return true;
      const now = await report();
      assert.deepEqual(problemsOf(now), []);
      said.add(now.root.why?.replace(/:.*/, '').replace(/\d+/, 'N') ?? '');
      return false;
    });
    assert.ok(said.has('waits for N Machines to go'), [...said].join('; '));
    assert.deepEqual(await world.all(Machine), []);
  });
});

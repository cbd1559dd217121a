import { DaemonSet } from '../../src/api/generated/apps-v1.ts';
import { Node, Pod } from '../../src/api/generated/core-v1.ts';
import { daemonSetController } from '../../src/lab/workloads/daemonset/controller.ts';
import type { CrashScenario, ScenarioWorld } from '../../src/testing/crash-scenario.ts';
import { AGENT, agent, setImage } from './lab-daemons.ts';
import { addNodes, PretendNodes, settled } from './pretend-nodes.ts';

const scenario = (name: string, act: (world: ScenarioWorld) => Promise<void>): CrashScenario => ({
  name,
  start: () => ({ controllers: () => [daemonSetController()], act }),
});

/** What happens to daemon sets, each as short as it can be: it is played once for each write and each fault. */
export const DAEMON_SCENARIOS: readonly CrashScenario[] = [
  scenario('create, add a node, remove a node, delete', async (world) => {
    const nodes = new PretendNodes();
    const { client } = world;
    await addNodes(client, 'n1');
    await client.create(DaemonSet, agent());
    await settled(world, nodes);
    await addNodes(client, 'n2');
    await settled(world, nodes);
    await client.delete(Node, { name: 'n1' });
    await settled(world, nodes);
    await client.delete(DaemonSet, AGENT);
    await settled(world, nodes);
  }),
  scenario('update two nodes, one after the other', async (world) => {
    const nodes = new PretendNodes();
    const { client } = world;
    await addNodes(client, 'n1', 'n2');
    await client.create(DaemonSet, agent({}, { revisionHistoryLimit: 0 }));
    await settled(world, nodes);
    await client.patch(DaemonSet, AGENT, setImage('agent:2'));
    await settled(world, nodes);
  }),
  scenario('update, and go back', async (world) => {
    const nodes = new PretendNodes();
    const { client } = world;
    await addNodes(client, 'n1');
    await client.create(DaemonSet, agent());
    await settled(world, nodes);
    for (const image of ['agent:2', 'agent:1']) {
      await client.patch(DaemonSet, AGENT, setImage(image));
      await settled(world, nodes);
    }
  }),
  scenario('update with surge', async (world) => {
    const nodes = new PretendNodes();
    const { client } = world;
    await addNodes(client, 'n1', 'n2');
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    await client.create(DaemonSet, agent({}, { updateStrategy: { type: 'RollingUpdate', rollingUpdate } }));
    await settled(world, nodes);
    await client.patch(DaemonSet, AGENT, setImage('agent:2'));
    await settled(world, nodes);
  }),
  scenario('pods fail', async (world) => {
    let failures = 2;
    const nodes = new PretendNodes({
      fate: ({ status }) => (status?.phase === 'Pending' && failures-- > 0 ? 'failed' : 'ready'),
    });
    await addNodes(world.client, 'n1');
    await world.client.create(DaemonSet, agent());
    await settled(world, nodes);
  }),
  scenario('adopt orphans, let strangers go', async (world) => {
    const nodes = new PretendNodes();
    const { client } = world;
    await addNodes(client, 'n1');
    await client.create(DaemonSet, agent());
    await settled(world, nodes);
    await client.delete(DaemonSet, AGENT, { propagationPolicy: 'Orphan' });
    await settled(world, nodes);
    await client.create(DaemonSet, agent());
    await settled(world, nodes);
    const { items } = await client.live.list(Pod);
    for (const { metadata } of items) {
      const key = { namespace: 'default', name: metadata.name };
      await client.patch(Pod, key, { type: 'merge', body: { metadata: { labels: { app: 'other' } } } });
    }
    await settled(world, nodes);
  }),
];

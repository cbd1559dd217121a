import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Pod } from '../../src/api/generated/core-v1.ts';
import { schedulerController } from '../../src/lab/workloads/scheduler/controller.ts';
import { TestEnv } from '../../src/testing/test-env.ts';
import { addNode, addPod } from '../support/pretend-cluster.ts';

const NODES = 40;
const PODS_PER_NODE = 10;
const TOO_MANY = 5;

describe('a scheduler with much to do', () => {
  it('lab/K7: fills every node to the last bit and gives nothing away twice, while bindings are on their way', async () => {
    await using env = await TestEnv.start({ mostRepeats: 2000 });
    const allocatable = { cpu: '4', memory: '16Gi', pods: '110' };
    for (let at = 0; at < NODES; at++) await addNode(env.client, { name: `n${at}`, allocatable });
    const count = NODES * PODS_PER_NODE + TOO_MANY;
    const requests = { cpu: '400m' };
    for (let at = 0; at < count; at++) await addPod(env.client, { name: `p${at}`, requests });
    await env.startManager({ add: [schedulerController()] });
    const { items } = await env.client.list(Pod, { namespace: 'default' });
    const byNode = Map.groupBy(items, ({ spec }) => spec.nodeName ?? '');
    const waiting = byNode.get('') ?? [];
    assert.equal(waiting.length, TOO_MANY);
    byNode.delete('');
    assert.deepEqual([...new Set([...byNode.values()].map(({ length }) => length))], [PODS_PER_NODE]);
    assert.equal(byNode.size, NODES);
    const messages = new Set(waiting.map(({ status }) => status?.conditions?.[0]?.message));
    const want = `0/${NODES} nodes are available: ${NODES} Insufficient cpu. preemption: not simulated by the lab.`;
    assert.deepEqual([...messages], [want]);
  });
});

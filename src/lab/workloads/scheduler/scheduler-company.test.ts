import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SchedulerWorld } from '../../../../test/support/scheduler-world.ts';
import { Namespace } from '../../../api/generated/core-v1.ts';

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const TWO = [{ name: 'n1' }, { name: 'n2' }];

describe('a scheduler of pods that mind each other', () => {
  it('lab/K2: keeps ports of the host apart', async () => {
    await using world = await SchedulerWorld.start(TWO);
    const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 80 }] }];
    await world.create(...['a', 'b', 'c'].map((name) => ({ name, spec: { containers } })));
    assert.deepEqual(await world.nodesOf('a', 'b', 'c'), ['n1', 'n2', undefined]);
    const want = /: 2 node\(s\) didn't have free ports for the requested pod ports\./;
    assert.match(await world.message('c'), want);
  });

  it('lab/K2: follows affinity between pods, across namespaces by their labels', async () => {
    await using world = await SchedulerWorld.start(TWO);
    await world.client.create(Namespace, { metadata: { name: 'team', labels: { kind: 'team' } } });
    const there = { nodeSelector: { [HOST]: 'n2' } };
    await world.create({ name: 'db', namespace: 'team', labels: { app: 'db' }, spec: there });
    const term = {
      labelSelector: { matchLabels: { app: 'db' } },
      namespaceSelector: { matchLabels: { kind: 'team' } },
      topologyKey: HOST,
    };
    const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
    await world.create(
      { name: 'near', spec: { affinity: { podAffinity: required } } },
      { name: 'apart', spec: { affinity: { podAntiAffinity: required } } },
    );
    assert.deepEqual(await world.nodesOf('near', 'apart'), ['n2', 'n1']);
  });

  it('lab/K7: lets a pod follow another that comes later', async () => {
    await using world = await SchedulerWorld.start();
    const term = { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: HOST };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    await world.create({ spec: { affinity } });
    assert.match(await world.message(), /1 node\(s\) didn't match pod affinity rules\./);
    await world.create({ name: 'db', labels: { app: 'db' } });
    await world.env.advance(1000);
    assert.equal(await world.nodeOf(), 'n1');
  });

  it('lab/K2: spreads pods over zones', async () => {
    const zone = (name: string) => ({ name, labels: { [ZONE]: name } });
    await using world = await SchedulerWorld.start([zone('a'), zone('b')]);
    const constraint = { maxSkew: 1, topologyKey: ZONE, labelSelector: { matchLabels: { app: 'web' } } };
    const topologySpreadConstraints = [{ ...constraint, whenUnsatisfiable: 'DoNotSchedule' as const }];
    const web = (name: string) => ({ name, labels: { app: 'web' }, spec: { topologySpreadConstraints } });
    await world.create(web('1'), web('2'));
    await world.patchNode('b', { unschedulable: true });
    await world.create(web('3'), web('4'));
    assert.deepEqual(await world.nodesOf('1', '2', '3', '4'), ['a', 'b', 'a', undefined]);
    const want = /: 1 node\(s\) didn't match pod topology spread constraints, 1 node\(s\) were unschedulable\./;
    assert.match(await world.message('4'), want);
  });
});

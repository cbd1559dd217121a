import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workerNode } from '../../../test/support/balanced-services.ts';
import { fakeProvider, usualSettings } from '../../../test/support/cloud-controllers.ts';
import { Node, Service } from '../../api/generated/core-v1.ts';
import type { Cache } from '../../kube/cache/cache.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import type { BalancerRef, LoadBalancers } from '../../sdk/capabilities/load-balancers.ts';
import { enumerateCrashPoints } from '../../testing/crash-points.ts';
import type { CrashScenario, ScenarioLife, ScenarioWorld } from '../../testing/crash-scenario.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { serviceLb } from './index.ts';

/** The cloud as one life of the program reaches it. */
function reachedBy(cloud: FakeCloud, life: ScenarioLife): LoadBalancers {
  const { loadBalancers: bare } = cloud.capabilities;
  const effect = (verb: string, { service }: BalancerRef) => ({ verb, kind: 'balancer', name: service.name });
  return {
    declare: () => bare.declare(),
    find: (ref, call) => life.look(() => bare.find(ref, call)),
    ensure: (plan, call) =>
      life.effect(effect('ensure', plan), async () => {
        await bare.ensure(plan, call);
        // The same whoever comes first.
        return { kind: 'ready', ingress: [{ hostname: `${plan.service.name}.example` }] };
      }),
    setBackends: (ref, backends, call) =>
      life.effect(effect('set', ref), () => bare.setBackends(ref, backends, call)),
    remove: (ref, call) => life.effect(effect('remove', ref), () => bare.remove(ref, call)),
  };
}

/** The parts for a manager that a scenario makes itself. */
function controllersOf(loadBalancers: LoadBalancers, life: ScenarioLife, cloud: FakeCloud): readonly Controller[] {
  let cache: Cache | undefined;
  const manager = {
    metrics: new PrometheusMetrics(),
    clock: life.clock,
    get cache() {
      return cache;
    },
  } as unknown as Manager;
  const parts = serviceLb.parts({
    manager,
    provider: fakeProvider(cloud, { loadBalancers }),
    settings: usualSettings(),
  });
  return parts.flatMap((part) =>
    'bind' in part
      ? [
          {
            ...part,
            bind: (environment) => {
              cache = environment.cache;
              return part.bind(environment);
            },
          },
        ]
      : [],
  );
}

const key = (name: string) => ({ namespace: 'default', name });

async function act({ client, converge }: ScenarioWorld): Promise<void> {
  const addNode = async (name: string) => {
    const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
    await client.create(Node, workerNode(name));
    await client.patch(
      Node,
      { name },
      { type: 'merge', body: { status: { addresses } } },
      { subresource: 'status' },
    );
  };
  const addService = (name: string, nodePort: number) =>
    client.create(Service, {
      metadata: key(name),
      spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort }] },
    });
  const patch = (name: string, spec: { type: string } | { ports: { port: number; nodePort: number }[] }) =>
    client.patch(Service, key(name), { type: 'merge', body: { spec } });
  await addNode('n1');
  await addService('kept', 30001);
  await addService('gone', 30002);
  await addService('inner', 30003);
  await converge();
  await patch('kept', { ports: [{ port: 81, nodePort: 30001 }] });
  await converge();
  await addNode('n2');
  await converge();
  await client.delete(Service, key('gone'));
  await patch('inner', { type: 'ClusterIP' });
  await converge();
}

const scenario: CrashScenario = {
  name: 'load balancers',
  start: () => {
    const cloud = new FakeCloud();
    return {
      controllers: (life) => controllersOf(reachedBy(cloud, life), life, cloud),
      act,
      inventory: () =>
        [...cloud.balancers.values()].map(({ plan, backends }) => ({
          service: plan.service.name,
          ports: plan.ports.map(({ port }) => port),
          backends: backends.map(({ nodeName }) => nodeName),
        })),
    };
  },
};

describe('the service controller, killed anywhere', () => {
  it('ccm/I2, ccm/S13: ends with the same cluster and the same balancers, whatever a crash or a lost answer left', async () => {
    const { failures, points, tried } = await enumerateCrashPoints(scenario, {
      faults: ['kill-after', 'lost-and-stale'],
    });
    assert.deepEqual(failures, []);
    // All that the story takes and nothing twice; what is outside cannot be late, so only patches are struck by both.
    const patches = ['gone|1', 'gone|2', 'gone|3', 'inner|1', 'inner|2', 'inner|3', 'kept|1', 'kept|2'];
    const calls = ['ensure gone|1', 'ensure inner|1', 'ensure kept|1', 'ensure kept|2', 'remove gone|1']
      .concat('remove inner|1', 'set gone|1', 'set inner|1', 'set kept|1')
      .map((call) => call.replace(' ', '|outside:balancer|'));
    const wanted = [...patches.map((patch) => `patch|services/status|default/${patch}`), ...calls];
    assert.deepEqual(points.toSorted(), wanted.toSorted());
    assert.equal(tried, calls.length + 2 * patches.length);
  });
});

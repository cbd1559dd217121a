import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import type { JsonObject } from '../../object/json.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { createBuiltins, priorityOf } from './builtin-registry.ts';

const clock = new VirtualClock();

async function storeWith(objects: Readonly<Record<string, JsonObject | string>>) {
  const store = createMemoryStore({ clock });
  for (const [key, object] of Object.entries(objects)) {
    await store.put(key, 0, () => Buffer.from(JSON.stringify(object)));
  }
  return store;
}

describe('createBuiltins', () => {
  it('apiserver/K7: takes what stored Services have, whatever they look like', async () => {
    const service = (spec: JsonObject): JsonObject => ({ spec });
    const store = await storeWith({
      '/registry/core/services/a/none': service({ clusterIPs: ['None'] }),
      '/registry/core/services/a/other': service({ clusterIPs: ['192.0.2.1', 7], ports: [{ nodePort: 1 }, 'x'] }),
      '/registry/core/services/a/real': service({
        clusterIPs: ['10.1.0.2'],
        ports: [{ nodePort: 30_000 }],
        healthCheckNodePort: 30_001,
      }),
      '/registry/core/services/a/twin': service({ clusterIPs: ['10.1.0.2'] }),
      '/registry/core/services/a/odd': {},
      '/registry/core/services/a/text': 'no object',
    });
    const { resources, kubernetesAddress } = createBuiltins({ store, clock, serviceRange: '10.1.0.0/29' });
    assert.equal(kubernetesAddress, '10.1.0.1');
    const services = resources.find(({ plural }) => plural === 'services') ?? assert.fail();
    const context = { now: clock.now(), isDryRun: false, subresource: '', user: { name: '', groups: [] } };
    const taken = (spec: JsonObject) => {
      const object = { metadata: { name: 'x' }, spec };
      services.strategy.allocate?.(object, undefined, context);
    };
    const base = { type: 'NodePort', ports: [{ port: 1, protocol: 'TCP', nodePort: 30_000 }] };
    assert.throws(() => taken(base), /already allocated/);
    assert.throws(
      () => taken({ type: 'ClusterIP', clusterIP: '10.1.0.2', clusterIPs: ['10.1.0.2'] }),
      /already allocated/,
    );
  });
});

describe('priorityOf', () => {
  it('finds a class by name, or the default one', async () => {
    const prefix = '/registry/scheduling.k8s.io/priorityclasses';
    const store = await storeWith({
      [`${prefix}/high`]: { metadata: { name: 'high' }, value: 9, preemptionPolicy: 'Never' },
      [`${prefix}/usual`]: { metadata: { name: 'usual' }, globalDefault: true },
    });
    assert.deepEqual(priorityOf(store, 'high'), { name: 'high', value: 9, preemptionPolicy: 'Never' });
    assert.deepEqual(priorityOf(store, ''), { name: 'usual', value: 0, preemptionPolicy: 'PreemptLowerPriority' });
    assert.equal(priorityOf(store, 'none'), undefined);
  });
});

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { CustomResourceDefinition } from '../../../src/api/generated/apiextensions-v1.ts';
import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { applySet } from '../../../src/kube/apply/apply-set.ts';
import { patcher } from '../../../src/kube/apply/patcher.ts';
import { isApplyConflict } from '../../../src/kube/client/api-error.ts';
import { createRestMapper } from '../../../src/kube/client/rest-mapper.ts';
import { mutable } from '../../../src/object/mutable.ts';
import type { RuntimeSuite } from '../../support/runtime-servers.ts';
import { failureOf } from '../../support/transport-world.ts';
import { Gadget, gadgetOf } from './gadget.ts';

const Later = gadgetOf('applyset');

/** Server-side apply, sets, and that no field is ever lost. */
export const applySuite: RuntimeSuite = (world) => {
  let namespace: string;
  before(async () => {
    namespace = await world().namespace();
    await world().define(Gadget);
  });
  const key = (name: string) => ({ namespace, name });

  it('runtime/A5: apply creates, takes back what is no longer said, and writes nothing when nothing changes', async () => {
    const { client } = world();
    const first = await client.apply(Gadget, { metadata: key('a'), spec: { size: 3, color: 'red' } });
    const again = await client.apply(Gadget, { metadata: key('a'), spec: { size: 3, color: 'red' } });
    assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
    const less = await client.apply(Gadget, { metadata: key('a'), spec: { size: 4 } });
    assert.deepEqual(less.spec, { size: 4 });
    // What comes from a read is said without what only the server says.
    const mirrored = await client.apply(Gadget, less);
    assert.deepEqual(mirrored.spec, { size: 4 });
    const managers = mirrored.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`);
    assert.deepEqual(managers, ['test Apply']);
  });

  it('runtime/A5: two managers share an object, and lists by their keys', async () => {
    const { client } = world();
    await client.apply(Gadget, { metadata: key('b'), spec: { ports: [{ port: 1, name: 'one' }] } });
    const both = await client
      .as('other')
      .apply(Gadget, { metadata: key('b'), spec: { ports: [{ port: 2 }], color: 'blue' } });
    assert.deepEqual(both.spec.ports, [{ port: 1, name: 'one' }, { port: 2 }]);
    const status = { note: 'well', replicas: 2 };
    const shown = await client.applyStatus(Gadget, { metadata: key('b'), status });
    assert.deepEqual([shown.status, shown.spec.color], [status, 'blue']);
  });

  it('runtime/A3: sample 18: a field of another manager is refused with its path, and nothing is overwritten', async () => {
    const { client } = world();
    await client.apply(Gadget, { metadata: key('c'), spec: { color: 'red' } });
    const refused = await failureOf(
      client.as('other').apply(Gadget, { metadata: key('c'), spec: { color: 'blue' } }),
    );
    assert.ok(isApplyConflict(refused), String(refused));
    assert.equal(refused.message, 'Apply failed with 1 conflict: conflict with "test": .spec.color');
    assert.deepEqual(refused.details.causes, [
      { reason: 'FieldManagerConflict', message: 'conflict with "test"', field: '.spec.color' },
    ]);
    assert.equal((await client.get(Gadget, key('c'))).spec.color, 'red');
    const taken = await client
      .as('other')
      .apply(Gadget, { metadata: key('c'), spec: { color: 'blue' } }, { force: true });
    assert.equal(taken.spec.color, 'blue');
  });

  it('runtime/K10: no field is lost on the way through the client', async () => {
    const { client } = world();
    const extra = {
      big: 9_007_199_254_740_993n,
      least: -9_223_372_036_854_775_808n,
      fraction: 0.1,
      // A key that would be the prototype of a careless copy.
      ['__proto__']: { polluted: true },
      'dotted.key/with~signs': [null, false, '', [], {}, { '': 0 }],
      text: 'ключ \u0000 \u{1F680} "quoted" \\ ',
    };
    const created = await client.create(Gadget, { metadata: key('big'), spec: { extra } } as never);
    assert.deepEqual(created.spec.extra, extra);
    const read = await client.get(Gadget, key('big'));
    const draft = mutable(read);
    draft.metadata.labels = { touched: 'yes' };
    const updated = await client.update(Gadget, draft as never);
    assert.deepEqual(updated.spec.extra, extra);
    const patched = await client.patch(Gadget, key('big'), { type: 'merge', body: { spec: { size: 2 } } });
    assert.deepEqual(patched.spec.extra, extra);
    const [listed] = (await client.list(Gadget, { namespace, labels: 'touched=yes' })).items;
    assert.deepEqual(listed?.spec.extra, extra);
  });

  it('runtime/H4: a patcher sends what changed and keeps the conditions of others', async () => {
    const { client } = world();
    const object = await client.create(Gadget, { metadata: key('patched'), spec: {} });
    const condition = (type: string) => ({
      type,
      status: 'True' as const,
      reason: 'Because',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    const ours = patcher(client, Gadget, object);
    ours.draft.spec.size = 5;
    ours.draft.status = { conditions: [condition('Ours')] };
    const theirs = patcher(client, Gadget, object);
    theirs.draft.status = { conditions: [condition('Theirs')] };
    await theirs.patch();
    const after = await ours.patch({ ownedConditions: ['Ours'] });
    assert.equal(after.spec.size, 5);
    assert.deepEqual(after.status?.conditions?.map(({ type }) => type).toSorted(), ['Ours', 'Theirs']);
  });

  it('runtime/H5: a set is applied in order, with the objects of a kind that it defines, and pruned', async () => {
    const { client, clock } = world();
    const mapper = createRestMapper(client, clock);
    const labels = { set: world().unique('set') };
    const map = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: key(name) });
    const later = {
      apiVersion: 'applyset.runtime.slipway.test/v1',
      kind: 'Gadget',
      metadata: key('l'),
      spec: { size: 9 },
    };
    const definition = Later.toCRD() as unknown as KubeObject;
    const apply = (objects: readonly KubeObject[]) =>
      applySet({ client, mapper, clock }, objects, { prune: { labels, kinds: [ConfigMap, Later] } as never });
    try {
      const first = await apply([later, map('x'), map('y'), definition]);
      assert.deepEqual(first.applied.map(({ kind, name, result }) => `${kind} ${name} ${result}`).slice(0, 1), [
        `CustomResourceDefinition ${definition.metadata.name} created`,
      ]);
      assert.ok(first.applied.every(({ result }) => result === 'created'));
      const second = await apply([later, map('x'), definition]);
      assert.ok(second.applied.every(({ result }) => result === 'unchanged'));
      assert.deepEqual(
        second.pruned.map(({ kind, name }) => `${kind} ${name}`),
        ['ConfigMap y'],
      );
      assert.equal((await client.get(Later, key('l'))).spec.size, 9);
    } finally {
      await client.delete(CustomResourceDefinition, { name: definition.metadata.name });
    }
  });
};

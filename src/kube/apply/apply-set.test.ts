import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClientWorld, clientWorld } from '../../../test/support/kube-client.ts';
import { customDefinition } from '../../../test/support/served-api.ts';
import { ConfigMap, Secret } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { isControlledBy } from '../../object/owner-references.ts';
import { isNoMatch } from '../client/api-error.ts';
import { createRestMapper, type RestMapper } from '../client/rest-mapper.ts';
import { applyObject } from './apply-object.ts';
import { inApplyOrder } from './apply-order.ts';
import { type ApplySetResult, applySet } from './apply-set.ts';
import { mixedOwnership } from './mixed-ownership.ts';

const LABELS = { set: 'one' };

async function world(): Promise<ClientWorld & { readonly mapper: RestMapper; readonly owner: ConfigMap }> {
  const made = await clientWorld();
  const { client, clock, namespace } = made;
  const owner = await client.create(ConfigMap, { metadata: { namespace, name: 'owner' } });
  return { ...made, mapper: createRestMapper(client, clock), owner };
}

const map = (namespace: string, name: string, data: object = {}): KubeObject & { readonly data: object } => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  data,
});

const shown = ({ applied, pruned }: ApplySetResult): readonly string[] => [
  ...applied.map(({ kind, name, result }) => `${kind} ${name} ${result}`),
  ...pruned.map(({ kind, name }) => `${kind} ${name} pruned`),
];

describe('applySet', () => {
  it('runtime/H5: applies in the order of dependency and says what happened to each', async () => {
    const context = await world();
    const { namespace, owner, client } = context;
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 's' } };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'a' } };
    const options = { owner, prune: { labels: LABELS } };
    const first = await applySet(context, [map(namespace, 'm', { a: '1' }), secret, account], options);
    assert.deepEqual(shown(first), ['ServiceAccount a created', 'ConfigMap m created', 'Secret s created']);
    const second = await applySet(context, [map(namespace, 'm', { a: '2' }), secret, account], options);
    assert.deepEqual(shown(second), ['ServiceAccount a unchanged', 'ConfigMap m changed', 'Secret s unchanged']);
    const object = await client.get(ConfigMap, { namespace, name: 'm' });
    assert.ok(isControlledBy(object, owner));
    assert.deepEqual(object.metadata.labels, LABELS);
  });

  it('runtime/H5: waits for a definition before it applies what it defines', async () => {
    const context = await world();
    const { namespace } = context;
    await context.mapper.kindFor({ apiVersion: 'v1', kind: 'ConfigMap' });
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      ...customDefinition('setparts', 'SetPart'),
    } as unknown as KubeObject;
    const part = { apiVersion: 't.io/v1', kind: 'SetPart', metadata: { namespace, name: 'p' } };
    const result = await applySet(context, [part, definition]);
    assert.deepEqual(shown(result), ['CustomResourceDefinition setparts.t.io created', 'SetPart p created']);
    assert.equal((await applyObject(context, part, { force: true })).kind, 'SetPart');
    const unknown = applyObject(context, { ...part, kind: 'Unheard' });
    await assert.rejects(unknown, (error) => isNoMatch(error));
  });

  it('runtime/H5: prunes by labels and owner what the set has no more, and nothing of others', async () => {
    const context = await world();
    const { namespace, owner, client } = context;
    const prune = { labels: LABELS, kinds: [Secret] };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 's' } };
    await applySet(context, [map(namespace, 'm'), map(namespace, 'n'), secret], { owner, prune });
    await client.create(ConfigMap, { metadata: { namespace, name: 'foreign', labels: LABELS } });
    const result = await applySet(context, [map(namespace, 'm')], { owner, prune });
    assert.deepEqual(shown(result), ['ConfigMap m unchanged', 'Secret s pruned', 'ConfigMap n pruned']);
    assert.ok(await client.find(ConfigMap, { namespace, name: 'foreign' }));
    assert.deepEqual(shown(await applySet(context, [map(namespace, 'm')], { owner, prune })), [
      'ConfigMap m unchanged',
    ]);
  });

  it('runtime/H5: prunes by an inventory', async () => {
    const context = await world();
    const { namespace, owner } = context;
    const { applied } = await applySet(context, [map(namespace, 'm'), map(namespace, 'n')], { owner });
    const ghost = { apiVersion: 'gone.io/v1', kind: 'Ghost', namespace, name: 'g' };
    const inventory = [...applied, { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'owner' }, ghost];
    const result = await applySet(context, [map(namespace, 'm')], { owner, prune: { inventory } });
    assert.deepEqual(shown(result), ['ConfigMap m unchanged', 'ConfigMap n pruned']);
  });

  it('reliability/P32: prunes nothing when something was not applied, or cannot be listed', async () => {
    const context = await world();
    const { namespace, owner, client } = context;
    const prune = { labels: LABELS };
    await applySet(context, [map(namespace, 'm'), map(namespace, 'n')], { owner, prune });
    const bad = { ...map(namespace, 'Bad Name') };
    await assert.rejects(applySet(context, [map(namespace, 'm'), bad], { owner, prune }), { reason: 'Invalid' });
    const failing = {
      ...context,
      client: {
        ...client,
        live: {
          ...client.live,
          listAll: () => {
            throw new Error('no answer');
          },
        },
      },
    };
    await assert.rejects(applySet(failing, [map(namespace, 'm')], { owner, prune }), { message: 'no answer' });
    assert.ok(await client.find(ConfigMap, { namespace, name: 'n' }));
    await assert.rejects(applySet(context, [], { prune: {} }), { reason: 'InvalidPrune' });
  });

  it('takes no object from another controller, and builds on none that goes', async () => {
    const context = await world();
    const { namespace, owner, client } = context;
    const other = await client.create(ConfigMap, { metadata: { namespace, name: 'other' } });
    await applySet(context, [map(namespace, 'm')], { owner: other });
    await assert.rejects(applySet(context, [map(namespace, 'm')], { owner }), { reason: 'AlreadyOwned' });
    await client.create(ConfigMap, { metadata: { namespace, name: 'dying', finalizers: ['t.io/f'] } });
    await client.delete(ConfigMap, { namespace, name: 'dying' });
    await assert.rejects(applySet(context, [map(namespace, 'dying')]), { reason: 'ObjectTerminating' });
  });

  for (const [what, objects, message] of [
    ['without a name', [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }], /objects\[0\] must have/],
    ['without metadata', [{ apiVersion: 'v1', kind: 'ConfigMap' }], /objects\[0\] must have/],
    ['without a kind', [map('a', 'b'), { apiVersion: 'v1', metadata: { name: 'x' } }], /objects\[1\] must have/],
    ['that is there twice', [map('a', 'b'), map('a', 'b')], /objects\[1\]: ConfigMap a\/b is there twice/],
  ] as const) {
    it(`runtime/H5: sends nothing of a set with an object ${what}`, async () => {
      const context = await world();
      context.sent.length = 0;
      const applying = applySet(context, objects as readonly unknown[] as readonly KubeObject[]);
      await assert.rejects(applying, { reason: 'InvalidObject', message });
      assert.deepEqual(context.sent, []);
    });
  }

  it('runtime/H5: orders namespaces, definitions, roles, configuration, workloads, others, webhooks', () => {
    const kinds = [
      'ValidatingWebhookConfiguration',
      'Widget',
      'Deployment',
      'Secret',
      'RoleBinding',
      'CustomResourceDefinition',
      'Namespace',
    ];
    assert.deepEqual(
      inApplyOrder(kinds.map((kind) => ({ kind }))).map(({ kind }) => kind),
      kinds.toReversed(),
    );
  });
});

describe('mixedOwnership', () => {
  it('runtime/10.2: finds the fields that one manager both applied and updated', async () => {
    const { client, namespace } = await clientWorld();
    const key = { namespace, name: 'a' };
    const applied = await client.apply(ConfigMap, { metadata: key, data: { a: '1', b: '1' } });
    assert.deepEqual(mixedOwnership(applied, client.fieldManager), []);
    const marked = await client.patch(ConfigMap, key, {
      type: 'merge',
      body: { metadata: { labels: { x: 'y' } } },
    });
    assert.deepEqual(mixedOwnership(marked, client.fieldManager), []);
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { a: '2' } } });
    const both = await client.apply(ConfigMap, { metadata: key, data: { a: '2' } });
    assert.deepEqual(mixedOwnership(both, client.fieldManager), ['.data.a']);
    assert.deepEqual(mixedOwnership(both, 'somebody'), []);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { clientWorld, scriptedClient } from '../../../test/support/kube-client.ts';
import { customDefinition, sharedApi } from '../../../test/support/served-api.ts';
import { recordedLog } from '../../../test/support/store.ts';
import { Deployment } from '../../api/generated/apps-v1.ts';
import { ConfigMap, Namespace, Pod, ServiceAccount } from '../../api/generated/core-v1.ts';
import type { Json, JsonObject } from '../../api/json.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { jsonEqual } from '../../object/json.ts';
import { isApplyConflict, isConflict, isNotFound, isTooManyRequests } from './api-error.ts';
import type { WriteObserver } from './kube-client.ts';

function recorder(): { readonly observer: WriteObserver; readonly told: string[] } {
  const told: string[] = [];
  const observer: WriteObserver = {
    wrote: (kind, { metadata }) => void told.push(`wrote ${kind.kind} ${metadata.name}`),
    deleted: (kind, { name }, object, uid) =>
      void told.push(`deleted ${kind.kind} ${name} ${object !== undefined} ${uid !== undefined}`),
  };
  return { observer, told };
}

const pod = (namespace: string, name: string) => ({
  metadata: { namespace, name },
  spec: { containers: [{ name: 'c', image: 'i' }] },
});

describe('createClient', () => {
  it('creates, updates, patches, applies and deletes, each under its field manager', async () => {
    const { client, namespace, sent } = await clientWorld();
    const key = { namespace, name: 'a' };
    const made = await client.create(ConfigMap, { metadata: key, data: { a: '1' } });
    const updated = await client.update(ConfigMap, { ...made, data: { a: '2' } });
    await assert.rejects(client.update(ConfigMap, { ...made, data: { a: '3' } }), (error) => isConflict(error));
    assert.deepEqual(updated.data, { a: '2' });
    const merged = await client.patch(ConfigMap, key, { type: 'merge', body: { data: { b: '1' } } });
    const strategic = await client.patch(ConfigMap, key, { type: 'strategic', body: { data: { c: '1' } } });
    const ops = [
      { op: 'remove', path: '/data/a' },
      { op: 'add', path: '/data/d', value: '1' },
    ];
    const patched = await client.as('test/two').patch(ConfigMap, key, { type: 'json', body: ops });
    assert.deepEqual(
      [merged.data, strategic.data, patched.data],
      [
        { a: '2', b: '1' },
        { a: '2', b: '1', c: '1' },
        { b: '1', c: '1', d: '1' },
      ],
    );
    assert.deepEqual(
      new Set(patched.metadata.managedFields?.map(({ manager }) => manager)),
      new Set(['test/one', 'test/two']),
    );
    await client.delete(ConfigMap, key);
    await client.delete(ConfigMap, key);
    assert.equal(await client.find(ConfigMap, key), undefined);
    assert.equal(sent[0]?.headers?.['user-agent'], 'slipway');
  });

  it('runtime/A5: applies with identity and manager, never managedFields, a version only when asked', async () => {
    const { client, namespace, sent } = await clientWorld();
    const first = await client.apply(ConfigMap, { metadata: { namespace, name: 'a' }, data: { a: '1' } });
    const again = await client.apply(ConfigMap, first);
    assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
    const { headers, target, body, isIdempotent } = sent.at(-1) ?? {};
    const { apiVersion, kind, metadata } = JSON.parse(String(body));
    assert.equal(headers?.['content-type'], 'application/apply-patch+yaml');
    assert.match(target ?? '', /\?fieldManager=test%2Fone$/);
    assert.deepEqual([apiVersion, kind, metadata.name, isIdempotent], ['v1', 'ConfigMap', 'a', true]);
    assert.deepEqual([metadata.managedFields, metadata.resourceVersion], [undefined, undefined]);
    const stale = { ...first, metadata: { ...first.metadata, resourceVersion: '1' } };
    await assert.rejects(client.apply(ConfigMap, stale, { optimisticLock: true }), (error) => isConflict(error));
    const nobody = client.as('').apply(ConfigMap, first);
    await assert.rejects(nobody, { reason: 'FieldManagerMissing' });
  });

  it('tells who applies what another manager has, and takes it only by force (sample case 18)', async () => {
    const { client, namespace } = await clientWorld();
    const config = (value: string) => ({ metadata: { namespace, name: 'a' }, data: { a: value } });
    await client.apply(ConfigMap, config('1'));
    const other = client.as('test/two');
    await assert.rejects(
      other.apply(ConfigMap, config('2')),
      (error) => isApplyConflict(error) && error.details.causes?.[0]?.field === '.data.a',
    );
    assert.deepEqual((await client.get(ConfigMap, { namespace, name: 'a' })).data, { a: '1' });
    assert.deepEqual((await other.apply(ConfigMap, config('2'), { force: true })).data, { a: '2' });
  });

  it('writes status apart from spec', async () => {
    const { client, namespace } = await clientWorld();
    const made = await client.create(Pod, pod(namespace, 'p'));
    const status = { ...made.status, message: 'hello' };
    assert.equal((await client.updateStatus(Pod, { ...made, status })).status?.message, 'hello');
    const config = { metadata: { namespace, name: 'p' }, status: { nominatedNodeName: 'n' } };
    assert.equal((await client.applyStatus(Pod, config)).status?.nominatedNodeName, 'n');
  });

  it('runtime/I20: tells observers of every write that succeeded, and of no dry run', async () => {
    const { observer, told } = recorder();
    const { client, namespace } = await clientWorld({ observer });
    const key = { namespace, name: 'a' };
    const dryRun = { dryRun: true };
    await client.create(ConfigMap, { metadata: key }, dryRun);
    const made = await client.create(ConfigMap, { metadata: { ...key, finalizers: ['t.io/f'] } });
    await client.patch(ConfigMap, key, { type: 'merge', body: {} }, dryRun);
    await client.delete(ConfigMap, key, dryRun);
    await assert.rejects(client.create(ConfigMap, { metadata: key }));
    assert.deepEqual(told.splice(0), ['wrote ConfigMap a']);
    await client.delete(ConfigMap, key);
    await client.removeFinalizer(ConfigMap, made, 't.io/f');
    await client.delete(ConfigMap, key);
    // Waiting for a finalizer it is still there; what takes the last one takes the object.
    assert.deepEqual(told.splice(0), ['wrote ConfigMap a', 'deleted ConfigMap a true true']);
    await client.create(ConfigMap, { metadata: { ...key, labels: { a: 'b' } } });
    await client.deleteAllOf(ConfigMap, { namespace, labels: { a: 'b' } });
    await client.create(ConfigMap, { metadata: key });
    await client.delete(ConfigMap, key);
    assert.deepEqual(told.splice(0), [
      'wrote ConfigMap a',
      'deleted ConfigMap a true true',
      'wrote ConfigMap a',
      'deleted ConfigMap a false true',
    ]);
    const space = `${namespace}-gone`;
    await client.create(Namespace, { metadata: { name: space } });
    await client.delete(Namespace, { name: space });
    assert.deepEqual(told, [`wrote Namespace ${space}`, `wrote Namespace ${space}`]);
  });

  it('lets a write succeed whose observer fails', async () => {
    const { log, lines } = recordedLog();
    const fail = (): void => {
      throw new Error('broken');
    };
    const { client, namespace } = await clientWorld({ log, observer: { wrote: fail, deleted: fail } });
    await client.create(ConfigMap, { metadata: { namespace, name: 'a' } });
    assert.deepEqual(
      lines.map(({ level, message }) => [level, message]),
      [['error', 'An observer of writes failed']],
    );
  });

  it('scales, evicts, makes tokens, and reads any path', async () => {
    const { observer, told } = recorder();
    const { client, namespace } = await clientWorld({ observer });
    const labels = { app: 'x' };
    const template = { metadata: { labels }, spec: pod('', '').spec };
    const metadata = { namespace, name: 'd' };
    await client.create(Deployment, { metadata, spec: { selector: { matchLabels: labels }, template } });
    assert.equal((await client.scale(Deployment, metadata, 3)).spec?.replicas, 3);
    assert.equal((await client.subresource('scale').get(Deployment, metadata)).kind, 'Scale');
    assert.equal((await client.get(Deployment, metadata)).spec?.replicas, 3);
    await client.create(Pod, pod(namespace, 'p'));
    told.length = 0;
    const status = { type: 'merge', body: { status: { message: 'x' } } } as const;
    await client.subresource('status').patch(Pod, { namespace, name: 'p' }, status);
    assert.deepEqual(told, ['wrote Pod p']);
    await client.evict({ namespace, name: 'p' });
    await client.evict({ namespace, name: 'never-there' });
    await client.create(ServiceAccount, { metadata: { namespace, name: 'robot' } });
    const { token } = await client.createToken({ namespace, name: 'robot' }, { expirationSeconds: 3600 });
    assert.equal(token.split('.').length, 3);
    const version = (await client.raw('/version')) as JsonObject;
    assert.equal(version['major'], '1');
    await assert.rejects(client.raw('version?token=x'), { reason: 'InvalidPath', message: /found version$/ });
    await assert.rejects(client.raw('/nowhere'), { reason: 'NoMatch' });
  });

  it('says that a budget does not allow an eviction', async () => {
    const { client } = scriptedClient(() => ({
      status: 429,
      body: { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'Cannot evict pod' },
    }));
    await assert.rejects(client.evict({ namespace: 'a', name: 'b' }), (error) => isTooManyRequests(error));
  });

  it('sends nothing that cannot be meant', async () => {
    const { client, sent } = scriptedClient(() => ({ body: {} }));
    const widget: Kind = { group: 'ex.io', version: 'v1', kind: 'W', plural: 'ws', scope: 'Namespaced' };
    const key = { namespace: 'a', name: 'b' };
    for (const [call, reason] of [
      [client.create(ConfigMap, { kind: 'Secret', metadata: key } as never), 'WrongKind'],
      [client.create(ConfigMap, { metadata: { name: 'b' } }), 'NamespaceMissing'],
      [client.update(ConfigMap, { metadata: { namespace: 'a' } } as never), 'InvalidKey'],
      [client.deleteAllOf(ConfigMap, {}), 'NamespaceMissing'],
      [client.patch(widget, key, { type: 'strategic', body: {} }), 'UnsupportedPatch'],
    ] as const) {
      await assert.rejects(call, { reason });
    }
    assert.deepEqual(sent, []);
  });

  it('fails with NotFound where a namespace is missing, and takes nothing for nothing', async () => {
    const { client } = await clientWorld();
    const lost = client.create(ConfigMap, { metadata: { namespace: 'no-such', name: 'a' } });
    await assert.rejects(lost, (error) => isNotFound(error));
    const empty = scriptedClient(() => ({ status: 200 }), { log: SILENT_LOG });
    assert.equal(await empty.client.raw('/readyz'), undefined);
  });
});

describe('objects', () => {
  const scalar = fc.oneof(
    fc.constant(true),
    fc.integer(),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
    fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
    fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
  );
  const key = fc.oneof(
    fc.constantFrom('__proto__', 'constructor', 'a/b', '\\', '\n', '"', ''),
    fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.toWellFormed()),
  );
  const { value } = fc.letrec<{ value: Json; object: Json; list: Json }>((tie) => ({
    value: fc.oneof({ maxDepth: 5 }, scalar, tie('object'), tie('list')),
    object: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    list: fc.array(tie('value'), { maxLength: 4 }),
  }));

  it('runtime/K10: lose no field on the way to the server and back: create, get, update, get, watch', async () => {
    const api = await sharedApi();
    const loose = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: loose } } };
    await api.define(customDefinition('anythings', 'Anything', [{ name: 'v1', more: { schema } }]));
    const Anything: Kind<KubeObject & { readonly spec: JsonObject }, object> = {
      group: 't.io',
      version: 'v1',
      kind: 'Anything',
      plural: 'anythings',
      scope: 'Namespaced',
    };
    const { client, namespace } = await clientWorld();
    let count = 0;
    const same = (found: { readonly spec: JsonObject }, expected: JsonObject): void =>
      assert.ok(jsonEqual(found.spec, expected));
    await fc.assert(
      fc.asyncProperty(value, value, async (first, second) => {
        const metadata = { namespace, name: `any-${++count}` };
        const made = await client.create(Anything, { metadata, spec: { first } });
        same(made, { first });
        same(await client.get(Anything, metadata), { first });
        same(await client.update(Anything, { ...made, spec: { first, second } }), { first, second });
        const { items, metadata: list } = await client.list(Anything, {
          namespace,
          fields: `metadata.name=${metadata.name}`,
        });
        for (const item of items) same(item, { first, second });
        assert.ok(list.resourceVersion);
        for await (const { object } of client.live.watch(Anything, {
          namespace,
          fields: `metadata.name=${metadata.name}`,
        })) {
          same(object as typeof made, { first, second });
          break;
        }
      }),
      { numRuns: 40 },
    );
  });
});

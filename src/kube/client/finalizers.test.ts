import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientWorld, scriptedClient } from '../../../test/support/kube-client.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { isConflict, isNotFound } from './api-error.ts';

const MINE = 'slipway.dev/mine';
const OTHER = 'slipway.dev/other';

async function world() {
  const { client, namespace, sent } = await clientWorld();
  const key = { namespace, name: 'a' };
  const object = await client.create(ConfigMap, { metadata: { ...key, finalizers: [OTHER] } });
  sent.length = 0;
  const free = (): Promise<unknown> =>
    client.patch(ConfigMap, key, { type: 'merge', body: { metadata: { finalizers: null } } });
  return { client, key, object, sent, free };
}

describe('finalizers', () => {
  it('runtime/H2: are added once, beside those of others', async () => {
    const { client, object, sent } = await world();
    const added = await client.addFinalizer(ConfigMap, object, MINE);
    assert.deepEqual(added.metadata.finalizers, [OTHER, MINE]);
    assert.equal(sent.length, 1);
    assert.equal(await client.addFinalizer(ConfigMap, added, MINE), added);
    assert.equal(sent.length, 1);
    await client.removeFinalizer(ConfigMap, added, MINE);
    await client.removeFinalizer(ConfigMap, object, MINE);
    assert.equal(sent.length, 2);
  });

  it('runtime/H2: are never added to an object that is being deleted, also when the caller does not know it', async () => {
    const { client, key, object, sent, free } = await world();
    await client.delete(ConfigMap, key);
    const dying = await client.get(ConfigMap, key);
    sent.length = 0;
    assert.equal(await client.addFinalizer(ConfigMap, dying, MINE), dying);
    assert.deepEqual(sent, []);
    const newest = await client.addFinalizer(ConfigMap, object, MINE);
    assert.deepEqual(newest.metadata.finalizers, [OTHER]);
    assert.ok(newest.metadata.deletionTimestamp);
    await free();
  });

  it('runtime/H2: keep what somebody else adds or removes meanwhile', async () => {
    const { client, key, object } = await world();
    await client.addFinalizer(ConfigMap, object, 'slipway.dev/third');
    const added = await client.addFinalizer(ConfigMap, object, MINE);
    assert.deepEqual(added.metadata.finalizers, [OTHER, 'slipway.dev/third', MINE]);
    await client.removeFinalizer(ConfigMap, added, OTHER);
    await client.removeFinalizer(ConfigMap, added, MINE);
    assert.deepEqual((await client.get(ConfigMap, key)).metadata.finalizers, ['slipway.dev/third']);
    const { resourceVersion: _version, ...metadata } = added.metadata;
    await client.removeFinalizer(ConfigMap, { ...added, metadata }, 'slipway.dev/third');
    assert.equal((await client.get(ConfigMap, key)).metadata.finalizers, undefined);
  });

  it('runtime/H2: removal succeeds when the object is gone or replaced; adding does not', async () => {
    const { client, key, object, free } = await world();
    await free();
    await client.delete(ConfigMap, key);
    await client.removeFinalizer(ConfigMap, object, OTHER);
    await assert.rejects(client.addFinalizer(ConfigMap, object, MINE), (error) => isNotFound(error));
    const fresh = await client.create(ConfigMap, { metadata: { ...key, finalizers: [OTHER] } });
    await client.removeFinalizer(ConfigMap, object, OTHER);
    assert.deepEqual((await client.get(ConfigMap, key)).metadata.finalizers, [OTHER]);
    await assert.rejects(client.addFinalizer(ConfigMap, object, MINE), { reason: 'ObjectReplaced' });
    const { resourceVersion: _version, ...metadata } = fresh.metadata;
    await free();
    await client.delete(ConfigMap, key);
    await client.removeFinalizer(ConfigMap, { ...fresh, metadata }, OTHER);
  });

  it('gives up after five conflicts', async () => {
    const metadata = { namespace: 'a', name: 'b', resourceVersion: '1' };
    const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    const { client, sent } = scriptedClient(({ method }) =>
      method === 'GET'
        ? { body: object }
        : { status: 409, body: { kind: 'Status', code: 409, reason: 'Conflict' } },
    );
    await assert.rejects(client.addFinalizer(ConfigMap, object, MINE), (error) => isConflict(error));
    assert.equal(sent.filter(({ method }) => method === 'PATCH').length, 5);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientWorld, collect } from '../../../test/support/kube-client.ts';
import { ConfigMap, Namespace, Pod, ServiceAccount } from '../../api/generated/core-v1.ts';
import { dryRunClient, namespacedClient, strictClient } from './client-wrappers.ts';

describe('dryRunClient', () => {
  it('runtime/A9: lets the server check every write, and stores none', async () => {
    const { client, namespace, sent } = await clientWorld();
    const key = { namespace, name: 'a' };
    const there = await client.create(ConfigMap, { metadata: key });
    const before = there.metadata.resourceVersion;
    const dry = dryRunClient(client).as('test/dry');
    const config = { ...there, data: { a: 'b' } };
    sent.length = 0;
    assert.deepEqual((await dry.update(ConfigMap, config)).data, { a: 'b' });
    await dry.create(ConfigMap, { metadata: { namespace, name: 'other' } });
    await dry.patch(ConfigMap, key, { type: 'merge', body: { data: { a: 'c' } } });
    await dry.apply(ConfigMap, config, { force: true });
    await dry.addFinalizer(ConfigMap, there, 't.io/x');
    await dry.removeFinalizer(
      ConfigMap,
      { ...there, metadata: { ...there.metadata, finalizers: ['t.io/x'] } },
      't.io/x',
    );
    await dry.delete(ConfigMap, key);
    await dry.deleteAllOf(ConfigMap, { namespace });
    const status = { metadata: { namespace, name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const pod = await client.create(Pod, status);
    await dry.updateStatus(Pod, pod);
    await dry.applyStatus(Pod, { metadata: { namespace, name: 'p' }, status: { message: 'x' } });
    await dry
      .subresource('status')
      .patch(Pod, { namespace, name: 'p' }, { type: 'merge', body: { status: { message: 'x' } } });
    await dry.evict({ namespace, name: 'p' });
    const writes = sent.filter(
      ({ method, target }) => method !== 'GET' && !target.includes('fieldManager=test%2Fone'),
    );
    assert.ok(writes.length >= 12);
    for (const { target, body, method } of writes) {
      assert.match(`${target} ${String(body)}`, /dryRun=All|"dryRun":\["All"\]/, `${method} ${target}`);
    }
    assert.equal((await dry.get(ConfigMap, key)).metadata.resourceVersion, before);
    assert.equal(
      (await client.get(Pod, { namespace, name: 'p' })).metadata.resourceVersion,
      pod.metadata.resourceVersion,
    );
    assert.equal(await client.find(ConfigMap, { namespace, name: 'other' }), undefined);
    await assert.rejects(dry.createToken({ namespace, name: 'default' }), { reason: 'DryRun' });
    await assert.rejects(dry.raw('/api/v1/namespaces?x=y', { method: 'POST', body: {} }), { reason: 'DryRun' });
    assert.ok(await dry.raw('/version'));
  });
});

describe('namespacedClient', () => {
  it('runtime/A9: works in one namespace without naming it', async () => {
    const { client, namespace } = await clientWorld();
    const inside = namespacedClient(client, namespace);
    const made = await inside.create(ConfigMap, { metadata: { name: 'a' }, data: { a: '1' } });
    assert.equal(made.metadata.namespace, namespace);
    assert.equal((await inside.get(ConfigMap, { name: 'a' })).metadata.name, 'a');
    assert.ok((await inside.list(ConfigMap)).items.every((item) => item.metadata.namespace === namespace));
    assert.ok((await collect(inside.live.listAll(ConfigMap))).length > 0);
    await inside.apply(ConfigMap, { metadata: { name: 'a' }, data: { a: '2' } }, { force: true });
    await inside.patch(ConfigMap, { name: 'a' }, { type: 'merge', body: { data: { b: '1' } } });
    const batches = inside.live.watchBatches(ConfigMap, { fields: 'metadata.name=a' });
    for await (const [event] of batches) {
      assert.equal(event?.object.metadata.namespace, namespace);
      break;
    }
    for await (const event of inside.live.watch(ConfigMap)) {
      assert.equal(event.object.metadata.namespace, namespace);
      break;
    }
    await inside.create(ServiceAccount, { metadata: { name: 'robot' } });
    assert.ok((await inside.createToken({ name: 'robot' })).token);
    await inside.evict({ name: 'never-there' });
    await inside.deleteAllOf(ConfigMap, {});
    assert.equal(await inside.live.find(ConfigMap, { name: 'a' }), undefined);
    assert.equal((await inside.get(Namespace, { name: namespace })).metadata.name, namespace);
  });

  it('runtime/A9: refuses every other namespace before anything is sent', async () => {
    const { client, namespace, sent } = await clientWorld();
    const inside = namespacedClient(client, namespace);
    const key = { namespace: 'default', name: 'a' };
    sent.length = 0;
    for (const call of [
      inside.get(ConfigMap, key),
      inside.list(ConfigMap, { namespace: 'default' }),
      inside.create(ConfigMap, { metadata: key }),
      inside.delete(ConfigMap, key),
      inside.raw('/api/v1/namespaces/default/configmaps'),
    ]) {
      await assert.rejects(call, { reason: 'OtherNamespace' });
    }
    assert.deepEqual(sent, []);
  });
});

describe('strictClient', () => {
  it('runtime/A9: refuses fields that the kind does not have, unless a call says otherwise', async () => {
    const { client, namespace } = await clientWorld();
    const strict = strictClient(client);
    const odd = (name: string) => ({ metadata: { namespace, name }, dada: { a: 'b' } });
    await client.create(ConfigMap, odd('loose'));
    await assert.rejects(strict.create(ConfigMap, odd('strict')), {
      reason: 'BadRequest',
      message: /unknown field "dada"/,
    });
    await strict.create(ConfigMap, odd('ignored'), { fieldValidation: 'Ignore' });
  });
});

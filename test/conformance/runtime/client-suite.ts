import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { Deployment } from '../../../src/api/generated/apps-v1.ts';
import { ConfigMap, Pod, ServiceAccount } from '../../../src/api/generated/core-v1.ts';
import { PodDisruptionBudget } from '../../../src/api/generated/policy-v1.ts';
import { until } from '../../../src/kube/apply/until.ts';
import { isTooManyRequests } from '../../../src/kube/client/api-error.ts';
import { createOrPatch, createOrUpdate } from '../../../src/kube/client/create-or-update.ts';
import { jsonPatch, mergeFrom } from '../../../src/kube/client/patches.ts';
import { mutable } from '../../../src/object/mutable.ts';
import { collect } from '../../support/kube-client.ts';
import type { RuntimeSuite } from '../../support/runtime-servers.ts';
import { failureOf } from '../../support/transport-world.ts';
import { Gadget } from './gadget.ts';

/** Every verb of the client (section 4). */
export const clientSuite: RuntimeSuite = (world) => {
  let namespace: string;
  before(async () => {
    namespace = await world().namespace();
    await world().define(Gadget);
  });
  const key = (name: string) => ({ namespace, name });
  const configMap = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) =>
    world().client.create(ConfigMap, { metadata: { ...key(name), labels }, data });

  it('runtime/A1: an object is created, read, updated and deleted; one that is gone is found by nobody', async () => {
    const { client } = world();
    const created = await configMap('one', { a: '1' });
    assert.equal(created.kind, 'ConfigMap');
    assert.match(created.metadata.uid ?? '', /^[0-9a-f-]{36}$/);
    const updated = await client.update(ConfigMap, { ...created, data: { a: '2' } });
    assert.deepEqual((await client.get(ConfigMap, key('one'))).data, { a: '2' });
    assert.notEqual(updated.metadata.resourceVersion, created.metadata.resourceVersion);
    await client.delete(ConfigMap, key('one'), { preconditions: { uid: created.metadata.uid ?? '' } });
    assert.equal(await client.find(ConfigMap, key('one')), undefined);
    await client.delete(ConfigMap, key('one'));
  });

  it('runtime/A4: merge, JSON and strategic patches change what they name', async () => {
    const { client } = world();
    const before = await configMap('patched', { a: '1', b: '2' });
    const draft = mutable(before);
    draft.data = { a: '1', c: '3' };
    const locked = mergeFrom(before, draft, { optimisticLock: true });
    assert.deepEqual((await client.patch(ConfigMap, key('patched'), locked)).data, { a: '1', c: '3' });
    assert.match(String(await failureOf(client.patch(ConfigMap, key('patched'), locked))), /has been modified/);
    const operations = jsonPatch([
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'remove', path: '/data/a' },
      { op: 'add', path: '/metadata/labels', value: {} },
      { op: 'add', path: '/metadata/labels/d.io~1e', value: '4' },
    ]);
    const after = await client.patch(ConfigMap, key('patched'), operations);
    assert.deepEqual([after.data, after.metadata.labels], [{ c: '3' }, { 'd.io/e': '4' }]);
    const container = (name: string, image: string) => ({ name, image });
    const labels = { app: 'a' };
    await client.create(Deployment, {
      metadata: key('patched'),
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container('one', 'a'), container('two', 'b')] } },
      },
    } as never);
    const strategic = { spec: { template: { spec: { containers: [{ name: 'two', image: 'c' }] } } } };
    const deployment = await client.patch(Deployment, key('patched'), { type: 'strategic', body: strategic });
    const images = deployment.spec?.template.spec?.containers.map(({ name, image }) => `${name}=${image}`);
    assert.deepEqual(images?.toSorted(), ['one=a', 'two=c']);
  });

  it('runtime/A1: the status is written apart from the rest, and scale through its own subresource', async () => {
    const { client } = world();
    const created = await client.create(Gadget, { metadata: key('scaled'), spec: { size: 2 } });
    const status = { replicas: 2, note: 'two' };
    const updated = await client.updateStatus(Gadget, { ...created, spec: { size: 50 }, status });
    assert.deepEqual([updated.spec, updated.status], [{ size: 2 }, status]);
    const scale = await client.subresource('scale').get(Gadget, key('scaled'));
    assert.equal(scale.kind, 'Scale');
    const scaled = await client.scale(Gadget, key('scaled'), 7);
    assert.deepEqual([scaled.spec, scaled.status?.replicas], [{ replicas: 7 }, 2]);
    assert.deepEqual((await client.get(Gadget, key('scaled'))).spec, { size: 7 });
  });

  it('runtime/A1: a pod is evicted unless a budget forbids it', async () => {
    const { client } = world();
    const labels = { app: 'evicted' };
    await client.create(Pod, {
      metadata: { ...key('evicted'), labels },
      spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 0 },
    } as never);
    const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    await client.patch(Pod, key('evicted'), { type: 'merge', body: running }, { subresource: 'status' });
    const spec = { minAvailable: 1, selector: { matchLabels: labels } };
    await client.create(PodDisruptionBudget, { metadata: key('budget'), spec } as never);
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    };
    await client.patch(
      PodDisruptionBudget,
      key('budget'),
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
    const refused = await failureOf(client.evict(key('evicted')));
    assert.ok(isTooManyRequests(refused), String(refused));
    await client.delete(PodDisruptionBudget, key('budget'));
    await client.evict(key('evicted'));
    await client.evict(key('evicted'));
    assert.equal(await client.find(Pod, key('evicted')), undefined);
  });

  it('runtime/A1: a token of a ServiceAccount is that account', async () => {
    const { client } = world();
    await client.create(ServiceAccount, { metadata: key('robot') });
    const { token, expirationTimestamp } = await client.createToken(key('robot'), { expirationSeconds: 600 });
    assert.ok(Date.parse(expirationTimestamp) > Date.now() + 500_000);
    await using robot = await world().connect({ token });
    const review = await robot.client.raw('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      method: 'POST',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    assert.match(JSON.stringify(review), new RegExp(`"username":"system:serviceaccount:${namespace}:robot"`));
  });

  it('runtime/A1: any path can be asked for', async () => {
    const version = await world().client.raw('/version');
    assert.match(JSON.stringify(version), /"major":"1"/);
  });

  it('runtime/A1: all objects come in pages, and a selection is deleted at once', async () => {
    const { client } = world();
    const names = Array.from({ length: 7 }, (_, at) => `page-${at}`);
    for (const name of names)
      await configMap(name, {}, { set: 'pages', half: Number(name.at(-1)) < 3 ? 'a' : 'b' });
    const options = { namespace, labels: { set: 'pages' } };
    const first = await client.list(ConfigMap, { ...options, limit: 3 });
    assert.deepEqual([first.items.length, first.metadata.continue === undefined], [3, false]);
    assert.equal(first.items[0]?.kind, 'ConfigMap');
    const all = await collect(client.live.listAll(ConfigMap, { ...options, limit: 2 }));
    assert.deepEqual(
      all.map(({ metadata }) => metadata.name),
      names,
    );
    await client.deleteAllOf(ConfigMap, { namespace, labels: 'set=pages,half notin (b)' });
    const left = await client.list(ConfigMap, options);
    assert.deepEqual(
      left.items.map(({ metadata }) => metadata.name),
      names.slice(3),
    );
    const [one] = (await client.list(ConfigMap, { namespace, fields: 'metadata.name=page-5' })).items;
    assert.equal(one?.metadata.name, 'page-5');
  });

  it('runtime/I14: metadata alone is what is asked for and what comes', async () => {
    const { client } = world();
    await configMap('partial', { a: '1' });
    const one = await client.live.get(ConfigMap, key('partial'), { metadataOnly: true });
    assert.deepEqual(Object.keys(one).toSorted(), ['apiVersion', 'kind', 'metadata']);
    assert.deepEqual([one.apiVersion, one.kind], ['v1', 'ConfigMap']);
    const { items } = await client.live.list(ConfigMap, { namespace, metadataOnly: true });
    assert.ok(items.every((item) => item.kind === 'ConfigMap' && item.data === undefined));
  });

  it('runtime/H2: a finalizer is set once, holds the object, and lets it go', async () => {
    const { client } = world();
    const created = await configMap('held');
    const held = await client.addFinalizer(ConfigMap, created, 'runtime.slipway.test/f');
    const again = await client.addFinalizer(ConfigMap, held, 'runtime.slipway.test/f');
    assert.equal(again.metadata.resourceVersion, held.metadata.resourceVersion);
    await client.delete(ConfigMap, key('held'));
    const ending = await client.get(ConfigMap, key('held'));
    assert.notEqual(ending.metadata.deletionTimestamp, undefined);
    assert.deepEqual((await client.addFinalizer(ConfigMap, ending, 'x.io/y')).metadata.finalizers, [
      'runtime.slipway.test/f',
    ]);
    await client.removeFinalizer(ConfigMap, created, 'not.there/f');
    await client.removeFinalizer(ConfigMap, ending, 'runtime.slipway.test/f');
    assert.equal(await client.find(ConfigMap, key('held')), undefined);
    await client.removeFinalizer(ConfigMap, ending, 'runtime.slipway.test/f');
  });

  it('runtime/A7: createOrUpdate and createOrPatch say what they did', async () => {
    const { client } = world();
    const set = (a: string) => (draft: { data?: Record<string, string> }) => void (draft.data = { a });
    const results: string[] = [];
    for (const value of ['1', '1', '2']) {
      results.push((await createOrUpdate(client, ConfigMap, key('wanted'), set(value))).result);
    }
    const steps = [
      { size: 1 },
      { size: 1, note: 'a' },
      { size: 2, note: 'b' },
      { size: 3, note: 'b' },
      { size: 3, note: 'b' },
    ];
    for (const { size, note } of steps) {
      const { result } = await createOrPatch(client, Gadget, key('wanted'), (draft) => {
        draft.spec = { size };
        if (note !== undefined) draft.status = { note };
      });
      results.push(result);
    }
    const patches = ['created', 'updatedStatusOnly', 'updatedStatus', 'updated', 'unchanged'];
    assert.deepEqual(results, ['created', 'unchanged', 'updated', ...patches]);
  });

  it('runtime/H7: until waits for a state by watching', async () => {
    const { client, clock } = world();
    const target = { client, kind: ConfigMap, key: key('awaited') };
    const present = until(target, (object) => object?.data?.['a'] === '2', { clock, timeoutMs: 10_000 });
    const created = await configMap('awaited', { a: '1' });
    await client.update(ConfigMap, { ...created, data: { a: '2' } });
    assert.deepEqual((await present)?.data, { a: '2' });
    const gone = until(target, (object) => object === undefined, { clock, timeoutMs: 10_000 });
    await client.delete(ConfigMap, key('awaited'));
    assert.equal(await gone, undefined);
    const never = await failureOf(until(target, (object) => object !== undefined, { clock, timeoutMs: 50 }));
    assert.match(never.message, /waited 50 ms for ConfigMap .*awaited/);
  });

  it('runtime/I1: a watch begins with the initial state and its end, and ends when the server says so', async () => {
    const { client } = world();
    await configMap('watched', {}, { set: 'watch' });
    const events: string[] = [];
    const options = { namespace, labels: 'set=watch', sendInitialEvents: true, allowBookmarks: true } as const;
    const watch = client.live.watch(ConfigMap, {
      ...options,
      resourceVersionMatch: 'NotOlderThan',
      timeoutSeconds: 1,
    });
    for await (const { type, object } of watch) {
      const isEnd = object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
      events.push(isEnd ? 'end' : `${type} ${object.kind} ${object.metadata.name}`);
      if (isEnd) await client.delete(ConfigMap, key('watched'));
    }
    assert.deepEqual(events.slice(0, 3), ['ADDED ConfigMap watched', 'end', 'DELETED ConfigMap watched']);
  });
};

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { ControlledServer, definition, ownedBy, uidOf } from '../../../test/support/controlled-server.ts';
import type { JsonObject } from '../../object/json.ts';

describe('garbage collector', () => {
  let server: ControlledServer;
  let namespace = '';
  let made = 0;
  before(async () => {
    server = await ControlledServer.start();
  });
  after(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    namespace = `gc${++made}`;
    await server.create('/api/v1/namespaces', { metadata: { name: namespace } });
  });

  const path = (name = '') => `/api/v1/namespaces/${namespace}/configmaps${name === '' ? '' : `/${name}`}`;
  const key = (name: string) => `core/configmaps/${namespace}/${name}`;
  const make = (name: string, ownerReferences: JsonObject[] = [], finalizers: string[] = []) =>
    server.create(path(), { metadata: { name, ownerReferences, finalizers } });
  const ownersOf = (name: string): string[] =>
    (server.stored(key(name))?.metadata.ownerReferences ?? []).map((owner: { name: string }) => owner.name);

  it('apiserver/G5: background: dependents go with their owner, down the chain', async () => {
    const a = await make('a');
    const b = await make('b', [ownedBy(a)]);
    await make('c', [ownedBy(b)]);
    await server.remove(path('a'));
    await server.gone(key('a'), key('b'), key('c'));
  });

  it('apiserver/G5: an owner with another uid is absent', async () => {
    const a = await make('a');
    await make('d', [ownedBy(a, { uid: '00000000-0000-4000-8000-000000000000' })]);
    await server.gone(key('d'));
    assert.notEqual(server.stored(key('a')), undefined);
  });

  it('apiserver/G5: while one owner is there only the dangling reference goes', async () => {
    const a = await make('a');
    const b = await make('b');
    await make('d', [ownedBy(a), ownedBy(b)]);
    await server.remove(path('a'));
    await server.until(() => ownersOf('d').join() === 'b');
    await server.remove(path('b'));
    await server.gone(key('d'));
  });

  it('apiserver/G5: an object that holds the orphan finalizer leaves its dependents behind', async () => {
    const a = await make('a');
    const b = await make('b', [ownedBy(a)], ['orphan']);
    await make('c', [ownedBy(b)]);
    await server.remove(path('a'));
    await server.gone(key('b'));
    assert.deepEqual(ownersOf('c'), []);
  });

  it('apiserver/G6: foreground: the owner waits for a blocking dependent that is held', async () => {
    const a = await make('a');
    await make('blocking', [ownedBy(a, { blockOwnerDeletion: true })], ['ex.io/f']);
    await make('other', [ownedBy(a)]);
    await server.remove(path('a'), { propagationPolicy: 'Foreground' });
    await server.gone(key('other'));
    await server.until(() => server.stored(key('blocking')).metadata.deletionTimestamp !== undefined);
    assert.deepEqual(server.stored(key('a')).metadata.finalizers, ['foregroundDeletion']);
    await server.merge(path('blocking'), { metadata: { finalizers: null } });
    await server.gone(key('a'), key('blocking'));
  });

  it('apiserver/G6: foreground goes down the chain, the last dependent first', async () => {
    const order: string[] = [];
    const a = await make('a');
    const b = await make('b', [ownedBy(a, { blockOwnerDeletion: true })]);
    await make('c', [ownedBy(b, { blockOwnerDeletion: true })]);
    const watching = server.store.subscribe('/registry/core/configmaps/', (event) => {
      if (event.isRemoval) order.push(event.key.slice(-1));
    });
    await server.remove(path('a'), { propagationPolicy: 'Foreground' });
    await server.gone(key('a'));
    watching[Symbol.dispose]();
    assert.deepEqual(order, ['c', 'b', 'a']);
  });

  it('apiserver/G6: a dependent that no longer blocks frees its owner', async () => {
    const a = await make('a');
    const d = await make('d', [ownedBy(a, { blockOwnerDeletion: true })], ['ex.io/f']);
    await server.remove(path('a'), { propagationPolicy: 'Foreground' });
    await server.until(() => server.stored(key('d')).metadata.deletionTimestamp !== undefined);
    await server.merge(path('d'), { metadata: { ownerReferences: [ownedBy(a)], uid: uidOf(d) } });
    await server.gone(key('a'));
    assert.notEqual(server.stored(key('d')), undefined);
  });

  it('apiserver/G6: a dependent with another owner stays and loses the one that waits', async () => {
    const a = await make('a');
    const b = await make('b');
    await make('d', [ownedBy(a, { blockOwnerDeletion: true }), ownedBy(b)]);
    await server.remove(path('a'), { propagationPolicy: 'Foreground' });
    await server.gone(key('a'));
    assert.deepEqual(ownersOf('d'), ['b']);
  });

  it('apiserver/G6: owners in a ring do not wait for each other for ever', async () => {
    const a = await make('a');
    const b = await make('b', [ownedBy(a, { blockOwnerDeletion: true })]);
    await server.merge(path('a'), { metadata: { ownerReferences: [ownedBy(b, { blockOwnerDeletion: true })] } });
    await server.remove(path('a'), { propagationPolicy: 'Foreground' });
    await server.gone(key('a'), key('b'));
  });

  it('apiserver/G7: orphan: dependents lose the reference and stay', async () => {
    const a = await make('a');
    const b = await make('b');
    await make('d', [ownedBy(a), ownedBy(b)]);
    await make('e', [ownedBy(a)]);
    await server.remove(path('a'), { propagationPolicy: 'Orphan' });
    await server.gone(key('a'));
    assert.deepEqual([ownersOf('d'), ownersOf('e')], [['b'], []]);
  });

  it('apiserver/G8: an owner in another namespace is none, and an event says so', async () => {
    const owner = await server.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'far' } });
    const dependent = await make('d', [ownedBy(owner)]);
    await server.gone(key('d'));
    const [event] = [...server.store.list(`/registry/core/events/${namespace}/`)].map(({ bytes }) =>
      JSON.parse(Buffer.from(bytes).toString('utf8')),
    );
    assert.equal(event.type, 'Warning');
    assert.equal(event.reason, 'OwnerRefInvalidNamespace');
    assert.equal(event.involvedObject.uid, uidOf(dependent));
    assert.equal(
      event.message,
      `ownerRef [v1/ConfigMap, namespace: ${namespace}, name: far, uid: ${uidOf(owner)}] does not exist in namespace "${namespace}"`,
    );
    await server.remove('/api/v1/namespaces/default/configmaps/far');
  });

  it('apiserver/G8: an object of the cluster with an owner in a namespace is never collected', async () => {
    const owner = await make('o');
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const name = `role-${namespace}`;
    await server.create(roles, { metadata: { name, ownerReferences: [ownedBy(owner)] } });
    await server.until(() => eventsAbout(name).length > 0);
    assert.equal(eventsAbout(name)[0], 'OwnerRefInvalidNamespace');
    assert.notEqual(server.stored(`rbac.authorization.k8s.io/clusterroles/${name}`), undefined);
  });
  const eventsAbout = (name: string): string[] =>
    [...server.store.list('/registry/core/events/default/')]
      .map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString('utf8')))
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason }) => reason);

  it('apiserver/G9: an owner of an unknown kind decides nothing until the kind is served', async () => {
    const owner = { apiVersion: 'test.io/v1', kind: 'Late', name: 'x', uid: 'none' };
    await make('d', [owner]);
    const a = await make('a');
    await make('proof', [ownedBy(a)]);
    await server.remove(path('a'));
    await server.gone(key('proof'));
    assert.notEqual(server.stored(key('d')), undefined);
    await server.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition('lates', 'Late'));
    await server.gone(key('d'));
  });

  it('collects dependents of a custom resource whose definition goes', async () => {
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await server.create(crds, definition('shorts', 'Short'));
    await server.until(() => isServed('shorts'));
    const owner = await server.create(`/apis/test.io/v1/namespaces/${namespace}/shorts`, {
      apiVersion: 'test.io/v1',
      kind: 'Short',
      metadata: { name: 's' },
    });
    await make('d', [ownedBy(owner)]);
    await server.remove(`${crds}/shorts.test.io`);
    await server.gone(key('d'), 'apiextensions.k8s.io/customresourcedefinitions/shorts.test.io');
  });
  const isServed = (plural: string): boolean =>
    server
      .stored(`apiextensions.k8s.io/customresourcedefinitions/${plural}.test.io`)
      .status.conditions?.some(
        ({ type, status }: Record<string, string>) => type === 'Established' && status === 'True',
      ) === true;

  it('apiserver/G10: collects within 50 ms', async () => {
    const tookMs: number[] = [];
    // A machine with other work may be late once, and not twenty times.
    while (tookMs.length < 20 && !tookMs.some((ms) => ms < 50)) {
      const a = await make('a');
      await make('d', [ownedBy(a)]);
      await server.remove(path('a'));
      const start = performance.now();
      await server.gone(key('d'));
      tookMs.push(performance.now() - start);
    }
    assert.ok(
      tookMs.some((ms) => ms < 50),
      `${tookMs.map(Math.round).join(', ')} ms`,
    );
  });

  it('collects many dependents of one owner', async () => {
    const a = await make('a');
    const names = Array.from({ length: 200 }, (_, index) => `d${index}`);
    await Promise.all(names.map((name) => make(name, [ownedBy(a, { blockOwnerDeletion: true })])));
    await server.remove(path('a'), { propagationPolicy: 'Foreground' });
    await server.gone(key('a'));
    assert.equal(server.store.count(`/registry/core/configmaps/${namespace}/d`), 0);
  });
});

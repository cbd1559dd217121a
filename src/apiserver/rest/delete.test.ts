import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  assertStatus,
  at,
  configMap,
  itemNames,
  MERGE,
  metaOf,
  type ServedApi,
  sharedApi,
} from '../../../test/support/served-api.ts';
import type { JsonObject } from '../../object/json.ts';
import { textOf } from './object-meta.ts';

describe('DELETE', () => {
  let api: ServedApi;
  let maps: string;
  before(async () => {
    api = await sharedApi();
    maps = `${await api.namespace()}/configmaps`;
  });
  const make = (name: string, more: JsonObject = {}) =>
    api.create(maps, configMap(name, { metadata: { name, ...more } }));
  const remove = (name: string, body?: JsonObject | string) =>
    api.send('DELETE', `${maps}/${name}`, body === undefined ? {} : { body });

  it('apiserver/DE2: answers with a Status that has no code', async () => {
    const { uid } = metaOf(await make('plain'));
    const { status, body } = await remove('plain');
    assert.equal(status, 200);
    assert.deepEqual(body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'plain', kind: 'configmaps', uid },
    });
    assertStatus(await remove('plain'), 404, 'NotFound', 'configmaps "plain" not found');
  });

  it('apiserver/DE2: answers with the object for some kinds, and with the group for others', async () => {
    const namespace = await api.namespace();
    await api.create(`${namespace}/serviceaccounts`, { metadata: { name: 'robot' } });
    const { body } = await api.send('DELETE', `${namespace}/serviceaccounts/robot`);
    assert.partialDeepStrictEqual(body, { kind: 'ServiceAccount', metadata: { name: 'robot' } });
    const roles = `/apis/rbac.authorization.k8s.io/v1/${namespace.slice('/api/v1/'.length)}/roles`;
    await api.create(roles, { metadata: { name: 'r' } });
    const { body: status } = await api.send('DELETE', `${roles}/r`);
    assert.partialDeepStrictEqual(status, { details: { group: 'rbac.authorization.k8s.io', kind: 'roles' } });
  });

  it('apiserver/DE3, W11: marks what has finalizers, and removes it when the last one goes', async () => {
    await make('held', { finalizers: ['ex.io/f'] });
    const { status, body } = await remove('held');
    assert.equal(status, 200);
    assert.partialDeepStrictEqual(metaOf(body), {
      deletionTimestamp: '2026-05-04T03:02:01Z',
      deletionGracePeriodSeconds: 0,
    });
    assert.deepEqual((await remove('held')).body, body);
    const freed = await api.send('PATCH', `${maps}/held`, {
      body: { metadata: { finalizers: null } },
      type: MERGE,
    });
    assert.equal(freed.status, 200);
    assert.equal(at(freed.body, 'metadata', 'resourceVersion'), at(body, 'metadata', 'resourceVersion'));
    assert.equal((await api.get(`${maps}/held`)).status, 404);
  });

  it('apiserver/DE3: says 202 only for orphanDependents false on what still exists', async () => {
    await make('later', { finalizers: ['ex.io/f'] });
    assert.equal((await remove('later', { orphanDependents: false })).status, 202);
    await make('now');
    assert.equal((await remove('now', { orphanDependents: false })).status, 200);
  });

  it('apiserver/DE1: takes options from the query when there is no body', async () => {
    await make('queried');
    const foreground = await api.send(
      'DELETE',
      `${maps}/queried?propagationPolicy=Foreground&gracePeriodSeconds=3`,
    );
    assert.deepEqual(metaOf(foreground.body)['finalizers'], ['foregroundDeletion']);
    await make('guarded');
    const guarded = await api.send('DELETE', `${maps}/guarded?preconditions.uid=other&orphanDependents=true`);
    assertStatus(guarded, 409, 'Conflict', /the UID in the precondition \(other\)/);
    const dry = await api.send('DELETE', `${maps}/guarded?dryRun=All`);
    assert.equal(dry.status, 200);
    assert.equal((await api.get(`${maps}/guarded`)).status, 200);
  });

  it('apiserver/E6: names the Kind when a precondition does not hold', async () => {
    const { uid, resourceVersion } = metaOf(await make('precious'));
    const other = await remove('precious', { preconditions: { uid: 'x' } });
    assertStatus(
      other,
      409,
      'Conflict',
      `Operation cannot be fulfilled on ConfigMap "precious": the UID in the precondition (x) does not match the UID in record (${textOf(uid)}). The object might have been deleted and then recreated`,
    );
    assert.deepEqual(other.body['details'], { name: 'precious', kind: 'ConfigMap' });
    const stale = await remove('precious', { preconditions: { resourceVersion: '1' } });
    assertStatus(
      stale,
      409,
      'Conflict',
      `Operation cannot be fulfilled on ConfigMap "precious": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${textOf(resourceVersion)}). The object might have been modified`,
    );
    const right = { uid: textOf(uid), resourceVersion: textOf(resourceVersion) };
    assert.equal((await remove('precious', { preconditions: right })).status, 200);
  });

  const refused: readonly [string, JsonObject | string, number, string | RegExp][] = [
    ['a broken body', '{x', 400, /^couldn't get version\/kind; json parse error/],
    ['another kind', { kind: 'Pod', apiVersion: 'v1' }, 400, /./],
    [
      'a dry run that is no list',
      { dryRun: 'All' },
      400,
      'json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string',
    ],
    [
      'a grace period that is no number',
      { gracePeriodSeconds: 'x' },
      400,
      'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
    [
      'an unknown policy',
      { propagationPolicy: 'Nope' },
      422,
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Nope": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      'two ways to say the same',
      { propagationPolicy: 'Orphan', orphanDependents: true },
      422,
      /orphanDependents and deletionPropagation cannot be both set$/,
    ],
    ['an unknown dry run', { dryRun: ['x'] }, 422, /dryRun: Unsupported value: \["x"\]/],
  ];
  for (const [what, body, code, message] of refused) {
    it(`apiserver/E9, DE1: refuses ${what}, and deletes nothing`, async () => {
      const name = `kept-${what.replaceAll(' ', '-')}`;
      await make(name);
      assertStatus(await remove(name, body), code, code === 422 ? 'Invalid' : 'BadRequest', message);
      assert.equal((await api.get(`${maps}/${name}`)).status, 200);
    });
  }

  it('apiserver/DE4: orphans the pods of a job and warns, unless a policy was given', async () => {
    const namespace = await api.namespace();
    const jobs = `/apis/batch/v1/${namespace.slice('/api/v1/'.length)}/jobs`;
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
    await api.create(jobs, { metadata: { name: 'j' }, spec: { template } });
    const { body, headers } = await api.send('DELETE', `${jobs}/j`);
    assert.deepEqual(metaOf(body)['finalizers'], ['orphan']);
    assert.match(String(headers['warning']), /^299 - "child pods are preserved by default/);
    await api.create(jobs, { metadata: { name: 'k' }, spec: { template } });
    const told = await api.send('DELETE', `${jobs}/k?propagationPolicy=Background`);
    assert.deepEqual([told.body['status'], told.headers['warning']], ['Success', undefined]);
  });

  it('apiserver/DE5: gives a scheduled pod its grace period', async () => {
    const pods = `${await api.namespace()}/pods`;
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
    await api.create(pods, { metadata: { name: 'p' }, spec });
    const { body } = await api.send('DELETE', `${pods}/p?gracePeriodSeconds=7`);
    assert.partialDeepStrictEqual(metaOf(body), {
      deletionTimestamp: '2026-05-04T03:02:08Z',
      deletionGracePeriodSeconds: 7,
    });
    assert.equal((await api.send('DELETE', `${pods}/p?gracePeriodSeconds=0`)).status, 200);
    assert.equal((await api.get(`${pods}/p`)).status, 404);
  });

  it('apiserver/E19: keeps the namespaces that must not go', async () => {
    const answer = await api.send('DELETE', '/api/v1/namespaces/default');
    assertStatus(answer, 403, 'Forbidden', 'namespaces "default" is forbidden: this namespace may not be deleted');
  });

  it('apiserver/DE6: deletes what a selector finds and answers with it as it was', async () => {
    const all = `${await api.namespace()}/configmaps`;
    for (const [name, tier] of [
      ['a', 'x'],
      ['b', 'y'],
      ['c', 'x'],
    ] as const) {
      await api.create(all, configMap(name, { metadata: { name, labels: { tier } } }));
    }
    const { status, body } = await api.send('DELETE', `${all}?labelSelector=tier%3Dx`);
    assert.deepEqual([status, body['kind'], itemNames(body)], [200, 'ConfigMapList', ['a', 'c']]);
    assert.equal(at(body, 'items', 0, 'metadata', 'deletionTimestamp'), undefined);
    assert.deepEqual(itemNames((await api.get(`${all}?labelSelector=tier`)).body), ['b']);
  });

  it('apiserver/DE6: is not allowed on namespaces', async () => {
    assertStatus(await api.send('DELETE', '/api/v1/namespaces'), 405, 'MethodNotAllowed', /does not allow/);
  });
});

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  assertStatus,
  at,
  configMap,
  customDefinition,
  MERGE,
  metaOf,
  type ServedApi,
  sharedApi,
} from '../../../test/support/served-api.ts';
import type { JsonObject } from '../../object/json.ts';
import { textOf } from './object-meta.ts';

let api: ServedApi;
let namespace: string;
let maps: string;

before(async () => {
  api = await sharedApi();
  namespace = await api.namespace();
  maps = `${namespace}/configmaps`;
  await api.define(customDefinition('parts', 'Part', [{ name: 'v1', spec: { n: { type: 'integer' } } }]));
});

const put = (name: string, body: JsonObject, query = '') => api.send('PUT', `${maps}/${name}${query}`, { body });
const merge = (target: string, body: JsonObject) => api.send('PATCH', target, { body, type: MERGE });
const parts = (): string => `${namespace.replace('/api/v1', '/apis/t.io/v1')}/parts`;
const part = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 't.io/v1',
  kind: 'Part',
  metadata: { name },
  ...more,
});

describe('PUT', () => {
  it('apiserver/W8: overwrites without a resourceVersion, and answers 200', async () => {
    await api.create(maps, configMap('free', { data: { a: '1' } }));
    const { status, body } = await put('free', configMap('free', { data: { b: '2' } }));
    assert.deepEqual([status, body['data']], [200, { b: '2' }]);
  });

  it('apiserver/E4: refuses a stale resourceVersion', async () => {
    await api.create(maps, configMap('stale'));
    const answer = await put('stale', { metadata: { name: 'stale', resourceVersion: '1' } });
    assertStatus(
      answer,
      409,
      'Conflict',
      'Operation cannot be fulfilled on configmaps "stale": the object has been modified; please apply your changes to the latest version and try again',
    );
    const odd = await put('stale', { metadata: { name: 'stale', resourceVersion: 'x' } });
    assertStatus(odd, 400, 'BadRequest', 'strconv.ParseUint: parsing "x": invalid syntax');
  });

  it('lets exactly one of many writers with the same resourceVersion win', async () => {
    const { resourceVersion } = metaOf(await api.create(maps, configMap('race')));
    const write = (n: number) =>
      put('race', {
        metadata: { name: 'race', resourceVersion: textOf(resourceVersion) },
        data: { n: String(n) },
      });
    const answers = await Promise.all([1, 2, 3, 4].map(write));
    assert.deepEqual(answers.map(({ status }) => String(status)).sort(), ['200', '409', '409', '409']);
  });

  it('apiserver/E5: refuses another uid', async () => {
    const { uid } = metaOf(await api.create(maps, configMap('unique')));
    const answer = await put('unique', { metadata: { name: 'unique', uid: 'x' } });
    const why = `Precondition failed: UID in precondition: x, UID in object meta: ${textOf(uid)}`;
    assertStatus(
      answer,
      409,
      'Conflict',
      new RegExp(`^Operation cannot be fulfilled on configmaps "unique": .*${why}$`),
    );
  });

  it('apiserver/E8: needs a resourceVersion for kinds that may not be overwritten blindly', async () => {
    await api.create(parts(), part('careful'));
    const answer = await api.send('PUT', `${parts()}/careful`, { body: part('careful') });
    assertStatus(
      answer,
      422,
      'Invalid',
      'parts.t.io "careful" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
    assert.equal(at(answer.body, 'details', 'kind'), 'parts');
  });

  it('apiserver/W7: creates only where the kind allows it', async () => {
    assertStatus(await put('none', configMap('none')), 404, 'NotFound', 'configmaps "none" not found');
    const leases = `/apis/coordination.k8s.io/v1/${namespace.slice('/api/v1/'.length)}/leases`;
    const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } };
    const dry = await api.send('PUT', `${leases}/l?dryRun=All`, { body: lease });
    assert.deepEqual([dry.status, at(dry.body, 'metadata', 'resourceVersion')], [201, undefined]);
    const made = await api.send('PUT', `${leases}/l`, { body: lease });
    assert.deepEqual([made.status, at(made.body, 'spec', 'holderIdentity')], [201, 'me']);
  });

  it('apiserver/M7: keeps what only the server may change', async () => {
    const made = metaOf(await api.create(maps, configMap('kept', { metadata: { name: 'kept', generation: 4 } })));
    const metadata = {
      name: 'kept',
      creationTimestamp: '2001-01-01T00:00:00Z',
      generation: 9,
      labels: { a: 'b' },
    };
    const changed = metaOf((await put('kept', { metadata })).body);
    const { uid, creationTimestamp, generation, labels } = changed;
    assert.deepEqual([uid, creationTimestamp, generation], [made['uid'], made['creationTimestamp'], 4]);
    assert.deepEqual(labels, { a: 'b' });
  });

  it('apiserver/M7: does not let a client begin a deletion', async () => {
    await api.create(maps, configMap('alive'));
    const answer = await put('alive', { metadata: { name: 'alive', deletionTimestamp: '2026-01-01T00:00:00Z' } });
    assertStatus(answer, 422, 'Invalid', /metadata\.deletionTimestamp: Invalid value: .*: field is immutable/);
  });

  it('apiserver/W5: stores nothing on dry run', async () => {
    await api.create(maps, configMap('dry'));
    const { status, body } = await put('dry', configMap('dry', { data: { a: 'b' } }), '?dryRun=All');
    assert.deepEqual([status, body['data']], [200, { a: 'b' }]);
    assert.equal((await api.get(`${maps}/dry`)).body['data'], undefined);
  });
});

describe('every update', () => {
  it('apiserver/M11: makes no revision when nothing changes', async () => {
    const made = await api.create(maps, configMap('same', { data: { a: 'b' } }));
    const { revision } = api.server.store;
    assert.deepEqual((await put('same', configMap('same', { data: { a: 'b' } }))).body, made);
    assert.deepEqual((await merge(`${maps}/same`, {})).body, made);
    assert.equal(api.server.store.revision, revision);
  });

  it('apiserver/M11: answers a repeated write only when the first is stored', async () => {
    await api.create(maps, configMap('twice'));
    const body = configMap('twice', { data: { a: 'b' } });
    const [first, second] = await Promise.all([put('twice', body), put('twice', body)]);
    assert.deepEqual(second.body, first.body);
    assert.equal((await api.get(`${maps}/twice`)).text, second.text);
  });

  it('apiserver/M8: counts a generation for the spec, not for metadata or status', async () => {
    await api.create(parts(), part('counted', { spec: { n: 1 } }));
    const generation = async (patch: JsonObject, sub = '') =>
      at((await merge(`${parts()}/counted${sub}`, patch)).body, 'metadata', 'generation');
    assert.equal(await generation({ spec: { n: 2 } }), 2);
    assert.equal(await generation({ metadata: { labels: { a: 'b' } } }), 2);
    assert.equal(await generation({ status: { x: 1 } }), 2);
    assert.equal(await generation({ status: { x: 1 } }, '/status'), 2);
    assert.equal(await generation({ spec: { n: 3 }, status: { x: 2 } }), 3);
  });

  it('apiserver/W10: takes status only through its subresource, and nothing else there', async () => {
    await api.create(parts(), part('split', { spec: { n: 1 }, status: { x: 1 } }));
    assert.equal((await api.get(`${parts()}/split`)).body['status'], undefined);
    const patch = { metadata: { labels: { a: 'b' } }, spec: { n: 2 }, status: { x: 3 } };
    const { body } = await merge(`${parts()}/split/status`, patch);
    assert.deepEqual(
      [body['spec'], body['status'], at(body, 'metadata', 'labels')],
      [{ n: 1 }, { x: 3 }, undefined],
    );
    const { body: main } = await merge(`${parts()}/split`, { status: { x: 4 } });
    assert.deepEqual(main['status'], { x: 3 });
  });

  it('apiserver/W11: on dry run, removes nothing when the last finalizer goes', async () => {
    await api.create(maps, configMap('leaving', { metadata: { name: 'leaving', finalizers: ['ex.io/f'] } }));
    await api.send('DELETE', `${maps}/leaving`);
    const dry = await merge(`${maps}/leaving?dryRun=All`, { metadata: { finalizers: null } });
    assert.equal(dry.status, 200);
    assert.equal((await api.get(`${maps}/leaving`)).status, 200);
  });

  it('apiserver/M6: adds no finalizer to what is being deleted', async () => {
    await api.create(maps, configMap('going', { metadata: { name: 'going', finalizers: ['ex.io/f'] } }));
    await api.send('DELETE', `${maps}/going`);
    const answer = await merge(`${maps}/going`, { metadata: { finalizers: ['ex.io/f', 'ex.io/g'] } });
    assertStatus(answer, 422, 'Invalid', /metadata\.finalizers: Forbidden: no new finalizers can be added/);
  });

  it('apiserver/M5: keeps an owner that is named twice once, and warns', async () => {
    await api.create(maps, configMap('owned', { metadata: { name: 'owned', finalizers: ['ex.io/f'] } }));
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'o', uid: 'u' };
    const { body, headers } = await merge(`${maps}/owned?dryRun=All`, {
      metadata: { ownerReferences: [owner, owner] },
    });
    assert.deepEqual(metaOf(body)['ownerReferences'], [owner]);
    assert.match(String(headers['warning']), /ownerReferences contains duplicate entries/);
  });

  it('gives back an address that an update does not use any more', async () => {
    const services = `${namespace}/services`;
    const spec = { ports: [{ port: 80 }], clusterIP: '10.0.0.99' };
    await api.create(services, { metadata: { name: 's' }, spec });
    const outside = { type: 'ExternalName', externalName: 'ex.io', clusterIP: null, clusterIPs: null };
    assert.equal((await merge(`${services}/s`, { spec: outside })).status, 200);
    const again = await api.create(services, { metadata: { name: 't' }, spec });
    assert.equal(at(again, 'spec', 'clusterIP'), '10.0.0.99');
  });
});

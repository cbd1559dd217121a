import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  APPLY,
  assertStatus,
  at,
  configMap,
  customDefinition,
  metaOf,
  type Sent,
  ServedApi,
  sharedApi,
} from '../../../test/support/served-api.ts';
import { VirtualClock } from '../../base/clock.ts';
import type { JsonObject } from '../../object/json.ts';
import { textOf } from './object-meta.ts';

/** A clock whose generated names are always the same. */
class SameNames extends VirtualClock {
  override random(): number {
    return 0;
  }
}

describe('POST', () => {
  let api: ServedApi;
  let namespace: string;
  let maps: string;
  before(async () => {
    api = await sharedApi();
    namespace = await api.namespace();
    maps = `${namespace}/configmaps`;
  });
  const post = (body: JsonObject | string, query = '', sent: Sent = {}) =>
    api.send('POST', `${maps}${query}`, { body, ...sent });

  it('apiserver/W4: answers 201 with what is stored', async () => {
    const made = await post(configMap('stored', { data: { a: 'b' } }));
    assert.equal(made.status, 201);
    assert.deepEqual((await api.get(`${maps}/stored`)).body, made.body);
    assert.partialDeepStrictEqual(made.body, { kind: 'ConfigMap', apiVersion: 'v1', data: { a: 'b' } });
  });

  it('apiserver/M1: sets what only the server may set, and keeps a generation nobody tracks', async () => {
    const metadata = {
      name: 'wiped',
      uid: 'mine',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
      selfLink: '/x',
      generation: 55,
    };
    const { uid, creationTimestamp, generation, ...rest } = metaOf((await post({ metadata })).body);
    assert.match(textOf(uid), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    assert.deepEqual([creationTimestamp, generation], ['2026-05-04T03:02:01Z', 55]);
    assert.deepEqual(Object.keys(rest).sort(), ['name', 'namespace', 'resourceVersion']);
  });

  it('apiserver/M10: gives the revision of the write as resourceVersion', async () => {
    const { resourceVersion } = metaOf((await post(configMap('numbered'))).body);
    assert.equal(resourceVersion, String(api.server.store.revision));
  });

  it('apiserver/E2: refuses a name that is taken, and says when its owner is leaving', async () => {
    await post(configMap('taken', { metadata: { name: 'taken', finalizers: ['ex.io/f'] } }));
    const again = await post(configMap('taken'));
    assertStatus(again, 409, 'AlreadyExists', 'configmaps "taken" already exists');
    assert.deepEqual(again.body['details'], { name: 'taken', kind: 'configmaps' });
    await api.send('DELETE', `${maps}/taken`);
    const leaving = 'object is being deleted: configmaps "taken" already exists';
    assertStatus(await post(configMap('taken')), 409, 'AlreadyExists', leaving);
    assertStatus(await post(configMap('taken'), '?dryRun=All'), 409, 'AlreadyExists', leaving);
  });

  it('apiserver/E15: refuses a resourceVersion, but not one that means none', async () => {
    const refused = await post({ metadata: { name: 'versioned', resourceVersion: '5' } });
    assertStatus(refused, 400, 'BadRequest', 'resourceVersion should not be set on objects to be created');
    assert.equal((await post({ metadata: { name: 'zero', resourceVersion: '0' } })).status, 201);
    const dry = await post({ metadata: { name: 'odd', resourceVersion: 'abc' } }, '?dryRun=All');
    assert.deepEqual([dry.status, at(dry.body, 'metadata', 'resourceVersion')], [201, undefined]);
  });

  it('apiserver/M2: makes a name from generateName, cut so that five characters fit', async () => {
    const { name, generateName } = metaOf((await post({ metadata: { generateName: 'job-' } })).body);
    assert.match(textOf(name), /^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(generateName, 'job-');
    const long = metaOf((await post({ metadata: { generateName: 'x'.repeat(60) } })).body)['name'];
    assert.match(textOf(long), /^x{58}[^x]?.{4,5}$/);
    assert.equal(textOf(long).length, 63);
  });

  it('apiserver/M2, E3: gives up after eight names that are taken', async () => {
    await using own = await ServedApi.start({ auth: { mode: 'AlwaysAllow' } }, new SameNames());
    const target = `${await own.namespace()}/configmaps`;
    const first = await own.create(target, { metadata: { generateName: 'a-' } });
    const answer = await own.send('POST', target, { body: { metadata: { generateName: 'a-' } } });
    const name = textOf(metaOf(first)['name']);
    assertStatus(
      answer,
      409,
      'AlreadyExists',
      `configmaps "${name}" already exists, the server was not able to generate a unique name for the object`,
    );
    assert.equal(at(answer.body, 'details', 'retryAfterSeconds'), 1);
    assert.equal(answer.headers['retry-after'], '1');
  });

  it('apiserver/W5: does everything on dry run but store, and uses nothing up', async () => {
    const dry = await post(configMap('dry'), '?dryRun=All');
    assert.equal(dry.status, 201);
    const { uid, resourceVersion, creationTimestamp } = metaOf(dry.body);
    assert.deepEqual(
      [typeof uid, creationTimestamp, resourceVersion],
      ['string', '2026-05-04T03:02:01Z', undefined],
    );
    assert.equal((await api.get(`${maps}/dry`)).status, 404);
    const ports = { ports: [{ port: 80 }], type: 'NodePort' };
    const service = { metadata: { name: 's' }, spec: ports };
    const tried = await api.send('POST', `${namespace}/services?dryRun=All`, { body: service });
    assert.equal(tried.status, 201, tried.text);
    const clusterIP = at(tried.body, 'spec', 'clusterIP');
    const real = { ...service, spec: { ...ports, clusterIP: String(clusterIP) } };
    assert.equal(at(await api.create(`${namespace}/services`, real), 'spec', 'clusterIP'), clusterIP);
  });

  it('gives an address back when the object cannot be stored', async () => {
    const services = `${await api.namespace()}/services`;
    const spec = { ports: [{ port: 80 }], clusterIP: '10.0.0.77' };
    const big = { 'ex.io/x': 'x'.repeat(200_000) };
    await api.create(services, { metadata: { name: 'same' }, spec: { ports: [{ port: 1 }] } });
    const clash = await api.send('POST', services, {
      body: { metadata: { name: 'same', annotations: big }, spec },
    });
    assert.equal(clash.status, 409);
    assert.equal(
      at(await api.create(services, { metadata: { name: 'other' }, spec }), 'spec', 'clusterIP'),
      '10.0.0.77',
    );
  });

  it('apiserver/M5: keeps an owner that is named twice once, and warns', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
    const { body, headers } = await post(
      { metadata: { name: 'owned', ownerReferences: [owner, owner] } },
      '?dryRun=All',
    );
    assert.deepEqual(metaOf(body)['ownerReferences'], [owner]);
    assert.match(String(headers['warning']), /^299 - "\.metadata\.ownerReferences contains duplicate entries/);
  });

  it('apiserver/E7, M3: refuses metadata that is not valid', async () => {
    const answer = await post(configMap('Not_Valid'));
    assertStatus(
      answer,
      422,
      'Invalid',
      /^ConfigMap "Not_Valid" is invalid: metadata\.name: Invalid value: "Not_Valid": /,
    );
    assertStatus(
      await post({}),
      422,
      'Invalid',
      /metadata\.name: Required value: name or generateName is required$/,
    );
  });

  it('apiserver/W3: warns of unknown and repeated fields, refuses them when strict, or says nothing', async () => {
    const twice = '{"metadata":{"name":"NAME"},"data":{"a":"1","a":"2"},"spec":{},"other":1}';
    const texts = ['duplicate field "data.a"', 'unknown field "spec"', 'unknown field "other"'];
    const warned = await post(twice.replace('NAME', 'warned'));
    const escaped = texts.map((text) => `299 - "${text.replaceAll('"', '\\"')}"`);
    assert.deepEqual([warned.status, [warned.headers['warning'] ?? []].flat().sort()], [201, escaped.sort()]);
    assert.deepEqual(Object.keys(warned.body).sort(), ['apiVersion', 'data', 'kind', 'metadata']);
    const silent = await post(twice.replace('NAME', 'silent'), '?fieldValidation=Ignore');
    assert.deepEqual([silent.status, silent.headers['warning']], [201, undefined]);
    const strict = await post(twice.replace('NAME', 'strict'), '?fieldValidation=Strict');
    assertStatus(
      strict,
      400,
      'BadRequest',
      /^ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data\.a", unknown field "/,
    );
    assert.equal((await api.get(`${maps}/strict`)).status, 404);
  });

  it('apiserver/W1: records who wrote what', async () => {
    const sent = { headers: { 'user-agent': 'builder/1.2 (linux)' } };
    const { body } = await post(configMap('tracked', { data: { a: 'b' } }), '', sent);
    assert.partialDeepStrictEqual(at(body, 'metadata', 'managedFields', 0), {
      manager: 'builder',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
    });
  });

  it('apiserver/H4: refuses what is too large to store, after it gave up managedFields', async () => {
    const texts = { type: 'object', additionalProperties: { type: 'string' } };
    await api.define(
      customDefinition('bulks', 'Bulk', [{ name: 'v1', spec: { keys: texts, big: { type: 'string' } } }]),
    );
    const bulks = namespace.replace('/api/v1', '/apis/t.io/v1');
    const keys = Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`k${10_000 + index}`, '']));
    const body = (name: string, size: number) => ({
      apiVersion: 't.io/v1',
      kind: 'Bulk',
      metadata: { name },
      spec: { keys, big: 'x'.repeat(size) },
    });
    const lean = await api.create(`${bulks}/bulks`, body('lean', 1_485_000));
    assert.equal(metaOf(lean)['managedFields'], undefined);
    const kept = { body: body('kept', 1_485_000), type: APPLY };
    const message = /^Request entity too large: the object is \d+ bytes, the limit is 1572864$/;
    const applied = await api.send('PATCH', `${bulks}/bulks/kept?fieldManager=m`, kept);
    assertStatus(applied, 413, 'RequestEntityTooLarge', message);
    const large = await api.send('POST', `${bulks}/bulks`, { body: body('large', 1_600_000) });
    assertStatus(large, 413, 'RequestEntityTooLarge', message);
  });

  it('apiserver/U7: needs the namespace for creating, but not for reading', async () => {
    const nowhere = '/api/v1/namespaces/nowhere/configmaps';
    assertStatus(
      await api.send('POST', nowhere, { body: configMap('a') }),
      404,
      'NotFound',
      'namespaces "nowhere" not found',
    );
    assert.deepEqual((await api.get(nowhere)).body['items'], []);
    assertStatus(await api.get(`${nowhere}/a`), 404, 'NotFound', 'configmaps "a" not found');
  });
});

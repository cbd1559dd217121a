import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  assertStatus,
  at,
  configMap,
  metaOf,
  type ServedApi,
  sharedApi,
} from '../../../test/support/served-api.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const PARTIALS = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

describe('the form of an answer', () => {
  let api: ServedApi;
  let maps: string;
  before(async () => {
    api = await sharedApi();
    maps = `${await api.namespace()}/configmaps`;
    for (const name of ['a', 'b', 'c']) await api.create(maps, configMap(name, { data: { k: name } }));
  });
  const get = (target: string, accept: string) => api.get(`${maps}${target}`, { headers: { accept } });

  it('apiserver/C6: is a Table of rows with metadata', async () => {
    const { body } = await get('?limit=1', TABLE);
    assert.partialDeepStrictEqual(body, {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      columnDefinitions: [
        { name: 'Name', type: 'string', format: 'name', priority: 0 },
        { name: 'Data' },
        { name: 'Age' },
      ],
      rows: [{ cells: ['a', 1, '0s'], object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } }],
    });
    const { resourceVersion, continue: token, remainingItemCount } = metaOf(body);
    assert.deepEqual(
      [typeof resourceVersion, typeof token, typeof remainingItemCount],
      ['string', 'string', 'number'],
    );
  });

  it('apiserver/C6: is a Table of one row for one object, also in the older version', async () => {
    const { body } = await get('/b', TABLE.replace('v=v1', 'v=v1beta1'));
    assert.partialDeepStrictEqual(body, {
      apiVersion: 'meta.k8s.io/v1beta1',
      rows: [{ cells: ['b', 1, '0s'], object: { apiVersion: 'meta.k8s.io/v1beta1' } }],
    });
    assert.deepEqual(Object.keys(metaOf(body)), ['resourceVersion']);
  });

  it('apiserver/C6: includes the whole object, or none', async () => {
    const whole = await get('?includeObject=Object', TABLE);
    assert.deepEqual(at(whole.body, 'rows', 0, 'object', 'data'), { k: 'a' });
    const none = await get('?includeObject=None', TABLE);
    assert.equal(at(none.body, 'rows', 0, 'object'), null);
    const explicit = await get('/a?includeObject=Metadata', TABLE);
    assert.equal(at(explicit.body, 'rows', 0, 'object', 'kind'), 'PartialObjectMetadata');
    assertStatus(await get('?includeObject=All', TABLE), 400, 'BadRequest', /includeObject/);
  });

  it('shows in a row that a pod has ended', async () => {
    const pods = maps.replace('configmaps', 'pods');
    await api.create(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const status = { phase: 'Succeeded' };
    await api.send('PATCH', `${pods}/p/status`, { body: { status }, type: 'application/merge-patch+json' });
    const { body } = await api.get(pods, { headers: { accept: TABLE } });
    assert.partialDeepStrictEqual(at(body, 'rows', 0, 'conditions', 0), { type: 'Completed', status: 'True' });
  });

  it('apiserver/C7: is metadata only', async () => {
    const one = await get('/a', PARTIAL);
    assert.partialDeepStrictEqual(one.body, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' });
    assert.deepEqual(Object.keys(one.body), ['kind', 'apiVersion', 'metadata']);
    const many = await get('?limit=1', PARTIALS);
    assert.partialDeepStrictEqual(many.body, {
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } }],
    });
    assert.equal(typeof metaOf(many.body)['continue'], 'string');
  });

  it('apiserver/C7: is nothing for who wants a list to be an object, or an object to be a list', async () => {
    const list = await get('', PARTIAL);
    const message =
      'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)';
    assertStatus(list, 406, 'NotAcceptable', message);
    const object = await get('/a', PARTIALS);
    assertStatus(
      object,
      406,
      'NotAcceptable',
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    );
    const deployments = await api.get('/apis/apps/v1/deployments', { headers: { accept: PARTIAL } });
    assertStatus(deployments, 406, 'NotAcceptable', /\(\*apps\.DeploymentList\)$/);
    const events = await api.get('/apis/events.k8s.io/v1/events', { headers: { accept: PARTIAL } });
    assertStatus(events, 406, 'NotAcceptable', /\(\*core\.EventList\)$/);
  });

  it('apiserver/T14: is no stream of YAML', async () => {
    const { status, text } = await get('?watch=1', 'application/yaml;q=1,application/json;q=0.9');
    assert.equal(status, 406);
    assert.match(text, /application\/json;stream=watch,\s+application\/vnd.kubernetes.protobuf;stream=watch/);
  });

  it('apiserver/C8: says no kind in the items of a list in YAML either', async () => {
    assert.doesNotMatch((await get('', 'application/yaml')).text, /kind: ConfigMap\n/);
  });

  it('apiserver/C1: is YAML when asked, for objects, lists and failures', async () => {
    const object = await get('/a', 'application/yaml');
    assert.equal(object.headers['content-type'], 'application/yaml');
    assert.match(object.text, /^apiVersion: v1\ndata:\n {2}k: a\nkind: ConfigMap\n/);
    assert.match((await get('', 'application/yaml')).text, /^apiVersion: v1\nitems:\n- /);
    assert.match((await get('/none', 'application/yaml')).text, /^apiVersion: v1\ncode: 404\n/);
  });

  it('apiserver/C2: is JSON when nothing that was asked for can be written', async () => {
    const answer = await get('/a', 'text/html');
    assertStatus(answer, 406, 'NotAcceptable', /./);
    assert.equal(answer.headers['content-type'], 'application/json');
  });

  it('apiserver/C7: is metadata only for what a write answers, too', async () => {
    const headers = { accept: PARTIAL };
    const made = await api.send('POST', maps, { body: configMap('m'), headers });
    assert.deepEqual([made.status, made.body['kind']], [201, 'PartialObjectMetadata']);
    const dry = await api.send('POST', `${maps}?dryRun=All`, { body: configMap('n'), headers });
    assert.deepEqual([dry.status, dry.body['kind']], [201, 'PartialObjectMetadata']);
  });
});

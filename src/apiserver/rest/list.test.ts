import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  assertStatus,
  at,
  configMap,
  customDefinition,
  itemNames,
  metaOf,
  ServedApi,
  sharedApi,
} from '../../../test/support/served-api.ts';
import type { JsonObject } from '../../object/json.ts';
import { textOf } from './object-meta.ts';

const range = (name: string): JsonObject => ({ metadata: { name }, spec: { limits: [] } });
const NAMES = ['a', 'b', 'c', 'd', 'e'];

describe('a list', () => {
  let api: ServedApi;
  let ranges: string;
  let empty: string;
  before(async () => {
    api = await ServedApi.start({ auth: { mode: 'AlwaysAllow' }, controllers: { namespace: false, gc: false } });
    ranges = `${await api.namespace()}/limitranges`;
    empty = `${await api.namespace()}/limitranges`;
    for (const name of ['c', 'a', 'e', 'b', 'd']) {
      const labels = { odd: String(NAMES.indexOf(name) % 2), name };
      await api.create(ranges, { metadata: { name, labels }, spec: { limits: [] } });
    }
  });
  const list = async (query: string, target = ranges) => api.get(`${target}?${query}`);
  const selected = async (query: string) => itemNames((await list(query)).body);

  it('apiserver/L1: is in the order of names', async () => {
    assert.deepEqual(await selected(''), NAMES);
    const { body } = await list('', empty);
    assert.deepEqual([body['kind'], body['apiVersion'], body['items']], ['LimitRangeList', 'v1', []]);
  });

  it('apiserver/L8: crosses namespaces, in their order', async () => {
    await api.create(empty, range('zero'));
    const { body } = await list('', '/api/v1/limitranges');
    const places = itemNames(body).map(
      (name, index) => `${String(at(body, 'items', index, 'metadata', 'namespace'))}/${String(name)}`,
    );
    assert.deepEqual(places, ['ns-1/a', 'ns-1/b', 'ns-1/c', 'ns-1/d', 'ns-1/e', 'ns-2/zero']);
  });

  it('apiserver/L5: carries the revision of its snapshot', async () => {
    const { body } = await list('');
    assert.equal(metaOf(body)['resourceVersion'], String(api.server.store.revision));
  });

  it('apiserver/L2: comes in pages of one revision, which count what remains', async () => {
    const pages: unknown[] = [];
    let token = '';
    const { revision } = api.server.store;
    for (let page = 0; page < 5; page++) {
      const { body } = await list(`limit=2${token === '' ? '' : `&continue=${token}`}`);
      const { continue: next = '', remainingItemCount, resourceVersion } = metaOf(body);
      pages.push([itemNames(body), remainingItemCount, resourceVersion]);
      token = textOf(next);
      if (token === '') break;
      if (page === 0) await api.create(ranges, range(`aa-${page}`));
    }
    assert.deepEqual(pages, [
      [['a', 'b'], 3, String(revision)],
      [['c', 'd'], 1, String(revision)],
      [['e'], undefined, String(revision)],
    ]);
    await api.send('DELETE', `${ranges}/aa-0`);
  });

  it('apiserver/L2: does not count what a selector might find', async () => {
    const { body } = await list('limit=2&labelSelector=odd%3D0');
    assert.deepEqual([itemNames(body), metaOf(body)['remainingItemCount']], [['a', 'c'], undefined]);
    const rest = await list(`limit=2&labelSelector=odd%3D0&continue=${textOf(metaOf(body)['continue'])}`);
    assert.deepEqual([itemNames(rest.body), metaOf(rest.body)['continue']], [['e'], undefined]);
  });

  it('apiserver/L4: ignores the limit for resourceVersion 0, and a negative one', async () => {
    assert.deepEqual(await selected('limit=1&resourceVersion=0'), NAMES);
    assert.deepEqual(await selected('limit=-1'), NAMES);
  });

  it('apiserver/L4: shows the state at an exact revision, or one that is not older', async () => {
    const { revision } = api.server.store;
    await api.create(ranges, range('f'));
    assert.deepEqual(await selected(`resourceVersion=${revision}&resourceVersionMatch=Exact`), NAMES);
    assert.deepEqual((await selected(`resourceVersion=${revision}&limit=9`)).length, 5);
    assert.equal(
      (await selected(`resourceVersion=${revision}&limit=9&resourceVersionMatch=NotOlderThan`)).length,
      6,
    );
    assert.equal((await selected(`resourceVersion=${revision}`)).length, 6);
    await api.send('DELETE', `${ranges}/f`);
  });

  const refused: readonly [string, number, string | RegExp][] = [
    [
      'resourceVersionMatch=Exact',
      422,
      /Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided$/,
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      422,
      /Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"$/,
    ],
    [
      'resourceVersionMatch=Odd&resourceVersion=1',
      422,
      /Unsupported value: "Odd": supported values: "Exact", "NotOlderThan", ""$/,
    ],
    [
      'resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=x',
      422,
      /resourceVersionMatch is forbidden when continue is provided$/,
    ],
    ['sendInitialEvents=true', 422, /sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list/],
    ['continue=x&resourceVersion=5', 400, 'specifying resource version is not allowed when using continue'],
    ['continue=x', 400, /^invalid continue token: continue key is not valid/],
    [
      'resourceVersion=x',
      400,
      'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    ],
    ['resourceVersion=99999999999999999999', 400, /parsing "99999999999999999999": value out of range$/],
    ['limit=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['timeoutSeconds=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['labelSelector=a%20b%20c', 400, /./],
    ['fieldSelector=a', 400, /./],
    [
      'fieldSelector=spec.x%3Dy',
      400,
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
  ];
  for (const [query, code, message] of refused) {
    it(`apiserver/E9, E10, L4: refuses ?${query}`, async () => {
      assertStatus(await list(query), code, code === 422 ? 'Invalid' : 'BadRequest', message);
    });
  }

  const labels: readonly [string, readonly string[]][] = [
    ['odd', NAMES],
    ['!odd', []],
    ['odd=1', ['b', 'd']],
    ['odd==1', ['b', 'd']],
    ['odd!=1', ['a', 'c', 'e']],
    ['name in (a,b),odd=0', ['a']],
    ['name notin (a,b)', ['c', 'd', 'e']],
    ['other!=x', NAMES],
    ['odd>0', ['b', 'd']],
    ['odd<1', ['a', 'c', 'e']],
  ];
  for (const [selector, names] of labels) {
    it(`apiserver/L6: selects ${selector}`, async () => {
      assert.deepEqual(await selected(`labelSelector=${encodeURIComponent(selector)}`), names);
    });
  }

  const fields: readonly [string, readonly string[]][] = [
    ['metadata.name=b', ['b']],
    ['metadata.name==b', ['b']],
    ['metadata.name=none', []],
    ['metadata.name!=b', ['a', 'c', 'd', 'e']],
    ['metadata.name=b,metadata.namespace=ns-1', ['b']],
    ['metadata.name=b,metadata.name=c', []],
    ['metadata.namespace=other', []],
  ];
  for (const [selector, names] of fields) {
    it(`apiserver/L7: selects ${selector}`, async () => {
      assert.deepEqual(await selected(`fieldSelector=${encodeURIComponent(selector)}`), names);
    });
  }

  it('apiserver/L7, lab/E5: knows the fields of a kind, and names others as the kind does', async () => {
    const pods = ranges.replace('limitranges', 'pods');
    const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] };
    await api.create(pods, { metadata: { name: 'p' }, spec });
    assert.deepEqual(itemNames((await list('fieldSelector=spec.nodeName%3Dn1', pods)).body), ['p']);
    assert.deepEqual(itemNames((await list('fieldSelector=spec.nodeName%3Dn2', pods)).body), []);
    const unknown = await list('fieldSelector=spec.x%3Dy', pods);
    assertStatus(unknown, 400, 'BadRequest', 'field label not supported: spec.x');
    const one = await list('fieldSelector=metadata.name%3Ddefault', '/api/v1/namespaces');
    assert.deepEqual(itemNames(one.body), ['default']);
  });

  it('apiserver/C8: items of a built-in kind say no kind, custom ones do', async () => {
    const { body: built } = await list('');
    assert.deepEqual([at(built, 'items', 0, 'kind'), at(built, 'items', 0, 'apiVersion')], [undefined, undefined]);
    await api.define(customDefinition('rows', 'Row'));
    const rows = ranges.replace('/api/v1', '/apis/t.io/v1').replace('limitranges', 'rows');
    await api.create(rows, { apiVersion: 't.io/v1', kind: 'Row', metadata: { name: 'r' } });
    const { body } = await list('', rows);
    assert.partialDeepStrictEqual(body, {
      kind: 'RowList',
      apiVersion: 't.io/v1',
      metadata: { continue: '' },
      items: [{ kind: 'Row', apiVersion: 't.io/v1' }],
    });
    assertStatus(
      await list('fieldSelector=spec.x%3Dy', rows),
      400,
      'BadRequest',
      'field label not supported: spec.x',
    );
  });

  it('apiserver/E21, L3: says what is too old, and how to go on', async () => {
    const { body } = await list('limit=2');
    const { revision } = api.server.store;
    await api.create(ranges, range('later'));
    const compacted = await api.send('POST', `/debug/slipway/compact?revision=${api.server.store.revision}`);
    assert.deepEqual(compacted.body, { compactRevision: api.server.store.revision });
    const exact = await list(`resourceVersion=${revision}&resourceVersionMatch=Exact`);
    assertStatus(exact, 410, 'Expired', 'The resourceVersion for the provided list is too old.');
    const expired = await list(`limit=2&continue=${textOf(metaOf(body)['continue'])}`);
    assertStatus(
      expired,
      410,
      'Expired',
      /^The provided continue parameter is too old to display a consistent list/,
    );
    const next = await list(`limit=9&continue=${textOf(metaOf(expired.body)['continue'])}`);
    assert.deepEqual(itemNames(next.body), ['c', 'd', 'e', 'later']);
  });
});

describe('a read of a revision', () => {
  it('apiserver/W6: is answered when the revision is there', async () => {
    const api = await sharedApi();
    const maps = `${await api.namespace()}/configmaps`;
    const { resourceVersion } = metaOf(await api.create(maps, configMap('a')));
    for (const wanted of ['', '0', textOf(resourceVersion)]) {
      assert.equal((await api.get(`${maps}/a?resourceVersion=${wanted}`)).status, 200);
    }
    const reading = api.get(`${maps}/b?resourceVersion=${api.server.store.revision + 1}`);
    await api.create(maps, configMap('b'));
    assert.equal((await reading).status, 200);
  });

  it('apiserver/E10: is refused when it is no revision', async () => {
    const api = await sharedApi();
    const answer = await api.get('/api/v1/namespaces/default?resourceVersion=x');
    assertStatus(answer, 400, 'BadRequest', /^resourceVersion: Invalid value: "x": strconv\.ParseUint/);
  });

  it('apiserver/E22: fails after three seconds when the revision stays in the future', async () => {
    await using api = await ServedApi.start({ auth: { mode: 'AlwaysAllow' } });
    const { revision } = api.server.store;
    const reading = api.get(`/api/v1/namespaces/default?resourceVersion=${revision + 9}`);
    await api.clock.advance(2999);
    const listing = api.get(`/api/v1/namespaces?resourceVersion=${revision + 9}`);
    await api.clock.advance(1);
    const answer = await reading;
    assertStatus(
      answer,
      504,
      'Timeout',
      `Timeout: Too large resource version: ${revision + 9}, current: ${revision}`,
    );
    assert.deepEqual(answer.body['details'], {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    });
    await api.clock.advance(3000);
    assert.equal((await listing).status, 504);
  });

  it('ends when the client gives up waiting', async () => {
    const api = await sharedApi();
    const stop = new AbortController();
    const target = `/api/v1/namespaces/default?resourceVersion=${api.server.store.revision + 900}`;
    const reading = api.server.client()({ method: 'GET', target, signal: stop.signal });
    stop.abort();
    assert.equal((await reading).status, 500);
  });
});

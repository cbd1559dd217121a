import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  assertStatus,
  at,
  customDefinition,
  MERGE,
  metaOf,
  ServedApi,
  sharedApi,
} from '../../../test/support/served-api.ts';
import type { JsonObject } from '../../object/json.ts';
import { textOf } from '../rest/object-meta.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const text = { type: 'string' };

let api: ServedApi;
let space: string;
before(async () => {
  api = await sharedApi();
  space = (await api.namespace()).slice('/api/v1/'.length);
});

const object = (kind: string, version: string, name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: `t.io/${version}`,
  kind,
  metadata: { name },
  spec,
});

describe('CrdRuntime', () => {
  it('apiserver/X4: writes one condition after the other, then serves at once', async () => {
    const states: string[] = [];
    const key = '/registry/apiextensions.k8s.io/customresourcedefinitions/steps.t.io';
    const subscription = api.server.store.subscribe(key, ({ entry }) => {
      const { status } = JSON.parse(Buffer.from(entry.bytes).toString('utf8'));
      const conditions: readonly JsonObject[] = status.conditions ?? [];
      states.push(conditions.map(({ type, status: is }) => `${textOf(type)}=${textOf(is)}`).join(' '));
    });
    await api.define(customDefinition('steps', 'Step'));
    subscription[Symbol.dispose]();
    assert.deepEqual([states[0], states.at(-1)], ['', 'NamesAccepted=True Established=True']);
    assert.ok(states.includes('NamesAccepted=True') || states.includes('NamesAccepted=True Established=False'));
    assert.equal((await api.get(`/apis/t.io/v1/${space}/steps`)).status, 200);
  });

  it('apiserver/X3: serves no definition whose names are taken, until they are free', async () => {
    await api.define(customDefinition('firsts', 'Rival'));
    await api.create(CRDS, customDefinition('seconds', 'Rival'));
    const second = '/registry/apiextensions.k8s.io/customresourcedefinitions/seconds.t.io';
    await api.until(() => /KindConflict/.test(api.stored(second)));
    assert.equal((await api.get(`/apis/t.io/v1/${space}/seconds`)).status, 404);
    await api.send('DELETE', `${CRDS}/firsts.t.io`);
    await api.until(() =>
      /"status":"True"[^}]*"type":"Established"|"type":"Established","status":"True"/.test(api.stored(second)),
    );
    assert.equal((await api.get(`/apis/t.io/v1/${space}/seconds`)).status, 200);
    assert.equal((await api.get(`/apis/t.io/v1/${space}/firsts`)).status, 404);
  });

  it('apiserver/X10: shows a default that came later, without a write', async () => {
    await api.define(customDefinition('defaults', 'Default', [{ name: 'v1', spec: { a: text } }]));
    const target = `/apis/t.io/v1/${space}/defaults`;
    const made = await api.create(target, object('Default', 'v1', 'd'));
    const withDefault = customDefinition('defaults', 'Default', [
      { name: 'v1', spec: { a: { type: 'string', default: 'later' } } },
    ]);
    const { status, text: answer } = await api.send('PATCH', `${CRDS}/defaults.t.io`, {
      body: { spec: withDefault['spec'] ?? {} },
      type: MERGE,
    });
    assert.equal(status, 200, answer);
    const { body } = await api.get(`${target}/d`);
    assert.deepEqual(
      [body['spec'], metaOf(body)['resourceVersion']],
      [{ a: 'later' }, metaOf(made)['resourceVersion']],
    );
    const { body: list } = await api.get(target);
    assert.deepEqual(at(list, 'items', 0, 'spec'), { a: 'later' });
    assert.deepEqual(at((await api.get(target)).body, 'items', 0, 'spec'), { a: 'later' });
  });

  it('apiserver/X33: stores one version and serves each in its own', async () => {
    await api.define(
      customDefinition('pairs', 'Pair', [
        { name: 'v1', spec: { a: text, b: { type: 'string', default: 'new' } } },
        { name: 'v1alpha1', spec: { a: text } },
      ]),
    );
    const [v1, alpha] = [`/apis/t.io/v1/${space}/pairs`, `/apis/t.io/v1alpha1/${space}/pairs`];
    const made = await api.create(alpha, object('Pair', 'v1alpha1', 'p', { a: 'x' }));
    assert.deepEqual([made['apiVersion'], made['spec']], ['t.io/v1alpha1', { a: 'x' }]);
    assert.match(
      api.stored(`/registry/t.io/pairs/${space.slice('namespaces/'.length)}/p`),
      /"apiVersion":"t\.io\/v1"/,
    );
    const { body } = await api.get(`${v1}/p`);
    assert.deepEqual([body['apiVersion'], body['spec']], ['t.io/v1', { a: 'x', b: 'new' }]);
    const patched = await api.send('PATCH', `${alpha}/p`, { body: { spec: { a: 'y' } }, type: MERGE });
    assert.deepEqual(patched.body['spec'], { a: 'y' });
    const { body: list } = await api.get(alpha);
    assert.deepEqual(
      [at(list, 'items', 0, 'apiVersion'), at(list, 'items', 0, 'spec')],
      ['t.io/v1alpha1', { a: 'y' }],
    );
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    assert.equal(at((await api.get(alpha, { headers: { accept } })).body, 'rows', 0, 'cells', 0), 'p');
    const gone = await api.send('DELETE', `${alpha}/p`);
    assert.equal(gone.status, 200);
  });

  it('apiserver/S3: keeps who owns what across versions', async () => {
    await api.define(
      customDefinition('owneds', 'Owned', [
        { name: 'v1', spec: { a: text } },
        { name: 'v2', spec: { a: text } },
      ]),
    );
    const apply = (version: string, manager: string, a: string) =>
      api.send('PATCH', `/apis/t.io/${version}/${space}/owneds/o?fieldManager=${manager}`, {
        body: object('Owned', version, 'o', { a }),
        type: 'application/apply-patch+yaml',
      });
    assert.equal((await apply('v1', 'one', 'x')).status, 201);
    const conflict = await apply('v2', 'two', 'y');
    assertStatus(conflict, 409, 'Conflict', /^Apply failed with 1 conflict: conflict with "one"/);
    assert.equal((await apply('v2', 'two', 'x')).status, 200);
    const put = `/apis/t.io/v2/${space}/owneds/o`;
    const { body } = await api.get(put);
    const changed = await api.send('PUT', put, { body: { ...body, spec: { a: 'z' } } });
    assert.deepEqual([changed.status, changed.body['spec']], [200, { a: 'z' }]);
    const managers = at(changed.body, 'metadata', 'managedFields');
    assert.ok(Array.isArray(managers));
    assert.deepEqual(
      managers.map(({ manager }) => manager),
      ['test'],
    );
  });

  it('apiserver/X36: warns whoever uses a version that is deprecated', async () => {
    const deprecated = { deprecated: true };
    const told = { deprecated: true, deprecationWarning: 'use v2 "now"' };
    await api.define(
      customDefinition('olds', 'Old', [
        { name: 'v1' },
        { name: 'v1beta1', more: deprecated },
        { name: 'v1alpha1', more: told },
      ]),
    );
    const warning = async (version: string) => (await api.get(`/apis/t.io/${version}/olds`)).headers['warning'];
    assert.equal(await warning('v1'), undefined);
    assert.deepEqual(await warning('v1beta1'), ['299 - "t.io/v1beta1 Old is deprecated; use t.io/v1 Old"']);
    assert.deepEqual(await warning('v1alpha1'), ['299 - "use v2 \\"now\\""']);
  });

  it('apiserver/T13: ends open watches when the spec changes, not when the status does', async () => {
    await api.define(customDefinition('seen', 'Seen'));
    const watch = await api.request('GET', `/apis/t.io/v1/${space}/seen?watch=true`);
    const body = watch.bytes();
    let isEnded = false;
    const ended = body.then(() => {
      isEnded = true;
    });
    const annotate = { metadata: { annotations: { a: 'b' } } };
    await api.send('PATCH', `${CRDS}/seen.t.io`, { body: annotate, type: MERGE });
    assert.equal(isEnded, false);
    const names = { spec: { names: { shortNames: ['sn'] } } };
    await api.send('PATCH', `${CRDS}/seen.t.io`, { body: names, type: MERGE });
    await ended;
  });

  it('apiserver/E20: takes no new objects while the definition goes', async () => {
    await api.define(customDefinition('leavers', 'Leaver'));
    const target = `/apis/t.io/v1/${space}/leavers`;
    const held = object('Leaver', 'v1', 'held');
    await api.create(target, { ...held, metadata: { name: 'held', finalizers: ['ex.io/f'] } });
    await api.send('DELETE', `${CRDS}/leavers.t.io`);
    const refused = await api.send('POST', target, { body: object('Leaver', 'v1', 'late') });
    assertStatus(refused, 403, 'Forbidden', /create not allowed while custom resource definition is terminating$/);
    assert.equal((await api.get(`${target}/held`)).status, 200);
    await api.send('PATCH', `${target}/held`, { body: { metadata: { finalizers: null } }, type: MERGE });
    const key = '/registry/apiextensions.k8s.io/customresourcedefinitions/leavers.t.io';
    await api.until(() => api.stored(key) === '');
    assert.equal((await api.get(target)).status, 404);
  });
});

describe('conversion by webhook', () => {
  const convert = {
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { service: { name: 'converter', namespace: 'default' } },
      },
    },
  };
  const versions = [
    { name: 'v1', spec: { a: text } },
    { name: 'v2', spec: { b: text } },
  ];

  const [v1, v2] = ['/apis/t.io/v1/namespaces/default/hooks', '/apis/t.io/v2/namespaces/default/hooks'];

  /** Renames the one field that the versions call differently, and remembers how many objects came at once. */
  function renaming(counts: number[]) {
    return (review: JsonObject): Promise<JsonObject> => {
      const { uid, desiredAPIVersion, objects } = (review['request'] ?? {}) as Readonly<Record<string, unknown>>;
      const list = objects as readonly JsonObject[];
      counts.push(list.length);
      const convertedObjects = list.map((given) => {
        const { a, b } = (given['spec'] ?? {}) as Readonly<Record<string, string>>;
        const value = a ?? b ?? '';
        return {
          ...given,
          apiVersion: String(desiredAPIVersion),
          spec: desiredAPIVersion === 't.io/v1' ? { a: value } : { b: value },
        };
      });
      const response = { uid: String(uid), result: { status: 'Success' }, convertedObjects };
      return Promise.resolve({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response });
    };
  }

  it('apiserver/X34, X35, X37: asks once, a webhook in this process if a service leads to it, for all objects of a list, and only for those of another version', async () => {
    const counts: number[] = [];
    const webhook = renaming(counts);
    await using own = await ServedApi.start({ auth: { mode: 'AlwaysAllow' }, resolveService: () => webhook });
    await own.define(customDefinition('hooks', 'Hook', versions, convert));
    for (const name of ['h', 'i']) await own.create(v1, object('Hook', 'v1', name, { a: name }));
    assert.deepEqual(counts, [], 'what is stored as it came needs no conversion');
    const made = await own.create(v2, object('Hook', 'v2', 'j', { b: 'j' }));
    assert.deepEqual([made['apiVersion'], made['spec']], ['t.io/v2', { b: 'j' }]);
    counts.length = 0;
    const { body } = await own.get(v2);
    assert.deepEqual(
      [0, 1, 2].map((index) => at(body, 'items', index, 'spec', 'b')),
      ['h', 'i', 'j'],
    );
    assert.ok(counts.length === 1 && counts.every((count) => count >= 2), String(counts));
    await own.get(v2);
    assert.equal(counts.length, 1, 'converted bytes are kept');
    assert.deepEqual((await own.get(`${v2}/h`)).body['spec'], { b: 'h' });
    const accept = 'application/yaml';
    assert.match((await own.get(v2, { headers: { accept } })).text, /b: h/);
    const patched = await own.send('PATCH', `${v2}/h`, { body: { spec: { b: 'k' } }, type: MERGE });
    assert.deepEqual(patched.body['spec'], { b: 'k' });
    assert.deepEqual((await own.get(`${v1}/h`)).body['spec'], { a: 'k' });
    assert.equal((await own.send('DELETE', `${v2}/h`)).status, 200);
  });

  it('apiserver/X34: says which webhook failed, for reads, lists and writes', async () => {
    await using own = await ServedApi.start({ auth: { mode: 'AlwaysAllow' } });
    await own.define(customDefinition('hooks', 'Hook', versions, convert));
    await own.create(v1, object('Hook', 'v1', 'h', { a: 'x' }));
    const message = /conversion webhook for t\.io\/v1, Kind=Hook failed: /;
    assertStatus(await own.get(`${v2}/h`), 500, '', message);
    assertStatus(await own.get(v2), 500, '', message);
    const written = await own.send('POST', v2, { body: object('Hook', 'v2', 'i', { b: 'y' }) });
    assertStatus(written, 500, '', /conversion webhook for t\.io\/v2, Kind=Hook failed: /);
    assert.equal(
      (await own.get(`${v1}/h`)).status,
      200,
      'apiserver/X35: what needs no conversion needs no webhook',
    );
  });
});

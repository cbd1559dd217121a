import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  assertStatus,
  at,
  configMap,
  customDefinition,
  JSON_PATCH,
  MERGE,
  metaOf,
  type ServedApi,
  STRATEGIC,
  sharedApi,
} from '../../../test/support/served-api.ts';
import type { JsonObject } from '../../object/json.ts';
import { textOf } from './object-meta.ts';

describe('PATCH', () => {
  let api: ServedApi;
  let maps: string;
  let pieces: string;
  before(async () => {
    api = await sharedApi();
    const namespace = await api.namespace();
    maps = `${namespace}/configmaps`;
    pieces = `${namespace.replace('/api/v1', '/apis/t.io/v1')}/pieces`;
    await api.define(customDefinition('pieces', 'Piece'));
    await api.create(maps, configMap('target', { data: { a: '1', b: '2' } }));
    await api.create(pieces, { apiVersion: 't.io/v1', kind: 'Piece', metadata: { name: 'p' } });
  });
  const patch = (body: JsonObject | readonly JsonObject[] | string, type: string, query = '?dryRun=All') =>
    api.send('PATCH', `${maps}/target${query}`, { body, type });

  it('apiserver/P1: applies a JSON patch', async () => {
    const operations = [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'remove', path: '/data/a' },
      { op: 'add', path: '/data/c', value: '3' },
    ];
    assert.deepEqual((await patch(operations, JSON_PATCH)).body['data'], { b: '2', c: '3' });
  });

  it('apiserver/P2: applies a merge patch, whatever parameters its type has', async () => {
    const { body } = await patch({ data: { a: null, c: '3' } }, `${MERGE}; charset=utf-8`);
    assert.deepEqual(body['data'], { b: '2', c: '3' });
  });

  it('apiserver/P3: applies a strategic merge patch to a built-in kind only', async () => {
    const replaced = await patch({ data: { $patch: 'replace', z: '1' } }, STRATEGIC);
    assert.deepEqual(replaced.body['data'], { z: '1' });
    const custom = await api.send('PATCH', `${pieces}/p`, { body: {}, type: STRATEGIC });
    assertStatus(
      custom,
      415,
      'UnsupportedMediaType',
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  });

  it('apiserver/E28: refuses other types', async () => {
    const answer = await patch('{}', 'text/plain');
    assertStatus(answer, 415, 'UnsupportedMediaType', '415: Unsupported Media Type');
    assert.deepEqual(answer.body['details'], {});
  });

  const failing: readonly [string, readonly JsonObject[]][] = [
    ['a test that does not hold', [{ op: 'test', path: '/data/a', value: 'x' }]],
    ['a path that is not there', [{ op: 'remove', path: '/data/zzz' }]],
  ];
  for (const [what, operations] of failing) {
    it(`apiserver/E24: hides why ${what} fails`, async () => {
      const answer = await patch(operations, JSON_PATCH);
      assertStatus(answer, 422, 'Invalid', 'the server rejected our request due to an error in our request');
      assert.deepEqual(answer.body['details'], {});
    });
  }

  const undecodable: readonly [string, string, string][] = [
    ['broken JSON', '{x', MERGE],
    ['a JSON patch that is no list', '{}', JSON_PATCH],
    ['a merge patch that is no object', '[1]', MERGE],
  ];
  for (const [what, body, type] of undecodable) {
    it(`apiserver/P1: refuses ${what} with 400`, async () => {
      const { status, body: answer } = await patch(body, type);
      assert.deepEqual([status, answer['reason']], [400, 'BadRequest']);
    });
  }

  it('apiserver/P1: refuses more than 10,000 operations', async () => {
    const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }));
    const answer = await patch(many, JSON_PATCH);
    assertStatus(answer, 413, 'RequestEntityTooLarge', /10000/);
  });

  it('refuses a patch that leaves no object', async () => {
    const { status } = await patch([{ op: 'replace', path: '', value: 1 }], JSON_PATCH);
    assert.ok(status >= 400 && status < 500);
  });

  it('apiserver/P5: warns of unknown fields, and refuses them as Invalid when strict', async () => {
    const warned = await patch({ zzz: 1 }, MERGE);
    assert.deepEqual(warned.headers['warning'], ['299 - "unknown field \\"zzz\\""']);
    const strict = await patch({ zzz: 1 }, MERGE, '?fieldValidation=Strict');
    assertStatus(
      strict,
      422,
      'Invalid',
      /is invalid: patch: Invalid value: .*strict decoding error: unknown field "zzz"$/,
    );
  });

  it('apiserver/P5: changes neither name nor namespace nor uid', async () => {
    const name = await patch({ metadata: { name: 'other' } }, MERGE);
    assertStatus(
      name,
      400,
      'BadRequest',
      'the name of the object (other) does not match the name on the URL (target)',
    );
    const namespace = await patch({ metadata: { namespace: 'other' } }, MERGE);
    assertStatus(namespace, 400, 'BadRequest', /does not match the namespace sent on the request$/);
    const uid = await patch({ metadata: { uid: 'x' } }, MERGE);
    assertStatus(uid, 422, 'Invalid', /metadata\.uid: Invalid value: "x": field is immutable/);
  });

  it('apiserver/P5: blames the patch for a value of the wrong type', async () => {
    const answer = await patch({ data: { a: 1 } }, MERGE);
    assert.ok(answer.status === 400 || answer.status === 422, answer.text);
    assert.match(
      textOf(answer.body['message']),
      /cannot unmarshal number into Go struct field ConfigMap\.data of type string/,
    );
  });

  it('apiserver/P6: does not create', async () => {
    const answer = await api.send('PATCH', `${maps}/none`, { body: {}, type: MERGE });
    assertStatus(answer, 404, 'NotFound', 'configmaps "none" not found');
  });

  it('apiserver/W9: is tried again until it wins, unless it names a resourceVersion', async () => {
    const keys = ['q', 'r', 's', 't'];
    const answers = await Promise.all(keys.map((key) => patch({ data: { [key]: key } }, MERGE, '')));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const { body } = await api.get(`${maps}/target`);
    assert.deepEqual(
      keys.map((key) => at(body, 'data', key)),
      keys,
    );
    const stale = await patch({ metadata: { resourceVersion: '1' } }, MERGE);
    assertStatus(stale, 409, 'Conflict', /the object has been modified/);
  });
});

describe('server-side apply', () => {
  let api: ServedApi;
  let maps: string;
  before(async () => {
    api = await sharedApi();
    maps = `${await api.namespace()}/configmaps`;
  });
  const apply = (name: string, body: JsonObject | string, query = '?fieldManager=m', groups?: readonly string[]) =>
    api.send('PATCH', `${maps}/${name}${query}`, {
      body,
      type: 'application/apply-patch+yaml',
      ...(groups !== undefined && { user: 'jane', groups }),
    });

  it('apiserver/S11: creates what is missing, with 201, then changes it', async () => {
    const made = await apply('new', configMap('new', { data: { a: '1' } }));
    assert.deepEqual([made.status, made.body['data']], [201, { a: '1' }]);
    assert.partialDeepStrictEqual(at(made.body, 'metadata', 'managedFields', 0), {
      manager: 'm',
      operation: 'Apply',
    });
    const changed = await apply('new', 'apiVersion: v1\nkind: ConfigMap\ndata:\n  b: "2"\n');
    assert.deepEqual([changed.status, changed.body['data']], [200, { b: '2' }]);
  });

  it('apiserver/S11: stores nothing on dry run', async () => {
    assert.equal((await apply('dry', configMap('dry'), '?fieldManager=m&dryRun=All')).status, 201);
    assert.equal((await api.get(`${maps}/dry`)).status, 404);
  });

  it('apiserver/S11: takes a uid as proof that the object was there, a resourceVersion as precondition', async () => {
    const answer = await apply('gone', configMap('gone', { metadata: { name: 'gone', uid: 'x' } }));
    const why = 'uid mismatch: the provided object specified uid x, and no existing object was found';
    assertStatus(answer, 409, 'Conflict', `Operation cannot be fulfilled on configmaps "gone": ${why}`);
    await api.create(maps, configMap('there'));
    const stale = await apply('there', configMap('there', { metadata: { name: 'there', resourceVersion: '1' } }));
    assertStatus(stale, 409, 'Conflict', /the object has been modified/);
  });

  it('apiserver/S11: does not create through a subresource', async () => {
    const nodes = await api.send('PATCH', '/api/v1/nodes/none/status?fieldManager=m', {
      body: { apiVersion: 'v1', kind: 'Node' },
      type: 'application/apply-patch+yaml',
    });
    assertStatus(nodes, 404, 'NotFound', 'nodes "none" not found');
  });

  it('apiserver/S11: needs the right to create', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }];
    await api.create(`${rbac}/clusterroles`, { metadata: { name: 'patcher' }, rules });
    await api.create(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'patcher' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'patcher' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'patchers' }],
    });
    const answer = await apply('mine', configMap('mine'), '?fieldManager=m', ['patchers']);
    assertStatus(answer, 403, 'Forbidden', /^configmaps "mine" is forbidden: User "jane" cannot create resource/);
    await api.create(maps, configMap('theirs'));
    assert.equal((await apply('theirs', configMap('theirs'), '?fieldManager=m', ['patchers'])).status, 200);
  });

  it('apiserver/E23: refuses to take a field from another manager, unless forced', async () => {
    await apply('shared', configMap('shared', { data: { a: '1' } }));
    const other = configMap('shared', { data: { a: '2' } });
    const answer = await apply('shared', other, '?fieldManager=n');
    assertStatus(answer, 409, 'Conflict', 'Apply failed with 1 conflict: conflict with "m": .data.a');
    assert.deepEqual(answer.body['details'], {
      causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "m"', field: '.data.a' }],
    });
    assert.deepEqual((await apply('shared', other, '?fieldManager=n&force=true')).body['data'], { a: '2' });
  });

  const refused: readonly [string, JsonObject | string, string | RegExp][] = [
    ['no manager', configMap('x'), /^PatchOptions\.meta\.k8s\.io "" is invalid: fieldManager: Required value/],
    ['broken YAML', '{x', /^error decoding YAML: /],
    ['a list', '[]', /^error decoding YAML: /],
    ['no kind', {}, 'invalid object type: /, Kind='],
    [
      'another kind',
      { apiVersion: 'apps/v1', kind: 'Deployment' },
      'invalid object type: apps/v1, Kind=Deployment',
    ],
    ['managedFields', configMap('x', { metadata: { managedFields: [] } }), 'metadata.managedFields must be nil'],
    ['another name', configMap('y'), 'the name of the object (y) does not match the name on the URL (x)'],
    ['an unknown field', configMap('x', { zzz: 1 }), /\.zzz: field not declared in schema$/],
  ];
  for (const [what, body, message] of refused) {
    it(`apiserver/S8: refuses ${what}`, async () => {
      const answer = await apply('x', body, what === 'no manager' ? '' : '?fieldManager=m');
      assertStatus(
        answer,
        what === 'no manager' ? 422 : 400,
        what === 'no manager' ? 'Invalid' : 'BadRequest',
        message,
      );
    });
  }

  it('apiserver/S14: fills in the name and namespace of the URL', async () => {
    const { body, status } = await apply('unnamed', { apiVersion: 'v1', kind: 'ConfigMap' });
    assert.equal(status, 201);
    assert.equal(metaOf(body)['name'], 'unnamed');
  });
});

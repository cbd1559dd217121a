import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import type { Json, JsonObject } from '../json.ts';
import { type ApplyRequest, applyConfiguration } from './apply-configuration.ts';
import { withManagedFields } from './claims.ts';
import { ApplyConflict } from './conflict.ts';
import { TypedProblem } from './typed-problem.ts';

const STRING: Schema = { type: 'string' };
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { a: STRING, b: STRING, set: { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' } },
    },
  },
};
const NOW = '2030-01-02T03:04:05Z';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const objectOf = (spec: JsonObject, metadata: JsonObject = { name: 'x', namespace: 'n' }): JsonObject => ({
  apiVersion: 'test/v1',
  kind: 'Thing',
  metadata,
  spec,
});
const entry = (manager: string, spec: Json, more: JsonObject = {}): JsonObject => ({
  manager,
  operation: 'Apply',
  apiVersion: 'test/v1',
  time: '2029-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': spec },
  ...more,
});
const apply = (change: Partial<ApplyRequest>) =>
  applyConfiguration({
    live: undefined,
    config: objectOf({}),
    schema: SCHEMA,
    apiVersion: 'test/v1',
    manager: 'me',
    subresource: '',
    force: false,
    resetFields: [],
    now: new Date(NOW),
    ...change,
  });
const liveOf = (spec: JsonObject, ...entries: JsonObject[]): JsonObject =>
  withManagedFields(objectOf(spec, { name: 'x', namespace: 'n', uid: 'u' }), entries);

function conflictOf(change: Partial<ApplyRequest>): ApplyConflict {
  try {
    apply(change);
  } catch (error) {
    if (error instanceof ApplyConflict) return error;
    throw error;
  }
  return assert.fail('no conflict');
}

describe('applyConfiguration', () => {
  it('makes a new object and owns what it says', () => {
    const { object, isChanged } = apply({ config: objectOf({ a: '1' }) });
    assert.equal(isChanged, true);
    assert.deepEqual(object, {
      ...objectOf({ a: '1' }),
      metadata: { name: 'x', namespace: 'n', managedFields: [entry('me', { 'f:a': {} }, { time: NOW })] },
    });
  });

  it('apiserver/S7: changes nothing when it is applied again', () => {
    const live = liveOf({ a: '1' }, entry('me', { 'f:a': {} }));
    const { object, isChanged } = apply({ live, config: objectOf({ a: '1' }) });
    assert.equal(isChanged, false);
    assert.deepEqual(object, live);
  });

  it('apiserver/S7: states no time for a manager that changed nothing, as upstream', () => {
    const live = liveOf({ a: '1' }, entry('old', { 'f:a': {} }));
    const { object, isChanged } = apply({ live, config: objectOf({ a: '1' }) });
    const { time: _, ...timeless } = entry('me', { 'f:a': {} });
    assert.equal(isChanged, true);
    assert.deepEqual(object, liveOf({ a: '1' }, timeless, entry('old', { 'f:a': {} })));
  });

  it('leaves the live object and the configuration alone', () => {
    const live = liveOf({ set: ['x'] }, entry('me', { 'f:set': { 'v:"x"': {} } }));
    const config = objectOf({ set: ['y'] });
    const before = JSON.stringify([live, config]);
    const { object } = apply({ live, config });
    ((object['spec'] as JsonObject)['set'] as Json[]).push('z');
    assert.equal(JSON.stringify([live, config]), before);
  });

  it('apiserver/S6: first finds an owner for what nobody tracked', () => {
    const { object } = apply({ live: liveOf({ a: '1' }), config: objectOf({ b: '2' }) });
    assert.deepEqual((object['metadata'] as JsonObject)['managedFields'], [
      entry('me', { 'f:b': {} }, { time: NOW }),
      entry('before-first-apply', { '.': {}, 'f:a': {} }, { operation: 'Update', time: NOW }),
    ]);
  });

  it('apiserver/S14: keeps the name when an applier that owned a label leaves metadata out', () => {
    const labels = { app: 'x' };
    const own = entry('me', {}, { fieldsV1: { 'f:metadata': { 'f:labels': { 'f:app': {} } } } });
    const live = withManagedFields(objectOf({ a: '1' }, { name: 'x', namespace: 'n', uid: 'u', labels }), [own]);
    const config = { apiVersion: 'test/v1', kind: 'Thing', spec: { b: '2' } };
    const { metadata } = apply({ live, config }).object;
    const { managedFields: _, ...rest } = metadata as JsonObject;
    assert.deepEqual(rest, { name: 'x', namespace: 'n', uid: 'u' });
  });

  it('calls a manager without a name unknown', () => {
    const { metadata } = apply({ manager: '', config: objectOf({ a: '1' }) }).object;
    assert.deepEqual((metadata as JsonObject)['managedFields'], [entry('unknown', { 'f:a': {} }, { time: NOW })]);
  });
});

describe('conflicts', () => {
  it('apiserver/S9: one is named in one line', () => {
    const live = liveOf({ a: '1' }, entry('other', { 'f:a': {} }, { operation: 'Update', subresource: 'status' }));
    const error = conflictOf({ live, config: objectOf({ a: '2' }) });
    const who = '"other" with subresource "status" using test/v1';
    assert.equal(error.message, `Apply failed with 1 conflict: conflict with ${who}: .spec.a`);
    assert.deepEqual(error.causes, [
      { reason: 'FieldManagerConflict', message: `conflict with ${who}`, field: '.spec.a' },
    ]);
  });

  it('apiserver/S9: several are grouped by manager, and their causes ordered by path', () => {
    const live = liveOf({ a: '1', b: '1' }, entry('two', { 'f:a': {} }), entry('one', { 'f:a': {}, 'f:b': {} }));
    const error = conflictOf({ live, config: objectOf({ a: '2', b: '2' }) });
    assert.equal(
      error.message,
      'Apply failed with 3 conflicts: conflicts with "one":\n- .spec.a\n- .spec.b\nconflicts with "two":\n- .spec.a',
    );
    assert.deepEqual(
      error.causes.map(({ field }) => field),
      ['.spec.a', '.spec.a', '.spec.b'],
    );
  });
});

describe('typed problems', () => {
  const problemOf = (change: Partial<ApplyRequest>): string => {
    try {
      apply(change);
    } catch (error) {
      if (error instanceof TypedProblem) return error.message;
      throw error;
    }
    return assert.fail('no problem');
  };

  it('apiserver/S8: name the object and the field', () => {
    assert.equal(
      problemOf({ config: objectOf({ nosuch: 1 }) }),
      'failed to create typed patch object (n/x; test/v1, Kind=Thing): .spec.nosuch: field not declared in schema',
    );
  });

  it('apiserver/S8: print the core group with a slash', () => {
    assert.match(
      problemOf({ config: { apiVersion: 'v1', kind: 'Pod', x: 1 } }),
      /^failed .* \(\/; \/v1, Kind=Pod\): \.x: /,
    );
  });

  it('apiserver/S8: tell a live object that does not fit from the configuration', () => {
    const live = { ...objectOf({}), spec: 'x' };
    assert.match(problemOf({ live }), /^failed to create typed live object .*: \.spec: expected map, got &\{x\}$/);
  });

  it('tolerate duplicates in the live object only', () => {
    const live = liveOf({ set: ['x', 'x'] }, entry('old', { 'f:set': { 'v:"x"': {} } }));
    assert.ok(apply({ live, config: objectOf({ a: '1' }) }).isChanged);
    assert.match(
      problemOf({ config: objectOf({ set: ['x', 'x'] }) }),
      /\.spec\.set: duplicate entries for key \[="x"\]$/,
    );
  });
});

describe('apiserver/S15: the client-side past of kubectl', () => {
  const applied = JSON.stringify(objectOf({ a: '1' }));
  const past = (annotation: string, spec: JsonObject): JsonObject => {
    const metadata = { name: 'x', namespace: 'n', uid: 'u', annotations: { [LAST_APPLIED]: annotation } };
    const owner = entry('kubectl-client-side-apply', { 'f:a': {}, 'f:b': {} }, { operation: 'Update' });
    return withManagedFields(objectOf(spec, metadata), [owner]);
  };
  const annotationOf = ({ metadata }: JsonObject): Json | undefined =>
    ((metadata as JsonObject)['annotations'] as JsonObject)[LAST_APPLIED];

  it('yields what it applied, and is brought up to date', () => {
    const config = objectOf({ a: '2' }, { name: 'x', annotations: { [LAST_APPLIED]: 'old', note: '<>' } });
    const { object } = apply({ manager: 'kubectl', live: past(applied, { a: '1' }), config });
    assert.equal((object['spec'] as JsonObject)['a'], '2');
    assert.equal(
      annotationOf(object),
      '{"apiVersion":"test/v1","kind":"Thing","metadata":{"annotations":{"note":"\\u003c\\u003e"},"name":"x","namespace":"n"},"spec":{"a":"2"}}\n',
    );
  });

  it('yields nothing else', () => {
    const config = objectOf({ a: '2', b: '2' });
    const error = conflictOf({ manager: 'kubectl', live: past(applied, { a: '1', b: '1' }), config });
    assert.deepEqual(
      error.conflicts.map(({ path }) => path),
      ['.spec.b'],
    );
  });

  it('yields nothing that somebody changed since', () => {
    const error = conflictOf({
      manager: 'kubectl',
      live: past(applied, { a: 'changed' }),
      config: objectOf({ a: '2' }),
    });
    assert.deepEqual(
      error.conflicts.map(({ path }) => path),
      ['.spec.a'],
    );
  });

  const otherwise = [
    { name: 'another manager', manager: 'me', annotation: applied },
    { name: 'an annotation that is no JSON', manager: 'kubectl', annotation: '{' },
    { name: 'an annotation of another version', manager: 'kubectl', annotation: '{"apiVersion":"v9"}' },
    { name: 'an empty annotation', manager: 'kubectl', annotation: '' },
  ];
  for (const { name, manager, annotation } of otherwise) {
    it(`yields nothing to ${name}`, () => {
      conflictOf({ manager, live: past(annotation, { a: '1' }), config: objectOf({ a: '2' }) });
    });
  }

  it('is forgotten when the annotation would be too long', () => {
    const config = objectOf({ a: 'x'.repeat(256 * 1024) });
    const { object } = apply({ manager: 'kubectl', live: past(applied, { a: '1' }), config });
    assert.equal(annotationOf(object), undefined);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import type { Json, JsonObject } from '../json.ts';
import { withManagedFields } from './claims.ts';
import { updateManagedFields } from './managed-fields.ts';

const SCHEMA: Schema = {
  type: 'object',
  properties: { data: { type: 'object', additionalProperties: { type: 'string' } } },
};
const WRITING = {
  schema: SCHEMA,
  apiVersion: 'v1',
  manager: 'me',
  subresource: '',
  resetFields: [],
  now: new Date('2030-01-02T03:04:05.678Z'),
};

const objectOf = (data: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'b', ...metadata },
  data,
});
const entry = (manager: string, fieldsV1: Json, more: JsonObject = {}): JsonObject => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: '2029-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more,
});
const stored = (data: JsonObject, ...entries: JsonObject[]): JsonObject =>
  withManagedFields(objectOf(data, { uid: 'u' }), entries);

describe('updateManagedFields', () => {
  it('apiserver/S1: gives the maker of an object everything but its identity', () => {
    const updated = objectOf(
      { a: '1' },
      {
        uid: 'u',
        resourceVersion: '1',
        generation: 1,
        creationTimestamp: 'now',
        selfLink: '/',
        labels: { l: 'x' },
        finalizers: ['f'],
        ownerReferences: [{ uid: 'o', kind: 'Pod', name: 'p', apiVersion: 'v1' }],
      },
    );
    assert.deepEqual(updateManagedFields({ ...WRITING, live: undefined, updated }), [
      {
        manager: 'me',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2030-01-02T03:04:05Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:data': { '.': {}, 'f:a': {} },
          'f:metadata': {
            'f:finalizers': { '.': {}, 'v:"f"': {} },
            'f:labels': { '.': {}, 'f:l': {} },
            'f:ownerReferences': { '.': {}, 'k:{"uid":"o"}': {} },
          },
        },
      },
    ]);
  });

  it('gives nobody what a new object of the kind has anyway', () => {
    const [made] = updateManagedFields({
      ...WRITING,
      live: undefined,
      updated: objectOf({ a: '1' }),
      empty: { data: null },
    });
    assert.deepEqual((made as JsonObject)['fieldsV1'], { 'f:data': { 'f:a': {} } });
  });

  it('calls a manager without a name unknown', () => {
    const [made] = updateManagedFields({
      ...WRITING,
      manager: '',
      live: undefined,
      updated: objectOf({ a: '1' }),
    });
    assert.equal((made as JsonObject)['manager'], 'unknown');
  });

  it('apiserver/S7: gives back the very entries when nothing changes', () => {
    const live = stored({ a: '1' }, entry('old', { 'f:data': { '.': {}, 'f:a': {} } }));
    const [kept] = updateManagedFields({ ...WRITING, live, updated: objectOf({ a: '1' }) });
    assert.equal(kept, ((live['metadata'] as JsonObject)['managedFields'] as Json[])[0]);
  });

  it('apiserver/S7: keeps the time of a manager that only loses fields', () => {
    const live = stored({ a: '1', b: '2' }, entry('me', { 'f:data': { 'f:a': {}, 'f:b': {} } }));
    assert.deepEqual(updateManagedFields({ ...WRITING, live, updated: objectOf({ a: '1' }) }), [
      entry('me', { 'f:data': { 'f:a': {} } }),
    ]);
  });

  it('apiserver/S3: tells entries of one manager apart by operation, version and subresource', () => {
    const entries = [
      entry('me', { 'f:data': { 'f:a': {} } }, { operation: 'Apply' }),
      entry('me', { 'f:data': { 'f:b': {} } }, { subresource: 'status' }),
    ];
    const live = stored({ a: '1', b: '2' }, ...entries);
    const result = updateManagedFields({ ...WRITING, live, updated: objectOf({ a: '1', b: '2', c: '3' }) });
    assert.deepEqual(result, [
      ...entries,
      entry('me', { 'f:data': { 'f:c': {} } }, { time: '2030-01-02T03:04:05Z' }),
    ]);
  });

  it('sorts entries by operation, time, manager, version and subresource', () => {
    const fields = { 'f:data': { 'f:a': {} } };
    const ordered = [
      entry('z', fields, { operation: 'Apply', time: '2029-06-01T00:00:00Z' }),
      entry('a', fields, { time: '2028-01-01T00:00:00Z' }),
      entry('b', fields),
      entry('b', fields, { subresource: 'status' }),
      entry('c', fields),
    ];
    const live = stored({ a: '1' }, ...ordered.toReversed());
    assert.deepEqual(updateManagedFields({ ...WRITING, live, updated: objectOf({ a: '1' }) }), ordered);
  });

  describe('apiserver/S6: what the client writes', () => {
    const live = stored({ a: '1' }, entry('old', { 'f:data': { 'f:a': {} } }));
    const sentWith = (managedFields: Json): Json[] =>
      updateManagedFields({ ...WRITING, live, updated: objectOf({ a: '1' }, { managedFields }) });
    const rows: { name: string; sent: Json; want: readonly Json[] }[] = [
      { name: 'an empty list clears them', sent: [], want: [] },
      { name: 'a list of one empty entry clears them', sent: [{}], want: [] },
      { name: 'null leaves them', sent: null, want: [entry('old', { 'f:data': { 'f:a': {} } })] },
      { name: 'nonsense leaves them', sent: 'x', want: [entry('old', { 'f:data': { 'f:a': {} } })] },
      {
        name: 'an entry of an unknown type leaves them',
        sent: [entry('new', {}, { fieldsType: 'FieldsV2' })],
        want: [entry('old', { 'f:data': { 'f:a': {} } })],
      },
      {
        name: 'an entry without a type leaves them',
        sent: [entry('new', {}, { fieldsType: '' })],
        want: [entry('old', { 'f:data': { 'f:a': {} } })],
      },
      {
        name: 'an entry without an operation leaves them',
        sent: [entry('new', {}, { operation: '' }), 1],
        want: [entry('old', { 'f:data': { 'f:a': {} } })],
      },
      {
        name: 'an entry without a version leaves them',
        sent: [entry('new', {}, { apiVersion: '' })],
        want: [entry('old', { 'f:data': { 'f:a': {} } })],
      },
      {
        name: 'an entry with fields that are none leaves them',
        sent: [entry('new', { nonsense: 1 })],
        want: [entry('old', { 'f:data': { 'f:a': {} } })],
      },
      {
        name: 'entries that make sense count, in our spelling',
        sent: [entry('new', { 'f:data': { 'f:b': {}, 'f:a': { '.': {} } } })],
        want: [entry('new', { 'f:data': { 'f:a': {}, 'f:b': {} } })],
      },
    ];
    for (const { name, sent, want } of rows) {
      it(name, () => {
        assert.deepEqual(sentWith(sent), want);
      });
    }

    it('does not count on a subresource', () => {
      const updated = objectOf({ a: '1' }, { managedFields: [] });
      assert.equal(updateManagedFields({ ...WRITING, subresource: 'status', live, updated }).length, 1);
    });

    it('stays cleared until somebody applies', () => {
      assert.deepEqual(
        updateManagedFields({ ...WRITING, live: stored({ a: '1' }), updated: objectOf({ a: '2' }) }),
        [],
      );
    });
  });

  it('stores no owners for what does not fit its schema', () => {
    const schema: Schema = {
      type: 'object',
      properties: { set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' } },
    };
    for (const updated of [{ set: [null] }, { set: [{}] }, { set: [['x']] }, { nosuch: 1 }] as JsonObject[]) {
      assert.deepEqual(updateManagedFields({ ...WRITING, schema, live: undefined, updated }), []);
    }
  });

  describe('apiserver/S5: more than ten writers', () => {
    const writers = (count: number): JsonObject[] =>
      Array.from({ length: count }, (_, at) =>
        entry(
          `w${at}`,
          { 'f:data': { [`f:k${at}`]: {} } },
          { time: `2029-01-01T00:00:${String(at).padStart(2, '0')}Z` },
        ),
      );
    const dataOf = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'x']));
    const namesOf = (entries: readonly Json[]): Json[] =>
      entries.map((each) => (each as JsonObject)['manager'] ?? null);

    it('are ten writers and ancient changes', () => {
      const live = stored(dataOf(10), ...writers(10));
      const result = updateManagedFields({ ...WRITING, live, updated: objectOf({ ...dataOf(10), mine: 'x' }) });
      assert.deepEqual(namesOf(result), ['ancient-changes', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8', 'w9', 'me']);
      assert.deepEqual(
        result[0],
        entry('ancient-changes', { 'f:data': { 'f:k0': {}, 'f:k1': {} } }, { time: '2029-01-01T00:00:01Z' }),
      );
    });

    it('go on into the same entry', () => {
      const [first = {}, ...others] = writers(10);
      const live = stored(dataOf(10), { ...first, manager: 'ancient-changes' }, ...others);
      const result = updateManagedFields({ ...WRITING, live, updated: objectOf({ ...dataOf(10), mine: 'x' }) });
      assert.deepEqual((result[0] as JsonObject)['fieldsV1'], { 'f:data': { 'f:k0': {}, 'f:k1': {} } });
      assert.equal(result.length, 10);
    });

    it('lose nothing when the ancient ones are not the oldest', () => {
      const [first = {}, second = {}, ...others] = writers(10);
      const live = stored(dataOf(10), first, { ...second, manager: 'ancient-changes' }, ...others);
      const result = updateManagedFields({ ...WRITING, live, updated: objectOf({ ...dataOf(10), mine: 'x' }) });
      assert.deepEqual((result[0] as JsonObject)['fieldsV1'], { 'f:data': { 'f:k0': {}, 'f:k1': {} } });
    });

    it('leave appliers alone', () => {
      const appliers = writers(12).map((each) => ({ ...each, operation: 'Apply' }));
      const live = stored(dataOf(12), ...appliers);
      assert.equal(
        updateManagedFields({ ...WRITING, live, updated: objectOf({ ...dataOf(12), m: 'x' }) }).length,
        13,
      );
    });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '../json.ts';
import { restoreTimes } from './restore-times.ts';
import { parentManagedFields, scaleManagedFields } from './scale.ts';

const entry = (manager: string, fieldsV1: Json, more: JsonObject = {}): JsonObject => ({
  manager,
  operation: 'Update',
  apiVersion: 'apps/v1',
  time: '2029-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more,
});

describe('apiserver/S3: writes through scale', () => {
  const paths = { 'apps/v1': ['spec', 'replicas'], 'apps/v2': undefined };
  const at = { apiVersion: 'apps/v1', paths };
  const both = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } };
  const replicas = { 'f:spec': { 'f:replicas': {} } };

  it('start from whoever owns the replicas of the parent', () => {
    const entries = [
      entry('one', both, { operation: 'Apply' }),
      entry('two', { 'f:spec': { 'f:paused': {} } }),
      entry('three', both, { apiVersion: 'apps/v0' }),
      entry('four', both, { apiVersion: 'apps/v2' }),
    ];
    assert.deepEqual(scaleManagedFields(entries, paths), [
      entry('one', replicas, { operation: 'Apply', apiVersion: 'autoscaling/v1' }),
    ]);
  });

  it('are recorded on the parent with their subresource and without a time', () => {
    const parent = [entry('one', both, { operation: 'Apply' }), entry('two', replicas)];
    const scale = [entry('kubectl', replicas, { apiVersion: 'autoscaling/v1', subresource: 'scale' })];
    const { time: _, ...written } = entry('kubectl', replicas, { subresource: 'scale' });
    assert.deepEqual(parentManagedFields(parent, scale, at), [
      entry('one', { 'f:spec': { 'f:paused': {} } }, { operation: 'Apply' }),
      written,
    ]);
  });

  it('that change nothing leave the parent as it is', () => {
    const parent = [
      entry('one', both, { operation: 'Apply' }),
      entry('two', both),
      entry('four', both, { apiVersion: 'apps/v2' }),
    ];
    assert.deepEqual(parentManagedFields(parent, scaleManagedFields(parent, paths), at), [
      parent[0],
      parent[2],
      parent[1],
    ]);
  });

  it('drop entries of versions that are gone', () => {
    assert.deepEqual(parentManagedFields([entry('old', both, { apiVersion: 'apps/v0' })], [], at), []);
  });
});

describe('apiserver/S7: restoreTimes', () => {
  const objectOf = (text: string, ...managedFields: JsonObject[]): JsonObject => ({
    metadata: { managedFields },
    text,
  });
  const live = objectOf('a', entry('one', {}));
  const later = { time: '2030-01-01T00:00:00Z' };

  it('undoes times that are all that changed', () => {
    assert.deepEqual(restoreTimes(live, objectOf('a', entry('one', {}, later))), live);
  });

  const kept = [
    { name: 'something else changed', updated: objectOf('b', entry('one', {}, later)) },
    { name: 'fields changed hands', updated: objectOf('a', entry('one', { 'f:text': {} }, later)) },
    { name: 'there is another entry', updated: objectOf('a', entry('one', {}, later), entry('two', {})) },
    { name: 'nothing changed', updated: objectOf('a', entry('one', {})) },
    { name: 'there are none', updated: { text: 'a' } },
  ];
  for (const { name, updated } of kept) {
    it(`leaves times alone when ${name}`, () => {
      assert.equal(restoreTimes(live, updated), updated);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldAt, type Unstructured, unstructured } from './unstructured.ts';

describe('unstructured', () => {
  it('runtime/K2: is a kind known only at run time', () => {
    const kind = { group: 'a.example', version: 'v1', kind: 'Boat', plural: 'boats', scope: 'Cluster' } as const;
    assert.deepEqual(unstructured(kind), kind);
    const boat: Unstructured = {
      apiVersion: 'a.example/v1',
      kind: 'Boat',
      metadata: { name: 'a' },
      spec: { sails: [1, 2] },
    };
    assert.equal(fieldAt(boat, 'spec', 'sails', 1), 2);
    assert.deepEqual(fieldAt(boat, 'spec', 'sails'), [1, 2]);
    assert.equal(fieldAt(boat, 'spec', 'masts', 'count'), undefined);
    assert.equal(fieldAt(boat, 'spec', 'sails', 'length', 'x'), undefined);
    assert.equal(fieldAt(boat, 'constructor'), undefined);
  });
});

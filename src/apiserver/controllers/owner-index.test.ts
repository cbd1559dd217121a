import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OwnerIndex, type OwnerReference, ownersIn } from './owner-index.ts';

const owner = (uid: string, isBlocking = false): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: uid,
  uid,
  isBlocking,
});

describe('owner index', () => {
  it('keeps nothing of objects without owners', () => {
    const index = new OwnerIndex();
    assert.equal(index.set('a', 'ua', []), false);
    assert.equal(index.isEmpty, true);
    assert.equal(index.has('a'), false);
  });

  it('tells whether owners changed', () => {
    const index = new OwnerIndex();
    assert.equal(index.set('a', 'ua', [owner('o')]), true);
    assert.equal(index.set('a', 'ua', [owner('o')]), false);
    assert.equal(index.set('a', 'ua', [owner('o', true)]), true);
    assert.equal(index.set('a', 'ub', [owner('o', true)]), true);
    assert.equal(index.set('a', 'ub', []), true);
    assert.equal(index.isEmpty, true);
  });

  it('counts what blocks an owner, two references of one object once', () => {
    const index = new OwnerIndex();
    index.set('a', 'ua', [owner('o', true), owner('o', true)]);
    index.set('b', 'ub', [owner('o')]);
    assert.equal(index.isBlocked('o'), true);
    assert.deepEqual(index.dependentsOf('o'), ['a', 'b']);
    index.set('a', 'ua', []);
    assert.equal(index.isBlocked('o'), false);
    assert.deepEqual(index.dependentsOf('o'), ['b']);
  });

  it('remembers a waiting owner until it is told that nothing blocks it', () => {
    const index = new OwnerIndex();
    const references = [owner('o', true)];
    index.set('a', 'ua', references);
    assert.equal(index.setWaiting('o', 'key'), true);
    assert.equal(index.setWaiting('o', 'key'), false);
    assert.deepEqual(index.unblocked(references), []);
    index.set('a', 'ua', []);
    assert.deepEqual(index.unblocked(references), ['key']);
    index.forget('o');
    assert.equal(index.isEmpty, true);
  });

  it('remembers that an owner is gone as long as anything depends on it', () => {
    const index = new OwnerIndex();
    index.set('a', 'ua', [owner('o')]);
    index.setGone('o');
    assert.equal(index.isGone('o'), true);
    index.set('a', 'ua', []);
    assert.equal(index.isGone('o'), false);
    index.setGone('o');
    assert.equal(index.isEmpty, true);
  });

  it('searches once for an owner that is not where it should be', () => {
    const index = new OwnerIndex();
    index.set('a', 'ua', [owner('o')]);
    let searches = 0;
    const search = () => ++searches > 0;
    assert.equal(index.searched('o', '/pods/', search), true);
    assert.equal(index.searched('o', '/pods/', search), true);
    assert.equal(searches, 1);
    index.searched('o', '/nodes/', search);
    assert.equal(searches, 2);
  });

  it('reads owner references, whatever else is there', () => {
    const reference = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', blockOwnerDeletion: true };
    assert.deepEqual(ownersIn({ ownerReferences: [reference, 'no'] }), [
      { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', isBlocking: true },
    ]);
    assert.deepEqual(ownersIn({ ownerReferences: null }), []);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod, replicaSet } from '../../../../test/support/workload-objects.ts';
import { claimStep, selectorOf } from './claims.ts';

const selector = selectorOf({ matchLabels: { app: 'web' } });
const owner = replicaSet('web', 1);
const ownerUid = owner.metadata.uid ?? '';
const leaving = replicaSet('web', 1, { isLeaving: true });
const other = { app: 'other' };

describe('whom an object belongs to', () => {
  const cases = [
    { name: 'keeps what it owns', object: pod('a', { owner: ownerUid }), want: 'owned' },
    {
      name: 'releases what it owns and does not match',
      object: pod('a', { owner: ownerUid, labels: other }),
      want: 'release',
    },
    { name: 'adopts a matching orphan', object: pod('a'), want: 'adopt' },
    { name: 'leaves other orphans alone', object: pod('a', { labels: other }), want: 'foreign' },
    { name: 'leaves an orphan alone that goes', object: pod('a', { isLeaving: true }), want: 'foreign' },
    { name: 'leaves what somebody else owns', object: pod('a', { owner: 'x' }), want: 'foreign' },
  ];
  for (const { name, object, want } of cases) {
    it(`lab/W1: ${name}`, () => assert.equal(claimStep(object, owner, selector), want));
  }

  const whileLeaving = [
    { name: 'keeps what it owns', object: pod('a', { owner: ownerUid }), want: 'owned' },
    { name: 'releases nothing', object: pod('a', { owner: ownerUid, labels: other }), want: 'foreign' },
    { name: 'adopts nothing', object: pod('a'), want: 'foreign' },
  ];
  for (const { name, object, want } of whileLeaving) {
    it(`lab/W1: an owner that is being deleted ${name}`, () => {
      assert.equal(claimStep(object, leaving, selector), want);
    });
  }

  it('lab/W1: an owner that was deleted and made again owns nothing of before', () => {
    const again = { ...owner, metadata: { ...owner.metadata, uid: 'new' } };
    assert.equal(claimStep(pod('a', { owner: ownerUid }), again, selector), 'foreign');
  });
});

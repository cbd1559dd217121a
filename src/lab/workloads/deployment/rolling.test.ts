import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, deployment, replicaSet, template } from '../../../../test/support/workload-objects.ts';
import { newSetSize, rollingSteps } from './rolling.ts';
import { rolloutOf, type ScaleStep } from './rollout.ts';

const old = (name: string, size: number, available = size, age = 100) =>
  replicaSet(name, size, {
    template: template('web:0'),
    created: ago(age),
    status: { availableReplicas: available },
  });
const fresh = (size: number, available = size) =>
  replicaSet('new', size, { created: ago(0), status: { availableReplicas: available } });
const shown = (steps: readonly ScaleStep[]) => steps.map(({ set, replicas }) => [set.metadata.name, replicas]);

describe('the new set of a rolling update', () => {
  // From upstream's table for NewRSNewReplicas.
  const sizes = [
    { name: 'stays where there is no room', replicas: 1, size: 5, maxSurge: 1, want: 5 },
    { name: 'grows to what is wanted', replicas: 6, size: 2, maxSurge: 10, want: 6 },
  ];
  for (const { name, replicas, size, maxSurge, want } of sizes) {
    it(`lab/W7: ${name}`, () => {
      assert.equal(newSetSize(deployment(replicas, { maxSurge, maxUnavailable: 1 }), size, 5), want);
    });
  }

  it('lab/W7b: is as large as is wanted when pods are recreated', () => {
    assert.equal(newSetSize(deployment(3, { spec: { strategy: { type: 'Recreate' } } }), 1, 5), 3);
  });

  // From upstream's table for reconcileNewReplicaSet.
  const steps = [
    { replicas: 10, maxSurge: 0, olds: 10, size: 0, want: undefined },
    { replicas: 10, maxSurge: 2, olds: 10, size: 0, want: 2 },
    { replicas: 10, maxSurge: 2, olds: 5, size: 0, want: 7 },
    { replicas: 10, maxSurge: 2, olds: 10, size: 2, want: undefined },
    { replicas: 10, maxSurge: 2, olds: 2, size: 11, want: 10 },
  ];
  for (const { replicas, maxSurge, olds, size, want } of steps) {
    it(`lab/W7: of ${size} beside ${olds} old for ${replicas}, ${maxSurge} more allowed, goes to ${want ?? size}`, () => {
      const web = deployment(replicas, { maxSurge });
      const found = rollingSteps(rolloutOf(web, [old('old', olds), fresh(size)]));
      const ofNew = found.find(({ set }) => set.metadata.name === 'new');
      assert.equal(ofNew?.replicas, want);
    });
  }
});

describe('the old sets of a rolling update', () => {
  // From upstream's tables for reconcileOldReplicaSets, cleanupUnhealthyReplicas and scaleDownOldReplicaSets….
  const cases = [
    {
      name: 'one may always be missing',
      replicas: 10,
      maxUnavailable: 0,
      sets: [old('a', 10), fresh(0)],
      want: [['a', 9]],
    },
    {
      name: 'two may be missing',
      replicas: 10,
      maxUnavailable: 2,
      sets: [old('a', 10), fresh(0)],
      want: [['a', 8]],
    },
    {
      name: 'those that are not available go first, and no others',
      replicas: 10,
      maxUnavailable: 2,
      sets: [old('a', 10, 8), fresh(0)],
      want: [['a', 8]],
    },
    {
      name: 'one that is not available goes, and then one that is',
      replicas: 10,
      maxUnavailable: 2,
      sets: [old('a', 10, 9), fresh(0)],
      want: [
        ['a', 9],
        ['a', 8],
      ],
    },
    {
      name: 'new pods that are not available hold the old ones back',
      replicas: 10,
      maxUnavailable: 2,
      sets: [old('a', 8), fresh(2, 0)],
      want: [],
    },
    {
      name: 'an old pod that broke is kept while no new one works',
      replicas: 10,
      maxUnavailable: 2,
      maxSurge: 3,
      sets: [old('a', 8, 7), fresh(5, 0)],
      want: [],
    },
    {
      name: 'broken pods of a template that is given up go at once',
      replicas: 10,
      maxUnavailable: 2,
      maxSurge: 3,
      sets: [old('broken', 5, 0), fresh(8, 7)],
      want: [['broken', 1]],
    },
    {
      name: 'the oldest set shrinks first',
      replicas: 4,
      maxUnavailable: 2,
      sets: [old('older', 1, 1, 200), old('newer', 3, 3, 100), fresh(0)],
      want: [
        ['older', 0],
        ['newer', 2],
      ],
    },
    {
      name: 'broken pods of a newer set go before healthy ones of an older set',
      replicas: 4,
      maxUnavailable: 1,
      sets: [old('older', 3, 3, 200), old('newer', 1, 0, 100), fresh(0)],
      want: [['newer', 0]],
    },
    {
      name: 'a set that has more than it asks for is not to be trusted yet',
      replicas: 4,
      maxUnavailable: 2,
      sets: [old('a', 3, 4), fresh(1, 1)],
      want: [],
    },
    { name: 'nothing is left to remove', replicas: 4, maxUnavailable: 2, sets: [old('a', 0), fresh(4)], want: [] },
    {
      name: 'all go when the new ones are available',
      replicas: 2,
      maxUnavailable: 0,
      maxSurge: 1,
      sets: [old('a', 1), fresh(2)],
      want: [['a', 0]],
    },
  ];
  for (const { name, replicas, maxUnavailable, maxSurge = 0, sets, want } of cases) {
    it(`lab/W7: ${name}`, () => {
      // There is no room for the new set, so that the question is about the old ones.
      const web = deployment(replicas, { maxSurge, maxUnavailable });
      assert.deepEqual(shown(rollingSteps(rolloutOf(web, sets))), want);
    });
  }

  it('lab/W7: at most one of the two moves at a time, the new one first', () => {
    const web = deployment(4, { maxSurge: 1, maxUnavailable: 1 });
    assert.deepEqual(shown(rollingSteps(rolloutOf(web, [old('a', 4), fresh(0)]))), [['new', 1]]);
    assert.deepEqual(shown(rollingSteps(rolloutOf(web, [old('a', 4), fresh(1, 0)]))), [['a', 3]]);
  });

  it('lab/W7: nothing moves without a new set', () => {
    assert.deepEqual(rollingSteps(rolloutOf(deployment(4), [old('a', 4)])), []);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ago, deployment, replicaSet, template } from '../../../../test/support/workload-objects.ts';
import type { Deployment } from '../../../api/generated/apps-v1.ts';
import { isScalingEvent, scalingSteps, shareOf } from './proportions.ts';
import { DESIRED_REPLICAS, MAX_REPLICAS, replicasAnnotations } from './revision.ts';
import { rolloutOf } from './rollout.ts';

interface Case {
  readonly hasNew: boolean;
  /** Before and after. */
  readonly surge: readonly number[];
  readonly maxUnavailable: number;
  /** What some sets say instead of what the Deployment wanted before. */
  readonly desired: Readonly<Record<number, string>>;
}

const PLAIN: Case = { hasNew: true, surge: [0, 0], maxUnavailable: 0, desired: {} };

/** Sizes from the oldest to the newest; the last is the new set unless there is none. */
function setsFor(before: Deployment, sizes: readonly number[], options: Partial<Case> = {}) {
  const { hasNew, desired } = { ...PLAIN, ...options };
  return sizes.map((size, at) => {
    const isNew = hasNew && at === sizes.length - 1;
    const annotations = {
      ...replicasAnnotations(before),
      ...(desired[at] !== undefined && { [DESIRED_REPLICAS]: desired[at], [MAX_REPLICAS]: desired[at] }),
    };
    return replicaSet(`s${at}`, size, {
      created: ago(100 - at),
      annotations,
      template: isNew ? template() : template(`old:${at}`),
      status: { availableReplicas: isNew ? 0 : size },
    });
  });
}

/** The sizes after all steps. */
function scaled(after: Deployment, sets: ReturnType<typeof setsFor>): readonly number[] {
  const sizes = new Map(sets.map((set) => [set, set.spec.replicas ?? 0]));
  for (const { set, replicas } of scalingSteps(rolloutOf(after, sets))) sizes.set(set, replicas);
  return [...sizes.values()];
}

describe('scaling without a rollout', () => {
  // From upstream's table for scale; sizes from the oldest set to the newest.
  const cases = [
    { name: 'one set up', from: 10, to: 12, sizes: [10], want: [12] },
    { name: 'one set down', from: 10, to: 5, sizes: [10], want: [5] },
    { name: '5 to 10', from: 5, to: 10, sizes: [3, 2], want: [6, 4] },
    { name: '5 to 3', from: 5, to: 3, sizes: [3, 2], want: [2, 1] },
    { name: '9 to 4', from: 9, to: 4, sizes: [1, 8], want: [0, 4] },
    { name: '7 to 10', from: 7, to: 10, sizes: [2, 3, 2], want: [3, 4, 3] },
    { name: '13 to 8', from: 13, to: 8, sizes: [3, 8, 2], want: [2, 5, 1] },
    { name: 'what is left goes to the newest', from: 3, to: 4, sizes: [1, 1, 1], want: [1, 1, 2] },
    { name: 'what is too much comes from the oldest', from: 3, to: 2, sizes: [1, 1, 1], want: [0, 1, 1] },
    { name: 'no new set: the latest first', from: 4, to: 5, sizes: [2, 2], hasNew: false, want: [2, 3] },
    { name: '6 to 0', from: 6, to: 0, sizes: [1, 2, 3], want: [0, 0, 0] },
    { name: '0 to 6: only the new one', from: 6, to: 6, sizes: [0, 0, 0], want: [0, 0, 6] },
    {
      name: 'one of three was not written',
      from: 5,
      to: 5,
      sizes: [1, 1, 2],
      desired: { 1: '3' },
      want: [1, 2, 2],
    },
    { name: 'with surge', from: 10, to: 20, sizes: [6, 6], surge: [2, 2], want: [11, 11] },
    { name: 'surge and size', from: 10, to: 50, sizes: [8, 5], surge: [3, 6], want: [34, 22] },
    { name: 'size and template', from: 10, to: 14, sizes: [3, 7], hasNew: false, want: [4, 10] },
    {
      name: 'a full set of broken pods',
      from: 2,
      to: 2,
      sizes: [1, 2],
      surge: [1, 1],
      maxUnavailable: 1,
      want: [1, 2],
    },
  ];
  for (const { name, from, to, sizes, want, ...rest } of cases) {
    it(`lab/W8: ${name}`, () => {
      const { hasNew, surge, maxUnavailable, desired } = { ...PLAIN, ...rest };
      const [surgeBefore = 0, surgeAfter = 0] = surge;
      const before = deployment(from, { maxSurge: surgeBefore, maxUnavailable });
      const after = deployment(to, { maxSurge: surgeAfter, maxUnavailable });
      assert.deepEqual(scaled(after, setsFor(before, sizes, { hasNew, desired })), want);
    });
  }

  it('lab/W8: old sets go when the new one is full and knows it', () => {
    const web = deployment(2, { maxSurge: 1 });
    const annotations = replicasAnnotations(web);
    const full = replicaSet('new', 2, { annotations, status: { availableReplicas: 2 } });
    const old = replicaSet('old', 1, { template: template('web:0'), annotations });
    const steps = scalingSteps(rolloutOf(web, [old, full]));
    assert.deepEqual(steps, [{ set: old, replicas: 0 }]);
  });

  it('lab/W8: nothing is shared out while pods are recreated', () => {
    const web = deployment(4, { spec: { strategy: { type: 'Recreate' } } });
    assert.deepEqual(scalingSteps(rolloutOf(web, setsFor(deployment(2), [1, 1]))), []);
  });

  it('lab/W8: a Deployment without sets has nothing to scale', () => {
    assert.deepEqual(scalingSteps(rolloutOf(deployment(4), [])), []);
  });

  it('lab/W8: a set that has the size already and says another one is put right', () => {
    const set = replicaSet('new', 4, { annotations: replicasAnnotations(deployment(2)) });
    const steps = scalingSteps(rolloutOf(deployment(4), [set]));
    assert.deepEqual(steps, [{ set, replicas: 4, isForced: true }]);
  });

  // From upstream's table for getReplicaSetFraction.
  const fractions = [
    { name: 'all of it when nothing is wanted', replicas: 0, size: 10, want: -10 },
    { name: 'nothing when nobody knows how much there was', replicas: 10, size: 5, want: 0 },
    { name: 'nothing when it says 0 and there is nothing', replicas: 10, size: 5, max: '0', want: 0 },
    { name: 'by what there is, without annotation', replicas: 120, status: 100, size: 50, want: 10 },
    { name: 'by what there is, when it says 0', replicas: 120, status: 100, size: 50, max: '0', want: 10 },
    { name: 'a fifth more', replicas: 120, size: 50, max: '100', want: 10 },
    { name: 'a fifth more with surge', replicas: 120, surge: 10, size: 50, max: '110', want: 9 },
    { name: 'a sixth less', replicas: 10, size: 6, max: '12', want: -1 },
    { name: 'a sixth less with surge', replicas: 100, surge: 10, size: 50, max: '130', want: -8 },
  ];
  for (const { name, replicas, size, want, surge = 0, status = 0, max } of fractions) {
    it(`lab/W8: a share is ${name}`, () => {
      const web = deployment(replicas, { maxSurge: surge, maxUnavailable: 1, status: { replicas: status } });
      const set = replicaSet('a', size, max === undefined ? {} : { annotations: { [MAX_REPLICAS]: max } });
      const toAdd = want < 0 ? -1000 : 1000;
      assert.equal(shareOf(set, web, { toAdd, added: 0 }), want);
    });
  }

  it('lab/W8: whatever is shared out, the sum is what is allowed and nobody gets below zero', () => {
    const size = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(
        fc.array(size, { minLength: 2, maxLength: 5 }),
        fc.nat(60),
        fc.nat(10),
        fc.boolean(),
        (sizes, to, maxSurge, hasNew) => {
          const before = deployment(
            sizes.reduce((a, b) => a + b, 0),
            { maxSurge },
          );
          const after = deployment(to, { maxSurge });
          const result = scaled(after, setsFor(before, sizes, { hasNew }));
          assert.ok(result.every((one) => one >= 0));
          assert.equal(
            result.reduce((a, b) => a + b, 0),
            to === 0 ? 0 : to + maxSurge,
          );
        },
      ),
    );
  });
});

describe('a scaling event', () => {
  const said = (size: number, desired?: string) =>
    replicaSet('a', size, desired === undefined ? {} : { annotations: { [DESIRED_REPLICAS]: desired } });
  const cases = [
    { name: 'is one when a set says another number', set: said(2, '2'), want: true },
    { name: 'is none when the number is the same', set: said(4, '4'), want: false },
    { name: 'is none for a set without pods', set: said(0, '2'), want: false },
    { name: 'is none for a set that says nothing', set: said(2), want: false },
    { name: 'is none for a set that says nonsense', set: said(2, '-2'), want: false },
  ];
  for (const { name, set, want } of cases) {
    it(`lab/W8: ${name}`, () => assert.equal(isScalingEvent(rolloutOf(deployment(4), [set])), want));
  }
});

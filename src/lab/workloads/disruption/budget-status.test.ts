import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  budget,
  deploymentOf,
  NOBODY,
  NOW,
  ownedPod,
  podsOf,
  replicationControllerOf,
  setOf,
  statefulSetOf,
} from '../../../../test/support/budget-objects.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type {
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
} from '../../../api/generated/policy-v1-types.ts';
import type { KubeObject } from '../../../api/object.ts';
import { time } from '../../../api/time.ts';
import { findCondition } from '../../../object/conditions.ts';
import { type BudgetFacts, budgetStatus, failedStatus } from './budget-status.ts';
import type { PodControllers } from './expected-scale.ts';

const statusOf = (facts: Partial<BudgetFacts>) =>
  budgetStatus({ budget: budget({}), pods: [], controllers: NOBODY, now: NOW, ...facts });

/** `[expected, desired, current, allowed]` */
const numbers = ({ status }: ReturnType<typeof budgetStatus>) => [
  status.expectedPods,
  status.desiredHealthy,
  status.currentHealthy,
  status.disruptionsAllowed,
];

const set = setOf('rs', 10);
const five = setOf('five', 5);
const deployment = deploymentOf('web', 7);
const [old, fresh] = [setOf('old', 3, deployment), setOf('fresh', 5, deployment)];
const stateful = statefulSetOf('db', 4);
const controller = replicationControllerOf('rc', 6);
const silent = replicationControllerOf('silent');
const controllers: PodControllers = {
  deployments: [deployment],
  replicaSets: [set, five, old, fresh],
  statefulSets: [stateful],
  replicationControllers: [controller, silent],
};

interface Row {
  readonly what: string;
  readonly spec: Partial<PodDisruptionBudgetSpec>;
  readonly pods: readonly Pod[];
  /** `[expected, desired, current, allowed]` */
  readonly want: readonly number[];
}

const ROWS: readonly Row[] = [
  { what: 'nothing', spec: { minAvailable: 3 }, pods: [], want: [0, 3, 0, 0] },
  { what: 'neither bound', spec: {}, pods: podsOf(set, 3), want: [0, 0, 3, 0] },
  { what: 'a number, too few', spec: { minAvailable: 3 }, pods: podsOf(undefined, 1), want: [1, 3, 1, 0] },
  { what: 'a number, enough', spec: { minAvailable: 3 }, pods: podsOf(undefined, 3), want: [3, 3, 3, 0] },
  { what: 'a number, more', spec: { minAvailable: 3 }, pods: podsOf(undefined, 5, 2), want: [7, 3, 5, 2] },
  { what: 'zero', spec: { minAvailable: 0 }, pods: podsOf(undefined, 2), want: [2, 0, 2, 2] },
  { what: 'a part, rounded up', spec: { minAvailable: '28%' }, pods: podsOf(set, 10), want: [10, 3, 10, 7] },
  {
    what: 'a part of what is not there yet',
    spec: { minAvailable: '50%' },
    pods: podsOf(set, 2),
    want: [10, 5, 2, 0],
  },
  { what: 'all of them', spec: { minAvailable: '100%' }, pods: podsOf(set, 10), want: [10, 10, 10, 0] },
  { what: 'none of them', spec: { minAvailable: '0%' }, pods: podsOf(set, 10), want: [10, 0, 10, 10] },
  { what: 'one may be missing', spec: { maxUnavailable: 1 }, pods: podsOf(set, 10), want: [10, 9, 10, 1] },
  { what: 'one may, and is', spec: { maxUnavailable: 1 }, pods: podsOf(set, 9, 1), want: [10, 9, 9, 0] },
  { what: 'more may than there are', spec: { maxUnavailable: 20 }, pods: podsOf(set, 3), want: [10, 0, 3, 3] },
  { what: 'a part may be missing', spec: { maxUnavailable: '30%' }, pods: podsOf(five, 5), want: [5, 3, 5, 2] },
  { what: 'nobody may be missing', spec: { maxUnavailable: 0 }, pods: podsOf(set, 10), want: [10, 10, 10, 0] },
  {
    what: 'pods of two sets',
    spec: { maxUnavailable: 2 },
    pods: [...podsOf(set, 10), ...podsOf(five, 5)],
    want: [15, 13, 15, 2],
  },
  {
    what: 'a Deployment, once for its sets',
    spec: { maxUnavailable: 1 },
    pods: [...podsOf(old, 3), ...podsOf(fresh, 4)],
    want: [7, 6, 7, 1],
  },
  { what: 'a StatefulSet', spec: { minAvailable: '50%' }, pods: podsOf(stateful, 4), want: [4, 2, 4, 2] },
  {
    what: 'a ReplicationController',
    spec: { minAvailable: '50%' },
    pods: podsOf(controller, 6),
    want: [6, 3, 6, 3],
  },
  {
    what: 'one that does not say how many',
    spec: { minAvailable: '50%' },
    pods: podsOf(silent, 1),
    want: [1, 1, 1, 0],
  },
  {
    what: 'pods that nobody controls',
    spec: { maxUnavailable: 1 },
    pods: podsOf(undefined, 3),
    want: [0, 0, 3, 0],
  },
  {
    what: 'some that nobody controls',
    spec: { minAvailable: '50%' },
    pods: [...podsOf(five, 5), ...podsOf(undefined, 1)],
    want: [5, 3, 6, 3],
  },
];

describe('budgetStatus', () => {
  for (const { what, spec, pods, want } of ROWS) {
    it(`lab/W33: ${what}: ${JSON.stringify(spec)}`, () => {
      const result = statusOf({ budget: budget(spec), pods, controllers });
      assert.deepEqual(numbers(result), want);
      const { status, reason, observedGeneration } = findCondition(result.status, 'DisruptionAllowed') ?? {};
      const allowed = ['True', 'SufficientPods', 2];
      const refused = ['False', 'InsufficientPods', 2];
      assert.deepEqual([status, reason, observedGeneration], want.at(-1) === 0 ? refused : allowed);
      assert.equal(result.status.observedGeneration, 2);
    });
  }

  it('lab/W33: names the pods that nobody controls', () => {
    const { unmanaged } = statusOf({ budget: budget({ maxUnavailable: 1 }), pods: podsOf(undefined, 2) });
    assert.deepEqual(unmanaged, ['naked-0', 'naked-1']);
  });

  for (const [what, owner, why] of [
    ['a set that is gone', setOf('gone', 3), /ReplicaSet gone, which controls pod gone-0, is not there any more/],
    ['another set of that name', { ...set, metadata: { ...set.metadata, uid: 'x' } }, /is not there any more/],
    [
      'a kind without a scale',
      { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'ds', uid: 'u' } },
      /DaemonSet ds, which controls pod ds-0, does not say how many/,
    ],
  ] as readonly [string, KubeObject, RegExp][]) {
    it(`lab/W33: does not know what to expect: ${what}`, () => {
      const facts = { budget: budget({ maxUnavailable: 1 }), pods: podsOf(owner, 1), controllers };
      assert.throws(() => statusOf(facts), why);
    });
  }

  it('lab/W33: takes the set for the Deployment when that is gone', () => {
    const orphan = setOf('orphan', 3, deploymentOf('gone', 9));
    const facts = { budget: budget({ maxUnavailable: 1 }), pods: podsOf(orphan, 3) };
    assert.deepEqual(
      numbers(statusOf({ ...facts, controllers: { ...NOBODY, replicaSets: [orphan] } })),
      [3, 2, 3, 1],
    );
  });

  const evictedAt = (seconds: number, ...names: readonly string[]): PodDisruptionBudgetStatus => ({
    disruptedPods: Object.fromEntries(names.map((name) => [name, time(new Date(NOW.getTime() - seconds * 1000))])),
  });

  it('lab/W33: does not count pods that are leaving, nor those whose eviction is noted', () => {
    const pods = [
      ownedPod('a', undefined),
      ownedPod('b', undefined),
      ownedPod('c', undefined, { isLeaving: true }),
      ownedPod('d', undefined),
    ];
    const noted = budget({ minAvailable: 1 }, evictedAt(30, 'b', 'c', 'gone'));
    const result = statusOf({ budget: noted, pods });
    assert.deepEqual(numbers(result), [4, 1, 2, 1]);
    assert.deepEqual(Object.keys(result.status.disruptedPods ?? {}), ['b']);
    assert.equal(result.recheckInMs, 90_000);
    assert.deepEqual(result.undeleted, []);
  });

  for (const [seconds, isWaiting] of [
    [119, true],
    [120, false],
    [500, false],
  ] as const) {
    it(`lab/W33: a note of an eviction ${seconds} s ago ${isWaiting ? 'counts' : 'is forgotten'}`, () => {
      const facts = {
        budget: budget({ minAvailable: 0 }, evictedAt(seconds, 'a')),
        pods: [ownedPod('a', undefined)],
      };
      const result = statusOf(facts);
      assert.deepEqual(numbers(result), isWaiting ? [1, 0, 0, 0] : [1, 0, 1, 1]);
      assert.deepEqual(result.undeleted.length, isWaiting ? 0 : 1);
      assert.equal(result.status.disruptedPods === undefined, !isWaiting);
    });
  }

  it('lab/W33: keeps since when, and conditions of others', () => {
    const before = statusOf({ budget: budget({ minAvailable: 1 }), pods: podsOf(undefined, 2) }).status;
    const other = { ...before.conditions?.[0], type: 'Other' } as never;
    const later = new Date(NOW.getTime() + 60_000);
    const again = budget({ minAvailable: 1 }, { ...before, conditions: [other, ...(before.conditions ?? [])] });
    const { conditions } = statusOf({ budget: again, pods: podsOf(undefined, 3), now: later }).status;
    assert.deepEqual(
      conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
      [
        ['Other', time(NOW)],
        ['DisruptionAllowed', time(NOW)],
      ],
    );
  });

  const bound = fc.oneof(
    fc.nat(20),
    fc.nat(100).map((part) => `${part}%`),
  );
  const spec = fc.oneof(fc.record({ minAvailable: bound }), fc.record({ maxUnavailable: bound }));

  it('lab/W33: law: who evicts no more than is allowed stays at or above what is desired', () => {
    fc.assert(
      fc.property(spec, fc.nat(20), fc.nat(5), (bounds, ready, others) => {
        const before = numbers(
          statusOf({ budget: budget(bounds), pods: podsOf(set, ready, others), controllers }),
        );
        const [expected = 0, desired = 0, current = 0, allowed = 0] = before;
        assert.equal(current, ready);
        assert.ok(desired >= 0 && allowed >= 0);
        assert.equal(allowed, expected === 0 ? 0 : Math.max(0, current - desired));
        // What is left when all that is allowed was used allows no more.
        const left = podsOf(set, ready - allowed, others);
        assert.equal(numbers(statusOf({ budget: budget(bounds), pods: left, controllers })).at(-1), 0);
      }),
    );
  });

  it('lab/W33: law: a stricter bound never allows more', () => {
    const allowed = (bounds: Partial<PodDisruptionBudgetSpec>, ready: number) =>
      statusOf({ budget: budget(bounds), pods: podsOf(set, ready), controllers }).status.disruptionsAllowed ?? 0;
    fc.assert(
      fc.property(fc.nat(99), fc.nat(15), (part, ready) => {
        assert.ok(
          allowed({ minAvailable: `${part + 1}%` }, ready) <= allowed({ minAvailable: `${part}%` }, ready),
        );
        assert.ok(
          allowed({ maxUnavailable: `${part}%` }, ready) <= allowed({ maxUnavailable: `${part + 1}%` }, ready),
        );
      }),
    );
  });
});

describe('failedStatus', () => {
  it('lab/W33: allows nothing and says why, and keeps what was observed', () => {
    const before = {
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      disruptionsAllowed: 1,
      observedGeneration: 1,
    };
    const { conditions, ...rest } = failedStatus(budget({}, before), 'why', NOW);
    assert.deepEqual(rest, { ...before, disruptionsAllowed: 0 });
    assert.deepEqual(conditions, [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'SyncFailed',
        message: 'why',
        observedGeneration: 1,
        lastTransitionTime: time(NOW),
      },
    ]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ago,
  deployment,
  NOW,
  progressing,
  replicaSet,
  template,
} from '../../../../test/support/workload-objects.ts';
import type { DeploymentCondition, DeploymentStatus } from '../../../api/generated/apps-v1.ts';
import {
  isComplete,
  isProgress,
  isTimedOut,
  pauseStatus,
  progressCheckMs,
  progressOf,
  rolloutStatus,
  withProgress,
} from './progress.ts';
import { rolloutOf } from './rollout.ts';

const FOREVER = 2147483647;
const THEN = ago(120);

const counts = (replicas: number, updated: number, ready: number, available: number): DeploymentStatus => ({
  replicas,
  updatedReplicas: updated,
  readyReplicas: ready,
  availableReplicas: available,
});

/** `seconds` undefined: none is given. */
const web = (replicas: number, seconds: number | undefined, status: DeploymentStatus) =>
  deployment(replicas, { status, spec: seconds === undefined ? {} : { progressDeadlineSeconds: seconds } });

describe('a complete rollout', () => {
  // From upstream's table for DeploymentComplete.
  const cases: [name: string, desired: number, status: DeploymentStatus, want: boolean][] = [
    ['is not one where a pod is not available', 5, counts(5, 5, 5, 4), false],
    ['is one where all are new and available', 5, counts(5, 5, 5, 5), true],
    ['is not one where not all are new', 5, counts(5, 4, 5, 5), false],
    ['is not one where old pods run', 1, counts(2, 1, 1, 1), false],
    ['is not one where nothing came up', 1, counts(1, 1, 0, 0), false],
    ['is one where nothing is wanted', 0, {}, true],
  ];
  for (const [name, desired, status, want] of cases) {
    it(`lab/W12: ${name}`, () => assert.equal(isComplete(deployment(desired), status), want));
  }

  it('lab/W12: is not one of an older generation', () => {
    const changed = deployment(1, { generation: 2 });
    assert.equal(isComplete(changed, { ...counts(1, 1, 1, 1), observedGeneration: 1 }), false);
    assert.equal(isComplete(changed, { ...counts(1, 1, 1, 1), observedGeneration: 2 }), true);
  });
});

describe('progress', () => {
  // From upstream's table for DeploymentProgressing.
  const cases: [name: string, before: DeploymentStatus, now: DeploymentStatus, want: boolean][] = [
    ['more new pods', counts(10, 4, 4, 4), counts(10, 6, 4, 4), true],
    ['nothing', counts(10, 4, 4, 4), counts(10, 4, 4, 4), false],
    ['fewer old pods', counts(10, 4, 6, 6), counts(8, 4, 6, 6), true],
    ['fewer new pods', counts(10, 7, 3, 3), counts(10, 6, 3, 3), false],
    ['fewer pods, but more new ones', counts(10, 4, 7, 7), counts(8, 8, 5, 5), true],
    ['more ready pods', counts(10, 10, 9, 8), counts(10, 10, 10, 8), true],
    ['more available pods', counts(10, 10, 10, 9), counts(10, 10, 10, 10), true],
  ];
  for (const [name, before, now, want] of cases) {
    it(`lab/W12: ${name} is ${want ? '' : 'no '}progress`, () => assert.equal(isProgress(before, now), want));
  }
});

describe('a rollout that is late', () => {
  // From upstream's table for DeploymentTimedOut.
  const cases: [
    name: string,
    seconds: number | undefined,
    progress: DeploymentCondition | undefined,
    want: boolean,
  ][] = [
    ['is none without deadline', undefined, progressing('True', '', ago(11)), false],
    ['is none where the deadline is infinite', FOREVER, progressing('True', '', ago(11)), false],
    ['is one after 11 of 10 s', 10, progressing('True', '', ago(11)), true],
    ['is none after 9 of 10 s', 10, progressing('True', '', ago(9)), false],
    ['is none after exactly 10 s', 10, progressing('True', '', ago(10)), false],
    ['is none that was complete', 10, progressing('True', 'NewReplicaSetAvailable', ago(999)), false],
    ['stays one', 10, progressing('False', 'ProgressDeadlineExceeded', ago(0)), true],
    ['is none of which nobody knows when it began', 10, undefined, false],
  ];
  for (const [name, seconds, progress, want] of cases) {
    it(`lab/W12: ${name}`, () => assert.equal(isTimedOut(web(1, seconds, {}), progress, NOW), want));
  }

  // From upstream's table for requeueStuckDeployment; a second is added, for times have no fractions.
  const checks: [name: string, seconds: number | undefined, status: DeploymentStatus, want: number | undefined][] =
    [
      ['never without deadline', undefined, counts(3, 3, 2, 2), undefined],
      ['never with an infinite deadline', FOREVER, counts(3, 3, 2, 2), undefined],
      ['never when nothing was said', 60, counts(3, 3, 2, 2), undefined],
      [
        'never when it is complete',
        60,
        { ...counts(4, 4, 4, 4), conditions: [progressing('True', '')] },
        undefined,
      ],
      [
        'never when it is late already',
        60,
        { conditions: [progressing('False', 'ProgressDeadlineExceeded')] },
        undefined,
      ],
      [
        'never when it was complete',
        60,
        { conditions: [progressing('True', 'NewReplicaSetAvailable', THEN)] },
        undefined,
      ],
      ['after what is left and a second', 60, { conditions: [progressing('True', '', ago(30))] }, 31_000],
      ['when a second is left', 60, { conditions: [progressing('True', '', ago(59))] }, 2000],
      ['soon when nothing is left', 60, { conditions: [progressing('True', '', ago(60))] }, 1000],
      ['soon when it is past', 60, { conditions: [progressing('True', '', ago(600))] }, 1000],
    ];
  for (const [name, seconds, status, want] of checks) {
    it(`lab/W13: is looked for ${name}`, () => assert.equal(progressCheckMs(web(4, seconds, status), NOW), want));
  }
});

describe('what a Deployment says of a rollout', () => {
  const set = (name: string, size: number, replicas: number, available: number) =>
    replicaSet(name, size, {
      ...(name === 'old' && { template: template('web:0') }),
      status: { replicas, availableReplicas: available },
    });
  const updated = progressing('True', 'ReplicaSetUpdated', THEN);
  const timedOut = progressing('False', 'ProgressDeadlineExceeded', THEN);
  const completed = (set: string) => ({
    ...progressing('True', 'NewReplicaSetAvailable', THEN),
    message: `ReplicaSet "${set}" has successfully progressed.`,
  });
  const isNow = ago(0);

  // From upstream's table for syncRolloutStatus. `[status, reason, message, lastUpdateTime, lastTransitionTime]`.
  const cases = [
    {
      name: 'nothing without deadline',
      of: web(3, undefined, { ...counts(2, 2, 0, 2), conditions: [updated] }),
      sets: [set('old', 0, 1, 1), set('new', 3, 2, 2)],
      want: undefined,
    },
    {
      name: 'what it said when it was complete and still is',
      of: web(3, 60, { ...counts(3, 3, 0, 3), conditions: [completed('new')] }),
      sets: [set('new', 3, 3, 3)],
      want: ['True', 'NewReplicaSetAvailable', 'ReplicaSet "new" has successfully progressed.', THEN, THEN],
    },
    {
      name: 'what it said when it was complete and lost a pod since',
      of: web(3, 60, { ...counts(3, 3, 0, 3), conditions: [completed('new')] }),
      sets: [set('new', 3, 3, 2)],
      want: ['True', 'NewReplicaSetAvailable', 'ReplicaSet "new" has successfully progressed.', THEN, THEN],
    },
    {
      name: 'that it is complete, when it last spoke of another set',
      of: web(3, 60, { ...counts(3, 3, 0, 3), conditions: [completed('other')] }),
      sets: [set('new', 3, 3, 3)],
      want: ['True', 'NewReplicaSetAvailable', 'ReplicaSet "new" has successfully progressed.', isNow, THEN],
    },
    {
      name: 'that it goes on, since it went on before',
      of: web(3, 60, { ...counts(2, 2, 0, 2), conditions: [updated] }),
      sets: [set('old', 0, 1, 1), set('new', 3, 2, 2)],
      want: ['True', 'ReplicaSetUpdated', 'ReplicaSet "new" is progressing.', isNow, THEN],
    },
    {
      name: 'that it goes on again',
      of: web(3, 60, { ...counts(2, 2, 0, 2), conditions: [timedOut] }),
      sets: [set('old', 0, 1, 1), set('new', 3, 2, 2)],
      want: ['True', 'ReplicaSetUpdated', 'ReplicaSet "new" is progressing.', isNow, isNow],
    },
    {
      name: 'that it goes on, for the first time',
      of: web(3, 60, counts(2, 2, 0, 2)),
      sets: [set('old', 0, 1, 1), set('new', 3, 2, 2)],
      want: ['True', 'ReplicaSetUpdated', 'ReplicaSet "new" is progressing.', isNow, isNow],
    },
    {
      name: 'that it is complete',
      of: web(3, 60, { ...counts(3, 3, 0, 3), conditions: [updated] }),
      sets: [set('new', 3, 3, 3)],
      want: ['True', 'NewReplicaSetAvailable', 'ReplicaSet "new" has successfully progressed.', isNow, THEN],
    },
    {
      name: 'that it is complete after all',
      of: web(3, 60, { ...counts(3, 3, 0, 3), conditions: [timedOut] }),
      sets: [set('new', 3, 3, 3)],
      want: ['True', 'NewReplicaSetAvailable', 'ReplicaSet "new" has successfully progressed.', isNow, isNow],
    },
    {
      name: 'that it is complete though there is no set',
      of: web(0, 60, { ...counts(3, 3, 0, 3), conditions: [updated] }),
      sets: [set('old', 0, 0, 0)],
      want: ['True', 'NewReplicaSetAvailable', 'Deployment "web" has successfully progressed.', isNow, THEN],
    },
    {
      name: 'that it is late',
      of: web(3, 60, { ...counts(2, 2, 0, 2), conditions: [updated] }),
      sets: [set('new', 3, 2, 2)],
      want: ['False', 'ProgressDeadlineExceeded', 'ReplicaSet "new" has timed out progressing.', isNow, isNow],
    },
    {
      name: 'that it is late, once',
      of: web(3, 60, { ...counts(2, 2, 0, 2), conditions: [timedOut] }),
      sets: [set('new', 3, 2, 2)],
      want: ['False', 'ProgressDeadlineExceeded', '', THEN, THEN],
    },
    {
      name: 'what it said, while nothing happens and time is left',
      of: web(3, 600, { ...counts(2, 2, 0, 2), conditions: [updated] }),
      sets: [set('new', 3, 2, 2)],
      want: ['True', 'ReplicaSetUpdated', '', THEN, THEN],
    },
  ];
  for (const { name, of, sets, want } of cases) {
    it(`lab/W12: ${name}`, () => {
      const found = progressOf(rolloutStatus(rolloutOf(of, sets), NOW));
      const { status, reason, message, lastUpdateTime, lastTransitionTime } = found ?? {};
      assert.deepEqual(found && [status, reason, message, lastUpdateTime, lastTransitionTime], want);
    });
  }

  const failure = (reason: string) => ({
    type: 'ReplicaFailure',
    status: 'True',
    reason,
    lastTransitionTime: THEN,
  });
  const failed = (reason: string) => ({ ...failure(reason), lastUpdateTime: THEN });
  const failing = (name: string, reason?: string) =>
    replicaSet(name, 1, {
      ...(name === 'old' && { template: template('web:0') }),
      status: reason === undefined ? {} : { conditions: [failure(reason)] },
    });
  const failures = [
    { name: 'of the new set first', sets: [failing('old', 'Old'), failing('new', 'New')], want: failed('New') },
    { name: 'else of any', sets: [failing('old', 'Old'), failing('new')], want: failed('Old') },
    { name: 'else none', sets: [failing('old'), failing('new')], want: undefined },
  ];
  for (const { name, sets, want } of failures) {
    it(`lab/W13: shows why pods cannot be made, ${name}`, () => {
      for (const conditions of [[], [failed('Before')]]) {
        const status = rolloutStatus(rolloutOf(web(1, 60, { conditions }), sets), NOW);
        assert.deepEqual(
          status.conditions?.find(({ type }) => type === 'ReplicaFailure'),
          want,
        );
      }
    });
  }

  it('lab/W12: says nothing of progress where there is no deadline', () => {
    const said = { status: 'True', reason: 'X', message: 'x' } as const;
    assert.deepEqual(withProgress(web(1, FOREVER, { replicas: 1 }), said, NOW), { replicas: 1 });
    assert.equal(progressOf(withProgress(web(1, 60, { replicas: 1 }), said, NOW))?.reason, 'X');
  });
});

describe('a paused Deployment', () => {
  const paused = (isPaused: boolean, before: DeploymentCondition | undefined, seconds = 60) =>
    deployment(1, {
      spec: { progressDeadlineSeconds: seconds, paused: isPaused },
      status: before === undefined ? {} : { conditions: [before] },
    });
  const isPausedSince = progressing('Unknown', 'DeploymentPaused', THEN);
  const timedOut = progressing('False', 'ProgressDeadlineExceeded', THEN);
  const cases = [
    {
      name: 'says so',
      of: paused(true, progressing('True', 'X')),
      want: ['Unknown', 'DeploymentPaused', 'Deployment is paused'],
    },
    { name: 'says so once', of: paused(true, isPausedSince), want: ['Unknown', 'DeploymentPaused', ''] },
    {
      name: 'says when it goes on',
      of: paused(false, isPausedSince),
      want: ['Unknown', 'DeploymentResumed', 'Deployment is resumed'],
    },
    { name: 'stays late', of: paused(true, timedOut), want: ['False', 'ProgressDeadlineExceeded', ''] },
    {
      name: 'has nothing to say while it goes on',
      of: paused(false, progressing('True', 'X')),
      want: ['True', 'X', ''],
    },
    { name: 'says nothing without deadline', of: paused(true, undefined, FOREVER), want: undefined },
  ];
  for (const { name, of, want } of cases) {
    it(`lab/W9: ${name}`, () => {
      const found = progressOf(pauseStatus(of, NOW));
      assert.deepEqual(found && [found.status, found.reason, found.message], want);
    });
  }
});

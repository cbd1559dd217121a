import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, jobWith, now, podOfJob } from '../../../../test/support/lab-jobs.ts';
import type { JobSpec, JobStatus } from '../../../api/generated/batch-v1-types.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { completion, endOf } from './job-end.ts';
import { jobTally } from './job-tally.ts';
import { counted, finished, track } from './job-tracking.ts';

interface Case {
  readonly name: string;
  readonly spec?: Partial<JobSpec>;
  readonly status?: JobStatus;
  readonly pods: readonly Pod[];
  readonly end?: 'Complete' | 'Failed';
  readonly isLeaving?: boolean;
  readonly want: JobStatus;
  readonly release?: readonly string[];
}

const ENDS = {
  Complete: completion(jobWith(), 1, 0),
  Failed: endOf(jobWith({ backoffLimit: 0 }), [], { failed: 1 }, now),
};

const CASES: readonly Case[] = [
  { name: 'a pod that runs is left alone', pods: [podOfJob('a')], want: {} },
  {
    name: 'pods that ended are listed',
    pods: [podOfJob('a', { phase: 'Succeeded' }), podOfJob('b', { phase: 'Failed' })],
    want: { uncountedTerminatedPods: { succeeded: ['uid-a'], failed: ['uid-b'] } },
    release: ['a', 'b'],
  },
  {
    name: 'a pod that somebody deletes is listed as failed',
    pods: [podOfJob('a', { isLeaving: true })],
    want: { uncountedTerminatedPods: { failed: ['uid-a'] } },
    release: ['a'],
  },
  {
    name: 'a pod that is listed stays listed once while it has its finalizer',
    status: { uncountedTerminatedPods: { succeeded: ['uid-a'] } },
    pods: [podOfJob('a', { phase: 'Succeeded' })],
    want: { uncountedTerminatedPods: { succeeded: ['uid-a'] } },
    release: ['a'],
  },
  {
    name: 'a pod that is listed and has lost its finalizer is counted',
    status: {
      succeeded: 2,
      failed: 1,
      uncountedTerminatedPods: { succeeded: ['uid-a', 'gone'], failed: ['uid-b'] },
    },
    pods: [
      podOfJob('a', { phase: 'Succeeded', isTracked: false }),
      podOfJob('b', { phase: 'Failed', isTracked: false }),
    ],
    want: { succeeded: 4, failed: 2 },
  },
  {
    name: 'a pod that lost its finalizer without being listed was counted before',
    status: { succeeded: 1 },
    pods: [podOfJob('a', { phase: 'Succeeded', isTracked: false })],
    want: { succeeded: 1 },
  },
  {
    name: 'a pod that is listed as failed stays so, though it succeeds',
    status: { uncountedTerminatedPods: { failed: ['uid-a'] } },
    pods: [podOfJob('a', { isLeaving: true, phase: 'Succeeded' })],
    want: { uncountedTerminatedPods: { failed: ['uid-a'] } },
    release: ['a'],
  },
  {
    name: 'when the job has failed, pods that still run have failed',
    pods: [podOfJob('a'), podOfJob('b', { phase: 'Succeeded' })],
    end: 'Failed',
    want: { uncountedTerminatedPods: { succeeded: ['uid-b'], failed: ['uid-a'] } },
    release: ['a', 'b'],
  },
  {
    name: 'when the job has succeeded, pods that still run have not failed',
    pods: [podOfJob('a')],
    end: 'Complete',
    want: {},
    release: ['a'],
  },
  {
    name: 'when the job is being deleted, all pods may go, and those that run are not counted',
    pods: [podOfJob('a'), podOfJob('b', { phase: 'Failed' })],
    isLeaving: true,
    want: { uncountedTerminatedPods: { failed: ['uid-b'] } },
    release: ['a', 'b'],
  },
  {
    name: 'an indexed job counts indexes, not pods',
    spec: { completionMode: 'Indexed', completions: 5 },
    status: { completedIndexes: '0', succeeded: 1 },
    pods: [
      podOfJob('again', { phase: 'Succeeded', index: 0 }),
      podOfJob('new', { phase: 'Succeeded', index: 2 }),
      podOfJob('beyond', { phase: 'Succeeded', index: 5 }),
      podOfJob('lost', { phase: 'Failed', index: 3 }),
      podOfJob('nobody', { phase: 'Failed' }),
    ],
    want: { succeeded: 2, completedIndexes: '0,2', uncountedTerminatedPods: { failed: ['uid-lost'] } },
    release: ['again', 'new', 'beyond', 'lost', 'nobody'],
  },
];

describe('how a job counts its pods', () => {
  for (const { name, spec = {}, status = {}, pods, end, isLeaving = false, want, release = [] } of CASES) {
    it(`lab/W27: ${name}`, () => {
      const plain = jobWith(spec, status);
      const job = isLeaving ? { ...plain, metadata: { ...plain.metadata, deletionTimestamp: ago(0) } } : plain;
      const found = track({ job, pods, tally: jobTally(job, pods), end: end && ENDS[end] });
      assert.deepEqual(found.status, { succeeded: 0, failed: 0, uncountedTerminatedPods: {}, ...want });
      assert.deepEqual(
        found.release.map(({ metadata }) => metadata.name),
        release,
      );
      assert.equal(found.isPartial, false);
    });
  }

  it('lab/W27: lists 500 at once, and says that there are more', () => {
    const pods = Array.from({ length: 501 }, (_, at) => podOfJob(`p${at}`, { phase: 'Succeeded' }));
    const job = jobWith({ completions: 999 });
    const { status, release, isPartial } = track({ job, pods, tally: jobTally(job, pods), end: undefined });
    assert.deepEqual(
      [status.uncountedTerminatedPods?.succeeded?.length, release.length, isPartial],
      [500, 500, true],
    );
  });

  it('lab/W27: what is listed becomes a number when the finalizer is gone, and not before', () => {
    const listed = { uncountedTerminatedPods: { succeeded: ['uid-a'], failed: ['uid-b'] } };
    const [a, b] = [podOfJob('a'), podOfJob('b')];
    assert.deepEqual(counted(listed, [a, b]), { ...listed, succeeded: 0, failed: 0 });
    const half = counted(listed, [b]);
    assert.deepEqual(half, { uncountedTerminatedPods: { failed: ['uid-b'] }, succeeded: 1, failed: 0 });
    assert.deepEqual(counted(half, []), { uncountedTerminatedPods: {}, succeeded: 1, failed: 1 });
  });
});

describe('the last status of a job', () => {
  const { Complete, Failed } = ENDS;
  assert.ok(Complete);
  assert.ok(Failed);

  it('lab/W29: says that it is complete, and since when', () => {
    const { conditions = [], completionTime } = finished({ terminating: 0 }, Complete, now);
    const time = '2026-01-01T01:00:00Z';
    assert.equal(completionTime, time);
    assert.deepEqual(conditions, [{ ...Complete.final, lastProbeTime: time, lastTransitionTime: time }]);
  });

  it('lab/W29: says that it failed, which is no completion', () => {
    const { conditions = [], completionTime } = finished({}, Failed, now);
    assert.deepEqual([conditions.map(({ type }) => type), completionTime], [['Failed'], undefined]);
  });

  it('lab/W29: waits until every pod is counted and none is on its way out', () => {
    for (const status of [{ terminating: 1 }, { uncountedTerminatedPods: { failed: ['a'] } }])
      assert.deepEqual(finished(status, Failed, now), status);
  });
});

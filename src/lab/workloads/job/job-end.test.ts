import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, jobWith, now, podOfJob } from '../../../../test/support/lab-jobs.ts';
import type { JobSpec, JobStatus } from '../../../api/generated/batch-v1-types.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { completion, deadlineInMs, endOf } from './job-end.ts';
import { jobTally } from './job-tally.ts';

const onFailure = { spec: { restartPolicy: 'OnFailure', containers: [] } } as const;
const held = (type: string) => [{ type, status: 'True', reason: 'R', message: 'M' }];

interface Case {
  readonly name: string;
  readonly spec?: Partial<JobSpec>;
  readonly status?: JobStatus;
  readonly pods?: readonly Pod[];
  /** `type reason`, of the final condition. */
  readonly end?: string;
}

const LIMIT = 'Failed BackoffLimitExceeded';
const CASES: readonly Case[] = [
  { name: 'a job that runs is not over', pods: [podOfJob('a')] },
  { name: 'six failures are allowed', status: { failed: 6 } },
  { name: 'the seventh is not', status: { failed: 6 }, pods: [podOfJob('a', { phase: 'Failed' })], end: LIMIT },
  {
    name: 'failures that are listed count',
    spec: { backoffLimit: 0 },
    status: { uncountedTerminatedPods: { failed: ['uid-a'] } },
    end: LIMIT,
  },
  {
    name: 'no failure is allowed when the limit is 0',
    spec: { backoffLimit: 0 },
    status: { failed: 1 },
    end: LIMIT,
  },
  {
    name: 'restarts count when pods are started again',
    spec: { backoffLimit: 2, template: onFailure },
    pods: [podOfJob('a', { restarts: 1 }), podOfJob('b', { restarts: 1, phase: 'Pending' })],
    end: LIMIT,
  },
  {
    name: 'restarts below the limit are allowed',
    spec: { backoffLimit: 2, template: onFailure },
    pods: [podOfJob('a', { restarts: 1 })],
  },
  {
    name: 'restarts of pods that have ended are over',
    spec: { backoffLimit: 2, template: onFailure },
    pods: [podOfJob('a', { restarts: 5, phase: 'Succeeded' })],
  },
  {
    name: 'no restart is needed to stay at a limit of 0',
    spec: { backoffLimit: 0, template: onFailure },
    pods: [podOfJob('a')],
  },
  {
    name: 'one restart is too much for a limit of 0',
    spec: { backoffLimit: 0, template: onFailure },
    pods: [podOfJob('a', { restarts: 1 })],
    end: LIMIT,
  },
  { name: 'restarts do not count otherwise', spec: { backoffLimit: 0 }, pods: [podOfJob('a', { restarts: 9 })] },
  {
    name: 'the deadline ends it',
    spec: { activeDeadlineSeconds: 60 },
    status: { startTime: ago(60) },
    end: 'Failed DeadlineExceeded',
  },
  { name: 'before the deadline it goes on', spec: { activeDeadlineSeconds: 60 }, status: { startTime: ago(59) } },
  {
    name: 'a suspended job has no deadline',
    spec: { activeDeadlineSeconds: 60, suspend: true },
    status: { startTime: ago(600) },
  },
  { name: 'a job that has not begun has none either', spec: { activeDeadlineSeconds: 60 } },
  { name: 'a failure that was said stays', status: { conditions: held('FailureTarget') }, end: 'Failed R' },
  {
    name: 'a success that was said stays, whatever fails after it',
    status: { conditions: held('SuccessCriteriaMet'), failed: 99 },
    end: 'Complete R',
  },
];

describe('the end of a job', () => {
  for (const { name, spec = {}, status = {}, pods = [], end } of CASES) {
    it(`lab/W29: ${name}`, () => {
      const job = jobWith(spec, status);
      const found = endOf(job, pods, jobTally(job, pods), now);
      assert.equal(found && `${found.final.type} ${found.final.reason}`, end);
    });
  }

  it('lab/W29: is said twice, first as what is to come', () => {
    const job = jobWith({ backoffLimit: 0 }, { failed: 1 });
    const message = 'Job has reached the specified backoff limit';
    const said = { status: 'True', reason: 'BackoffLimitExceeded', message };
    assert.deepEqual(endOf(job, [], jobTally(job, []), now), {
      interim: { type: 'FailureTarget', ...said },
      final: { type: 'Failed', ...said },
    });
  });

  const COMPLETIONS: readonly (readonly [
    completions: number | undefined,
    succeeded: number,
    active: number,
    is: boolean,
  ])[] = [
    [2, 2, 0, true],
    [2, 3, 0, true],
    [2, 1, 0, false],
    [2, 2, 1, false],
    [0, 0, 0, true],
    [undefined, 0, 0, false],
    [undefined, 1, 1, false],
    [undefined, 1, 0, true],
  ];
  for (const [completions, succeeded, active, is] of COMPLETIONS) {
    it(`lab/W29: ${succeeded} of ${completions ?? 'any'} with ${active} active is ${is ? 'enough' : 'not enough'}`, () => {
      const { completions: _, ...spec } = jobWith().spec;
      const job = { ...jobWith(), spec: { ...spec, ...(completions !== undefined && { completions }) } };
      const end = completion(job, succeeded, active);
      const text = end && `${end.interim.type} ${end.interim.reason}: ${end.interim.message}`;
      assert.equal(
        text,
        is ? 'SuccessCriteriaMet CompletionsReached: Reached expected number of succeeded pods' : undefined,
      );
    });
  }

  it('lab/W26: tells how long a job may still be active', () => {
    assert.equal(deadlineInMs(jobWith({ activeDeadlineSeconds: 60 }, { startTime: ago(50) }), now), 10_000);
    assert.equal(deadlineInMs(jobWith({}, { startTime: ago(50) }), now), undefined);
  });
});

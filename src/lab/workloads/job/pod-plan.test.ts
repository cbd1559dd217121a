import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jobWith, now, podOfJob } from '../../../../test/support/lab-jobs.ts';
import type { JobSpec, JobStatus } from '../../../api/generated/batch-v1-types.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { completion } from './job-end.ts';
import { jobTally } from './job-tally.ts';
import { podPlan } from './pod-plan.ts';

interface Case {
  readonly name: string;
  readonly spec?: Partial<JobSpec>;
  readonly status?: JobStatus;
  readonly pods?: readonly Pod[];
  readonly failures?: number;
  readonly isOver?: boolean;
  readonly isLeaving?: boolean;
  readonly create?: number | readonly number[];
  readonly remove?: readonly string[];
  readonly isCounted?: boolean;
  readonly waitMs?: number;
}

const running = (...names: readonly string[]) => names.map((name) => podOfJob(name));
const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 2 } as const;

const CASES: readonly Case[] = [
  { name: 'a new job gets a pod', create: 1 },
  { name: 'as many as may run at once', spec: { parallelism: 3, completions: 9 }, create: 3 },
  { name: 'no more than are needed', spec: { parallelism: 3, completions: 2 }, create: 2 },
  {
    name: 'no more than are still needed',
    spec: { parallelism: 3, completions: 5 },
    status: { succeeded: 4 },
    create: 1,
  },
  { name: 'nothing when all run', pods: running('a') },
  {
    name: 'one for each that is missing',
    spec: { parallelism: 3, completions: 9 },
    pods: running('a'),
    create: 2,
  },
  { name: 'none when none may run', spec: { parallelism: 0 } },
  { name: 'at most 500 at once', spec: { parallelism: 900, completions: 900 }, create: 500 },
  {
    name: 'without completions as many as may run',
    spec: { parallelism: 3 },
    pods: running('a'),
    create: 2,
  },
  {
    name: 'without completions none after the first success',
    spec: { parallelism: 3 },
    pods: [...running('a'), podOfJob('b', { phase: 'Succeeded' })],
  },
  { name: 'a pod that is leaving is replaced at once', pods: [podOfJob('a', { isLeaving: true })], create: 1 },
  {
    name: 'a pod that is leaving is replaced when it is gone, if so asked',
    spec: { podReplacementPolicy: 'Failed' },
    pods: [podOfJob('a', { isLeaving: true })],
  },
  { name: 'a failed pod is replaced later', failures: 1, waitMs: 10_000 },
  { name: 'a delay does not matter when nothing is missing', failures: 1, pods: running('a') },
  {
    name: 'the least wanted goes when fewer may run',
    spec: { parallelism: 1, completions: 9 },
    pods: [podOfJob('a', { isReady: true }), podOfJob('b', { phase: 'Pending' })],
    remove: ['b'],
  },
  {
    name: 'what is not needed any more goes',
    spec: { parallelism: 2, completions: 2 },
    status: { succeeded: 2 },
    pods: running('a'),
    remove: ['a'],
  },
  { name: 'all go when the job is suspended', spec: { suspend: true }, pods: running('a'), remove: ['a'] },
  { name: 'a suspended job gets none', spec: { suspend: true } },
  {
    name: 'all go when the job is over, and are counted',
    isOver: true,
    pods: running('a', 'b'),
    remove: ['a', 'b'],
    isCounted: true,
  },
  { name: 'nothing happens to a job that is being deleted', isLeaving: true },
  { name: 'an indexed job begins with the lowest indexes', spec: indexed, create: [0, 1] },
  {
    name: 'an indexed job goes on with those that are missing',
    spec: indexed,
    status: { completedIndexes: '0,2' },
    pods: [podOfJob('a', { index: 1 })],
    create: [3],
  },
  {
    name: 'an index is not taken while its pod is leaving, if so asked',
    spec: { ...indexed, podReplacementPolicy: 'Failed' },
    pods: [podOfJob('a', { index: 0, isLeaving: true })],
    create: [1],
  },
  {
    name: 'pods without an index of the job go, and all but one of the same',
    spec: { ...indexed, parallelism: 9 },
    pods: [
      podOfJob('none'),
      podOfJob('high', { index: 4 }),
      podOfJob('bad', { index: 'x' }),
      podOfJob('worse', { index: 1, phase: 'Pending' }),
      podOfJob('better', { index: 1 }),
    ],
    remove: ['none', 'high', 'bad', 'worse'],
  },
  {
    name: 'those count among the ones that are too many',
    spec: { ...indexed, parallelism: 1 },
    pods: [podOfJob('none'), podOfJob('a', { index: 0, isReady: true })],
    remove: ['none'],
  },
];

describe('what a job does about its pods', () => {
  for (const each of CASES) {
    const { name, spec = {}, status = {}, pods = [], failures = 0, ...want } = each;
    it(`lab/W26: ${name}`, () => {
      const { completions: _, ...plain } = jobWith().spec;
      const isQueue = spec.parallelism !== undefined && spec.completions === undefined;
      const base = isQueue ? { ...plain, ...spec } : { ...plain, completions: 1, ...spec };
      const job = withDeletion({ ...jobWith({}, status), spec: base }, each.isLeaving);
      const end = each.isOver === true ? completion(jobWith(), 1, 0) : undefined;
      const record = { failures, lastMs: now.getTime() };
      const plan = podPlan({ job, pods, tally: jobTally(job, pods), end, failures: record, now });
      assert.deepEqual(
        {
          remove: plan.remove.map(({ metadata }) => metadata.name),
          isCounted: plan.isCounted,
          create: typeof want.create === 'object' ? plan.create : plan.create.length,
          waitMs: plan.waitMs,
        },
        { remove: [], isCounted: false, create: 0, waitMs: undefined, ...wanted(want) },
      );
    });
  }
});

const withDeletion = (job: ReturnType<typeof jobWith>, isLeaving = false) =>
  isLeaving ? { ...job, metadata: { ...job.metadata, deletionTimestamp: now.toISOString() } } : job;

const wanted = ({ create, remove, isCounted, waitMs }: Omit<Case, 'name'>) => ({
  ...(create !== undefined && { create }),
  ...(remove !== undefined && { remove }),
  ...(isCounted !== undefined && { isCounted }),
  ...(waitMs !== undefined && { waitMs }),
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, jobWith, now } from '../../../../test/support/lab-jobs.ts';
import type { JobSpec, JobStatus } from '../../../api/generated/batch-v1-types.ts';
import { finalCondition, foreignController, withCondition } from './job-conditions.ts';
import { completion } from './job-end.ts';
import { compactStatus, endSaid, withCounts, withStart } from './job-status.ts';

const NOW = '2026-01-01T01:00:00Z';
const counts = { active: 2, ready: 1, terminating: 0 };
const texts = ({ conditions = [] }: JobStatus) =>
  conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const facts = (spec: Partial<JobSpec> = {}) => ({ job: jobWith(spec), counts, end: undefined, now });
const suspended: JobStatus = {
  startTime: ago(9),
  conditions: [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }],
};

describe('the status of a job', () => {
  it('lab/W29: has the start of the job from its first look on, unless it is suspended', () => {
    assert.equal(withStart(jobWith(), now).status?.startTime, NOW);
    assert.equal(withStart(jobWith({}, { startTime: ago(9) }), now).status?.startTime, ago(9));
    assert.equal(withStart(jobWith({ suspend: true }), now).status?.startTime, undefined);
  });

  it('lab/W29: has the numbers of pods', () => {
    const { status, move } = withCounts({ succeeded: 1 }, facts());
    assert.deepEqual([status, move], [{ succeeded: 1, ...counts }, undefined]);
  });

  it('lab/W26: says that the job was suspended, and forgets when it began', () => {
    const { status, move } = withCounts({ startTime: ago(9) }, facts({ suspend: true }));
    assert.deepEqual(
      [texts(status), status.startTime, move],
      [['Suspended=True JobSuspended'], undefined, 'Suspended'],
    );
    assert.equal(withCounts(status, facts({ suspend: true })).move, undefined, 'once');
  });

  it('lab/W26: says that the job was resumed, and begins anew', () => {
    const { status, move } = withCounts(suspended, facts());
    assert.deepEqual([texts(status), status.startTime, move], [['Suspended=False JobResumed'], NOW, 'Resumed']);
    assert.equal(withCounts(status, facts()).move, undefined, 'once');
  });

  it('lab/W29: says nothing about suspension when the job is over, or being deleted', () => {
    const end = completion(jobWith(), 1, 0);
    const over = withCounts({}, { ...facts({ suspend: true }), end });
    assert.deepEqual([texts(over.status), over.move], [['SuccessCriteriaMet=True CompletionsReached'], undefined]);
    const { job } = facts({ suspend: true });
    const leaving = { ...job, metadata: { ...job.metadata, deletionTimestamp: NOW } };
    assert.deepEqual(withCounts({}, { ...facts(), job: leaving }), { status: counts });
  });

  it('lab/W29: leaves out what is zero, but not how many are ready and terminating', () => {
    const zero = { active: 0, succeeded: 0, failed: 0, ready: 0, terminating: 0, completedIndexes: '' };
    assert.deepEqual(compactStatus({ ...zero, conditions: [] }), { ready: 0, terminating: 0 });
    const full = {
      active: 1,
      succeeded: 2,
      failed: 3,
      completedIndexes: '0',
      conditions: [{ type: 'A', status: 'B' }],
    };
    assert.deepEqual(compactStatus(full), full);
  });

  it('lab/W29: tells of its end once', () => {
    const end = completion(jobWith(), 1, 0);
    assert.ok(end);
    const after: JobStatus = { conditions: withCondition([], end.final, now) };
    assert.equal(endSaid({}, after, end)?.type, 'Complete');
    assert.equal(endSaid(after, after, end), undefined);
    assert.equal(endSaid({}, {}, end), undefined);
  });
});

describe('conditions of a job', () => {
  const fields = { type: 'Suspended', status: 'True', reason: 'R', message: 'M' };

  it('lab/W29: keep their time while they say the same', () => {
    const old = [{ ...fields, lastTransitionTime: ago(9) }];
    assert.equal(withCondition(old, fields, now), old);
    const [changed] = withCondition(old, { ...fields, message: 'N' }, now);
    assert.deepEqual([changed?.message, changed?.lastTransitionTime, changed?.lastProbeTime], ['N', NOW, NOW]);
  });

  it('lab/W29: are not there before they have held once', () => {
    assert.deepEqual(withCondition([], { ...fields, status: 'False' }, now), []);
    assert.equal(withCondition([], fields, now).length, 1);
  });

  it('lab/W29: end the job only when they hold', () => {
    const withEnd = (type: string, status: string) => jobWith({}, { conditions: [{ type, status }] });
    assert.equal(finalCondition(withEnd('Failed', 'True'))?.type, 'Failed');
    assert.equal(finalCondition(withEnd('Complete', 'False')), undefined);
    assert.equal(finalCondition(withEnd('FailureTarget', 'True')), undefined);
    assert.equal(finalCondition(jobWith()), undefined);
  });

  it('lab/W26: a job may be looked after by somebody else', () => {
    assert.equal(foreignController(jobWith()), undefined);
    assert.equal(foreignController(jobWith({ managedBy: 'kubernetes.io/job-controller' })), undefined);
    assert.equal(foreignController(jobWith({ managedBy: 'example.com/x' })), 'example.com/x');
  });
});

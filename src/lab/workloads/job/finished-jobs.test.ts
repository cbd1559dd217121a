import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, jobWith, now } from '../../../../test/support/lab-jobs.ts';
import type { Job, JobStatus } from '../../../api/generated/batch-v1-types.ts';
import { expiresInMs } from './finished-jobs.ts';

const ended = (type: string, status = 'True'): JobStatus => ({
  conditions: [
    { type: 'Suspended', status: 'False', lastTransitionTime: ago(500) },
    { type, status, lastTransitionTime: ago(40) },
  ],
});

const leaving = (job: Job): Job => ({ ...job, metadata: { ...job.metadata, deletionTimestamp: ago(1) } });

describe('how long a job is still wanted', () => {
  const TABLE: readonly (readonly [name: string, job: Job, ms: number | undefined])[] = [
    [
      'as long as was asked after its success',
      jobWith({ ttlSecondsAfterFinished: 60 }, ended('Complete')),
      20_000,
    ],
    ['as long as was asked after its failure', jobWith({ ttlSecondsAfterFinished: 60 }, ended('Failed')), 20_000],
    ['not any more', jobWith({ ttlSecondsAfterFinished: 0 }, ended('Complete')), -40_000],
    ['for ever, when nobody asked', jobWith({}, ended('Complete')), undefined],
    ['while it runs', jobWith({ ttlSecondsAfterFinished: 60 }, {}), undefined],
    ['while its pods are not gone', jobWith({ ttlSecondsAfterFinished: 60 }, ended('FailureTarget')), undefined],
    ['while its end does not hold', jobWith({ ttlSecondsAfterFinished: 60 }, ended('Failed', 'False')), undefined],
    ['when it goes already', leaving(jobWith({ ttlSecondsAfterFinished: 0 }, ended('Failed'))), undefined],
  ];
  for (const [name, job, ms] of TABLE) {
    it(`lab/W26: ${name}`, () => assert.equal(expiresInMs(job, now), ms));
  }
});

// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './batch-v1-types.ts';

export type * from './batch-v1-types.ts';

export type CronJob = types.CronJob;
export const CronJob: Kind<CronJob, CreateOf<CronJob>> = {
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  scope: 'Namespaced',
};

export type Job = types.Job;
export const Job: Kind<Job, CreateOf<Job, 'spec'>> = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  scope: 'Namespaced',
};

import type { Job, JobSpec, JobStatus } from '../../src/api/generated/batch-v1-types.ts';
import type { Pod, PodSpec, PodStatus } from '../../src/api/generated/core-v1-types.ts';
import { ownedBy } from '../../src/object/owner-references.ts';

/** For pure decisions about jobs: an hour after everything was made. */
export const now = new Date('2026-01-01T01:00:00Z');
export const TRACKING = 'batch.kubernetes.io/job-tracking';
export const INDEX = 'batch.kubernetes.io/job-completion-index';

/** Seconds before now. */
export const ago = (seconds: number): string =>
  `${new Date(now.getTime() - seconds * 1000).toISOString().slice(0, 19)}Z`;

export const jobWith = (spec: Partial<JobSpec> = {}, status?: JobStatus): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'work', namespace: 'default', uid: 'uid-work' },
  spec: {
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    selector: { matchLabels: { job: 'work' } },
    template: {
      metadata: { labels: { job: 'work' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] },
    },
    ...spec,
  },
  ...(status !== undefined && { status }),
});

export interface JobPodFacts {
  readonly phase?: 'Failed' | 'Pending' | 'Running' | 'Succeeded';
  readonly isReady?: boolean;
  /** Somebody deletes it. */
  readonly isLeaving?: boolean;
  /** It waits to be counted; true unless told otherwise. */
  readonly isTracked?: boolean;
  readonly index?: number | string;
  /** Seconds before now at which its container ended. */
  readonly endedAgo?: number;
  readonly restarts?: number;
}

/** A pod of the job: running, unless told otherwise. */
export const podOfJob = (name: string, facts: JobPodFacts = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    uid: `uid-${name}`,
    creationTimestamp: ago(600),
    labels: { job: 'work' },
    ...(facts.isLeaving === true && { deletionTimestamp: ago(0), deletionGracePeriodSeconds: 30 }),
    ...(facts.isTracked !== false && { finalizers: [TRACKING] }),
    ...(facts.index !== undefined && { annotations: { [INDEX]: String(facts.index) } }),
    ...ownedBy(jobWith()),
  },
  spec: { nodeName: 'n1', restartPolicy: 'Never', containers: [{ name: 'work' }] },
  status: podStatus(facts),
});

function podStatus({ phase = 'Running', isReady = false, endedAgo, restarts = 0 }: JobPodFacts): PodStatus {
  const state = endedAgo === undefined ? {} : { terminated: { exitCode: 1, finishedAt: ago(endedAgo) } };
  return {
    phase,
    conditions: isReady ? [{ type: 'Ready', status: 'True', lastTransitionTime: ago(60) }] : [],
    containerStatuses: [{ name: 'work', image: '', imageID: '', ready: isReady, restartCount: restarts, state }],
  };
}

export const WORK = { namespace: 'default', name: 'work' };

/** As a user creates one. Without a token, whose volume would have another name in every run. */
export const work = (spec: Partial<JobSpec> = {}, pod: Partial<PodSpec> = {}) => ({
  metadata: WORK,
  spec: {
    ...spec,
    template: {
      spec: {
        restartPolicy: 'Never' as const,
        containers: [{ name: 'work', image: 'work:1' }],
        automountServiceAccountToken: false,
        ...pod,
      },
    },
  },
});

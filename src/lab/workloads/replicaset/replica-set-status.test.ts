import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, NOW, pod, replicaSet, template } from '../../../../test/support/workload-objects.ts';
import { nextAvailabilityMs, type ReplicaFailure, replicaSetStatus } from './replica-set-status.ts';

const full = { app: 'web', tier: 'front' };
const set = replicaSet('web', 2, { template: template('web:1', full), generation: 3 });
const patient = replicaSet('web', 2, { template: template('web:1', full), minReadySeconds: 3600, generation: 3 });
const ready = (name: string, labels: Record<string, string> = full, since = ago(0)) =>
  pod(name, { labels, readySince: since });
const observedGeneration = 3;

describe('the status of a ReplicaSet', () => {
  // From upstream's table for calculateStatus.
  const cases = [
    {
      name: 'no pods',
      active: [],
      want: { replicas: 0, terminatingReplicas: 0, observedGeneration },
    },
    {
      name: 'one pod with all labels',
      active: [ready('a')],
      want: { replicas: 1, fullyLabeledReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
    },
    {
      name: 'one pod without all labels',
      active: [ready('a', { app: 'web' })],
      want: { replicas: 1, readyReplicas: 1, availableReplicas: 1 },
    },
    {
      name: 'one of each',
      active: [ready('a'), ready('b', { app: 'web' })],
      want: { replicas: 2, fullyLabeledReplicas: 1, readyReplicas: 2, availableReplicas: 2 },
    },
    {
      name: 'a pod that is not ready',
      active: [pod('a', { labels: full, phase: 'Pending' })],
      want: { replicas: 1, fullyLabeledReplicas: 1 },
    },
    {
      name: 'a pod that is ready but not for long enough',
      of: patient,
      active: [ready('a')],
      want: { replicas: 1, fullyLabeledReplicas: 1, readyReplicas: 1 },
    },
    {
      name: 'a pod that was ready for long enough',
      of: patient,
      active: [ready('a', full, ago(3600))],
      want: { replicas: 1, fullyLabeledReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
    },
    {
      name: 'pods on their way out',
      active: [ready('a')],
      terminating: 2,
      want: {
        replicas: 1,
        fullyLabeledReplicas: 1,
        readyReplicas: 1,
        availableReplicas: 1,
        terminatingReplicas: 2,
      },
    },
  ];
  for (const { name, of = set, active, terminating = 0, want } of cases) {
    it(`lab/W18: counts ${name}`, () => {
      const status = replicaSetStatus(of, { active, terminating, now: NOW });
      assert.deepEqual(status, { terminatingReplicas: 0, observedGeneration, ...want });
    });
  }

  const before = { type: 'ReplicaFailure', status: 'True', reason: 'Old', lastTransitionTime: ago(60) };
  const failing = replicaSet('web', 10, { status: { conditions: [before] } });
  const failure: ReplicaFailure = { reason: 'FailedCreate', message: 'quota' };
  const conditionCases = [
    {
      name: 'tells that pods cannot be made',
      of: set,
      failure,
      want: [{ type: 'ReplicaFailure', status: 'True', lastTransitionTime: ago(0), ...failure }],
    },
    {
      name: 'tells that pods cannot be deleted',
      of: set,
      failure: { reason: 'FailedDelete', message: 'no' } as const,
      want: [
        {
          type: 'ReplicaFailure',
          status: 'True',
          lastTransitionTime: ago(0),
          reason: 'FailedDelete',
          message: 'no',
        },
      ],
    },
    { name: 'keeps what it told first', of: failing, failure, want: [before] },
    { name: 'takes it back on success', of: failing, failure: undefined, want: undefined },
    { name: 'has nothing to tell', of: set, failure: undefined, want: undefined },
  ];
  for (const { name, of, failure: found, want } of conditionCases) {
    it(`lab/W18: ${name}`, () => {
      const facts = { active: [], terminating: 0, now: NOW, ...(found !== undefined && { failure: found }) };
      assert.deepEqual(replicaSetStatus(of, facts).conditions, want);
    });
  }

  it('lab/W18: says when the next pod will be available', () => {
    const pods = [ready('a', full, ago(600)), ready('b', full, ago(1800)), ready('c', full, ago(9999)), pod('d')];
    assert.equal(nextAvailabilityMs(patient, pods, NOW), 1800 * 1000);
    assert.equal(nextAvailabilityMs(set, pods, NOW), undefined);
    assert.equal(nextAvailabilityMs(patient, [], NOW), undefined);
  });
});

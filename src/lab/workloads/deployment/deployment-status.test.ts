import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, deployment, NOW, replicaSet, template } from '../../../../test/support/workload-objects.ts';
import { deploymentStatus } from './deployment-status.ts';
import { rolloutOf } from './rollout.ts';

const old = (size: number, status: object) => replicaSet('old', size, { template: template('web:0'), status });
const fresh = (size: number, status: object) => replicaSet('new', size, { status });

describe('the status of a Deployment', () => {
  it('lab/W10: adds up what its sets say', () => {
    const sets = [
      old(3, {
        replicas: 4,
        readyReplicas: 4,
        availableReplicas: 3,
        terminatingReplicas: 1,
        observedGeneration: 2,
      }),
      fresh(2, {
        replicas: 2,
        readyReplicas: 1,
        availableReplicas: 0,
        terminatingReplicas: 0,
        observedGeneration: 1,
      }),
    ];
    const web = deployment(4, { generation: 7, status: { collisionCount: 2 } });
    const { conditions: _, ...counts } = deploymentStatus(rolloutOf(web, sets), NOW);
    assert.deepEqual(counts, {
      observedGeneration: 7,
      replicas: 6,
      updatedReplicas: 2,
      readyReplicas: 5,
      availableReplicas: 3,
      unavailableReplicas: 2,
      terminatingReplicas: 1,
      collisionCount: 2,
    });
  });

  it('lab/W10: leaves counts of zero out, and never counts more available than asked for as missing', () => {
    const sets = [old(0, { replicas: 2, availableReplicas: 2 })];
    const status = deploymentStatus(rolloutOf(deployment(0), sets), NOW);
    assert.deepEqual(
      { ...status, conditions: [] },
      {
        replicas: 2,
        availableReplicas: 2,
        terminatingReplicas: 0,
        conditions: [],
      },
    );
  });

  const terminating = [
    { name: 'is 0 without sets', sets: [], want: 0 },
    { name: 'is 0 of sets that nobody looked at', sets: [old(1, {})], want: 0 },
    { name: 'is unknown when a set does not say it', sets: [old(1, { observedGeneration: 1 })], want: undefined },
    {
      name: 'is unknown when one of several does not say it',
      sets: [old(1, { observedGeneration: 1 }), fresh(1, { observedGeneration: 1, terminatingReplicas: 1 })],
      want: undefined,
    },
  ];
  for (const { name, sets, want } of terminating) {
    it(`lab/W10: the number of pods on their way out ${name}`, () => {
      assert.equal(deploymentStatus(rolloutOf(deployment(1), sets), NOW).terminatingReplicas, want);
    });
  }

  const availability = [
    { replicas: 4, maxUnavailable: '25%', available: 3, isEnough: true },
    { replicas: 4, maxUnavailable: '25%', available: 2, isEnough: false },
    { replicas: 1, maxUnavailable: '25%', maxSurge: 1, available: 0, isEnough: false },
    { replicas: 0, maxUnavailable: 1, available: 0, isEnough: true },
  ];
  for (const { replicas, maxUnavailable, maxSurge = 0, available, isEnough } of availability) {
    it(`lab/W11: ${available} of ${replicas} are ${isEnough ? '' : 'not '}enough when ${maxUnavailable} may be missing`, () => {
      const web = deployment(replicas, { maxUnavailable, maxSurge });
      const sets = [fresh(replicas, { availableReplicas: available })];
      const [condition] = deploymentStatus(rolloutOf(web, sets), NOW).conditions ?? [];
      assert.deepEqual(condition, {
        type: 'Available',
        status: isEnough ? 'True' : 'False',
        reason: isEnough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
        message: isEnough
          ? 'Deployment has minimum availability.'
          : 'Deployment does not have minimum availability.',
        lastUpdateTime: ago(0),
        lastTransitionTime: ago(0),
      });
    });
  }

  it('lab/W13: says again what it said, with the times of then', () => {
    const said = {
      type: 'Available',
      status: 'True',
      reason: 'MinimumReplicasAvailable',
      message: 'older words',
      lastUpdateTime: ago(60),
      lastTransitionTime: ago(60),
    };
    const web = deployment(1, { status: { conditions: [said] } });
    const sets = [fresh(1, { availableReplicas: 1 })];
    assert.deepEqual(deploymentStatus(rolloutOf(web, sets), NOW).conditions, [said]);
  });
});

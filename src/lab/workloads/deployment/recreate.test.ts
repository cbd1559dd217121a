import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment, pod, replicaSet, template } from '../../../../test/support/workload-objects.ts';
import { hasOldPods, recreateSteps } from './recreate.ts';
import { rolloutOf } from './rollout.ts';

const web = deployment(2, { spec: { strategy: { type: 'Recreate' } } });
const old = (size: number, replicas = 0) =>
  replicaSet('old', size, { template: template('web:0'), status: { replicas } });
const fresh = replicaSet('new', 2, { status: { replicas: 2 } });

describe('a Deployment that is recreated', () => {
  it('lab/W7b: empties all old sets at once, and leaves the new one alone', () => {
    const older = replicaSet('older', 3, { template: template('web:00') });
    const steps = recreateSteps(rolloutOf(web, [old(2), older, fresh]));
    assert.deepEqual(
      steps.map(({ set, replicas }) => [set.metadata.name, replicas]),
      [
        ['old', 0],
        ['older', 0],
      ],
    );
    assert.deepEqual(recreateSteps(rolloutOf(web, [old(0), fresh])), []);
  });

  // From upstream's table for oldPodsRunning.
  const owned = (phase: string, isLeaving = false) => pod(phase, { phase, owner: 'old-uid', isLeaving });
  const cases = [
    { name: 'no old sets', sets: [], pods: [], want: false },
    { name: 'an old set that counts pods', sets: [old(0, 1)], pods: [], want: true },
    { name: 'an old set without pods', sets: [old(0)], pods: [], want: false },
    { name: 'pods that have ended', sets: [old(0)], pods: [owned('Failed'), owned('Succeeded')], want: false },
    { name: 'a pod of which nobody knows', sets: [old(0)], pods: [owned('Unknown')], want: true },
    { name: 'a pending pod', sets: [old(0)], pods: [owned('Pending')], want: true },
    { name: 'a running pod', sets: [old(0)], pods: [owned('Running')], want: true },
    { name: 'a pod on its way out', sets: [old(0)], pods: [owned('Running', true)], want: true },
    { name: 'one of several that runs', sets: [old(0)], pods: [owned('Failed'), owned('Pending')], want: true },
    { name: 'pods of the new set', sets: [old(0), fresh], pods: [pod('a', { owner: 'new-uid' })], want: false },
    { name: 'pods of somebody else', sets: [old(0)], pods: [pod('a', { owner: 'x' }), pod('b')], want: false },
  ];
  for (const { name, sets, pods, want } of cases) {
    it(`lab/W7b: ${want ? 'waits for' : 'does not wait for'} ${name}`, () => {
      assert.equal(hasOldPods(rolloutOf(web, sets), pods), want);
    });
  }
});

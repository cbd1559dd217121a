import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  daemonPodOn,
  daemonSet,
  HASH,
  nodeOf,
  now,
  type SetDetails,
  servingPod,
} from '../../../../test/support/lab-daemons.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { podsByNode } from './daemon-facts.ts';
import { daemonStatus, isStatusChanged, nextAvailableInMs } from './daemon-status.ts';

const tainted = nodeOf('n4', { taints: [{ key: 'x', effect: 'NoSchedule' }] });
const nodes = [nodeOf('n1'), nodeOf('n2'), nodeOf('n3'), tainted];

const factsOf = (pods: readonly Pod[], set: SetDetails = {}) => ({
  set: daemonSet(set),
  hash: HASH,
  nodes,
  podsByNode: podsByNode(pods),
  now,
});

describe('the status of a daemon set', () => {
  it('lab/W25: counts nodes by what they should have and have', () => {
    const pods = [servingPod('n1'), daemonPodOn('n2', { hash: 'old' }), servingPod('n4')];
    assert.deepEqual(daemonStatus(factsOf(pods)), {
      desiredNumberScheduled: 3,
      currentNumberScheduled: 2,
      numberMisscheduled: 1,
      numberReady: 1,
      numberAvailable: 1,
      numberUnavailable: 2,
      updatedNumberScheduled: 1,
      observedGeneration: 3,
    });
  });

  it('lab/W25: counts a pod as available only after minReadySeconds, and says when that is', () => {
    const pods = [daemonPodOn('n1', { readyFor: 10 }), daemonPodOn('n2', { readyFor: 31 }), daemonPodOn('n3')];
    const facts = factsOf(pods, { minReadySeconds: 30 });
    const { numberReady, numberAvailable, numberUnavailable } = daemonStatus(facts);
    assert.deepEqual(
      { numberReady, numberAvailable, numberUnavailable },
      {
        numberReady: 2,
        numberAvailable: 1,
        numberUnavailable: 2,
      },
    );
    assert.equal(nextAvailableInMs(facts), 20_000);
    assert.equal(nextAvailableInMs(factsOf(pods)), undefined);
  });

  it('lab/W25: looks at the oldest of several pods on a node', () => {
    const pods = [
      daemonPodOn('n1', { name: 'old', hash: 'old', age: 9 }),
      daemonPodOn('n1', { name: 'new', readyFor: 5, age: 1 }),
    ];
    const { updatedNumberScheduled, numberReady, currentNumberScheduled } = daemonStatus(factsOf(pods));
    assert.deepEqual([updatedNumberScheduled, numberReady, currentNumberScheduled], [0, 0, 1]);
  });

  it('lab/W25: keeps what others wrote', () => {
    const set = daemonSet();
    const status = {
      ...daemonStatus(factsOf([])),
      collisionCount: 2,
      conditions: [{ type: 'X', status: 'True' }],
    };
    const next = daemonStatus({ ...factsOf([]), set: { ...set, status } });
    assert.deepEqual([next.collisionCount, next.conditions], [2, [{ type: 'X', status: 'True' }]]);
  });

  it('lab/W25: is written only when a count differs, where absent is zero', () => {
    const set = daemonSet();
    const zero = {
      desiredNumberScheduled: 0,
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      numberReady: 0,
      observedGeneration: 3,
    };
    const next = daemonStatus({ ...factsOf([]), nodes: [] });
    assert.equal(isStatusChanged({ ...set, status: zero }, next), false);
    assert.equal(isStatusChanged({ ...set, status: { ...zero, observedGeneration: 2 } }, next), true);
    assert.equal(isStatusChanged({ ...set, status: { ...zero, numberAvailable: 1 } }, next), true);
    assert.equal(isStatusChanged(set, next), true);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, NOW, pod } from '../../../../test/support/workload-objects.ts';
import { availableInMs, hasEnded, isActive, isAvailable, isReady, isTerminating } from './pod-state.ts';

describe('the state of a pod', () => {
  const phases = [
    { phase: 'Pending', isOver: false },
    { phase: 'Running', isOver: false },
    { phase: 'Unknown', isOver: false },
    { phase: 'Succeeded', isOver: true },
    { phase: 'Failed', isOver: true },
  ];
  for (const { phase, isOver } of phases) {
    it(`lab/W15: ${phase} is ${isOver ? 'not ' : ''}active, unless it is being deleted`, () => {
      assert.equal(hasEnded(pod('a', { phase })), isOver);
      assert.equal(isActive(pod('a', { phase })), !isOver);
      assert.equal(isActive(pod('a', { phase, isLeaving: true })), false);
      assert.equal(isTerminating(pod('a', { phase, isLeaving: true })), !isOver);
      assert.equal(isTerminating(pod('a', { phase })), false);
    });
  }

  const availability = [
    { name: 'is not ready', fields: {}, minReadySeconds: 0, is: false },
    { name: 'is ready', fields: { readySince: ago(0) }, minReadySeconds: 0, is: true },
    { name: 'is ready for 9 of 10 s', fields: { readySince: ago(9) }, minReadySeconds: 10, is: false, inMs: 1000 },
    { name: 'is ready for 10 of 10 s', fields: { readySince: ago(10) }, minReadySeconds: 10, is: true },
    { name: 'is ready, and nobody says since when', fields: { readySince: null }, minReadySeconds: 0, is: true },
    {
      name: 'is ready, nobody says since when, and that counts',
      fields: { readySince: null },
      minReadySeconds: 1,
      is: false,
    },
  ];
  for (const { name, fields, minReadySeconds, is, inMs } of availability) {
    it(`lab/W18: a pod that ${name} is ${is ? '' : 'not '}available`, () => {
      assert.equal(isAvailable(pod('a', fields), minReadySeconds, NOW), is);
      assert.equal(availableInMs(pod('a', fields), minReadySeconds, NOW), inMs);
    });
  }

  it('lab/W18: a pod without status is neither ready nor over', () => {
    assert.deepEqual([isReady({}), hasEnded({})], [false, false]);
  });
});

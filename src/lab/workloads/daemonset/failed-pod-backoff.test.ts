import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FailedPodBackoff } from './failed-pod-backoff.ts';

const at = (ms: number): Date => new Date(ms);

describe('the back-off of failed daemon pods', () => {
  it('lab/W23: lets the first one go at once', () => {
    assert.equal(new FailedPodBackoff().leftMs('a', at(0)), 0);
  });

  it('lab/W23: waits one second, then twice as long each time, and never longer than 15 minutes', () => {
    const backoff = new FailedPodBackoff();
    const waits: number[] = [];
    for (let nowMs = 0, round = 0; round < 13; round++) {
      backoff.failed('a', at(nowMs));
      const leftMs = backoff.leftMs('a', at(nowMs));
      waits.push(leftMs / 1000);
      nowMs += leftMs;
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  it('lab/W23: counts down, and counts each place for itself', () => {
    const backoff = new FailedPodBackoff();
    backoff.failed('a', at(0));
    assert.equal(backoff.leftMs('a', at(400)), 600);
    assert.equal(backoff.leftMs('a', at(1000)), 0);
    assert.equal(backoff.leftMs('b', at(0)), 0);
  });

  it('lab/W23: begins anew after half an hour without a failure', () => {
    const backoff = new FailedPodBackoff();
    for (const ms of [0, 1, 2]) backoff.failed('a', at(ms));
    backoff.failed('a', at(31 * 60_000));
    assert.equal(backoff.leftMs('a', at(31 * 60_000)), 1000);
  });
});

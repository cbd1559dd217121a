import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod, PodSpec } from '../../../api/generated/core-v1-types.ts';
import { activeUntilMs, graceLeftMs, graceMs, specGraceMs, stopsAfter } from './termination-order.ts';

const SPEC: PodSpec = {
  initContainers: [{ name: 's', restartPolicy: 'Always' }, { name: 'i' }, { name: 't', restartPolicy: 'Always' }],
  containers: [{ name: 'a' }, { name: 'b' }],
};

describe('stopsAfter', () => {
  const rows = { a: [], b: [], i: [], t: ['a', 'b'], s: ['a', 'b', 't'] };
  for (const [name, want] of Object.entries(rows)) {
    it(`lab/N14: ${name} stops after ${want.join(', ') || 'nobody'}`, () =>
      assert.deepEqual(stopsAfter(SPEC, name), want));
  }
});

describe('activeUntilMs', () => {
  it('lab/N15: counts from the start of the pod, and only where the pod says so', () => {
    const start = new Date(5000);
    assert.equal(activeUntilMs({ containers: [], activeDeadlineSeconds: 30 }, start), 35_000);
    assert.equal(activeUntilMs({ containers: [] }, start), Number.POSITIVE_INFINITY);
  });
});

describe('grace', () => {
  const pod = (asked?: number, own?: number): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...(asked !== undefined && { deletionGracePeriodSeconds: asked }) },
    spec: { containers: [], ...(own !== undefined && { terminationGracePeriodSeconds: own }) },
  });

  it('lab/N14: is what the deletion says, else what the pod says, else 30 s', () => {
    assert.equal(graceMs(pod(5, 60)), 5000);
    assert.equal(graceMs(pod(0, 60)), 0);
    assert.equal(graceMs(pod(undefined, 60)), 60_000);
    assert.equal(graceMs(pod()), 30_000);
    assert.equal(specGraceMs(pod(5, 60)), 60_000);
    assert.equal(graceMs(pod(undefined, -1)), 0);
  });

  const rows = [
    { total: 30_000, spent: 0, max: 60_000, want: 30_000 },
    { total: 30_000, spent: 12_000, max: 60_000, want: 18_000 },
    { total: 30_000, spent: 29_000, max: 60_000, want: 2000 },
    { total: 30_000, spent: 40_000, max: 60_000, want: 2000 },
    { total: 0, spent: 0, max: 60_000, want: 2000 },
    { total: 30_000, spent: 0, max: 500, want: 500 },
  ];
  for (const { total, spent, max, want } of rows) {
    it(`lab/N14: of ${total} ms, ${spent} ms gone, ${want} ms are left when ${max} ms are allowed`, () =>
      assert.equal(graceLeftMs(total, spent, max), want));
  }
});

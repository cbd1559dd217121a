import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { now, podOfJob } from '../../../../test/support/lab-jobs.ts';
import { isTracked } from './job-pod.ts';
import { ReleasedPods } from './released-pods.ts';

describe('pods whose finalizer is known to be gone', () => {
  const later = (minutes: number): Date => new Date(now.getTime() + minutes * 60_000);

  it('lab/W27: are not counted again, though the cache still shows the finalizer', () => {
    const released = new ReleasedPods();
    released.add(['uid-a'], now);
    const [a, b] = released.seen([podOfJob('a'), podOfJob('b')]);
    assert.deepEqual(
      [a, b].map((pod) => pod !== undefined && isTracked(pod)),
      [false, true],
    );
  });

  it('keep the finalizers of others', () => {
    const released = new ReleasedPods();
    const pod = podOfJob('a');
    released.add(['uid-a'], now);
    const metadata = { ...pod.metadata, finalizers: ['example.com/x', ...(pod.metadata.finalizers ?? [])] };
    assert.deepEqual(released.seen([{ ...pod, metadata }])[0]?.metadata.finalizers, ['example.com/x']);
  });

  it('are forgotten when no cache can be that late', () => {
    const released = new ReleasedPods();
    released.add(['uid-a'], now);
    released.add(['uid-b'], later(9));
    released.add([], later(11));
    const seen = released.seen([podOfJob('a'), podOfJob('b')]);
    assert.deepEqual(seen.map(isTracked), [true, false]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, jobWith, now, podOfJob } from '../../../../test/support/lab-jobs.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { jobTally } from './job-tally.ts';
import { backoffLeftMs, finishedMs, PodBackoff, withEnded } from './pod-backoff.ts';

const failed = (name: string, endedAgo: number) => podOfJob(name, { phase: 'Failed', endedAgo });
const succeeded = (name: string, endedAgo: number) => podOfJob(name, { phase: 'Succeeded', endedAgo });
const at = (seconds: number): number => Date.parse(ago(seconds));
const NONE = { failures: 0, lastMs: 0 };

describe('the back-off of failed pods of a job', () => {
  // The first row: no failure, no delay.
  const DELAYS: readonly (readonly [failures: number, seconds: number])[] = [
    [0, 0],
    [1, 10],
    [2, 20],
    [3, 40],
    [4, 80],
    [5, 160],
    [6, 320],
    [7, 600],
    [8, 600],
    [5000, 600],
  ];
  for (const [failures, seconds] of DELAYS) {
    it(`lab/W28: is ${seconds} s after ${failures} failures`, () => {
      assert.equal(backoffLeftMs({ failures, lastMs: now.getTime() }, now), seconds * 1000);
    });
  }

  it('lab/W28: counts from the last failure, and ends', () => {
    assert.equal(backoffLeftMs({ failures: 1, lastMs: at(4) }, now), 6000);
    assert.equal(backoffLeftMs({ failures: 1, lastMs: at(11) }, now), 0);
  });

  it('lab/W28: counts failures since the last success', () => {
    const before = { failures: 3, lastMs: at(100) };
    assert.deepEqual(withEnded(before, [], []), before);
    assert.deepEqual(withEnded(before, [], [failed('a', 5), failed('b', 9)]), { failures: 5, lastMs: at(5) });
    assert.deepEqual(withEnded(before, [succeeded('a', 50)], []), NONE);
    const mixed = withEnded(before, [succeeded('a', 50)], [failed('b', 60), failed('c', 40), failed('d', 30)]);
    assert.deepEqual(mixed, { failures: 2, lastMs: at(30) });
  });

  const running = podOfJob('a');
  const unready = { type: 'Ready', status: 'False', lastTransitionTime: ago(7) };
  const ENDS: readonly (readonly [name: string, pod: Pod, seconds: number])[] = [
    ['its container ended', failed('a', 3), 3],
    ['it was not ready any more', { ...running, status: { phase: 'Failed', conditions: [unready] } }, 7],
    ['it was deleted, without the grace it was given', podOfJob('a', { isLeaving: true }), 30],
    ['it was made, when nothing else is known', running, 600],
  ];
  for (const [name, pod, seconds] of ENDS) {
    it(`lab/W28: a pod ended when ${name}`, () => assert.equal(finishedMs(pod), at(seconds)));
  }

  it('lab/W28: a pod with a sidecar ended when that ended, and not before', () => {
    const terminated = (seconds: number) => ({ terminated: { exitCode: 0, finishedAt: ago(seconds) } });
    const pod = failed('a', 9);
    const sidecar = { name: 'side', image: '', imageID: '', ready: false, restartCount: 0 };
    const withState = (state: object): Pod => ({
      ...pod,
      spec: { ...pod.spec, initContainers: [{ name: 'side', restartPolicy: 'Always' }, { name: 'init' }] },
      status: {
        ...pod.status,
        initContainerStatuses: [
          { ...sidecar, state },
          { ...sidecar, name: 'init' },
        ],
      },
    });
    assert.equal(finishedMs(withState(terminated(2))), at(2));
    assert.equal(finishedMs(withState({ running: {} })), at(600));
  });
});

describe('what is remembered of failures', () => {
  const tally = (...pods: readonly Pod[]) => jobTally(jobWith({ completions: 9 }), pods);

  it('lab/W28: goes on from what was kept', () => {
    const backoff = new PodBackoff();
    const first = failed('a', 9);
    const record = backoff.next('job', [first], tally(first));
    assert.deepEqual(record, { failures: 1, lastMs: at(9) });
    assert.deepEqual(backoff.next('job', [first], tally(first)), record, 'asking alone changes nothing');
    backoff.keep('job', record, now);
    const counted = podOfJob('a', { phase: 'Failed', endedAgo: 9, isTracked: false });
    const second = failed('b', 2);
    assert.deepEqual(backoff.next('job', [counted, second], tally(counted, second)), {
      failures: 2,
      lastMs: at(2),
    });
  });

  it('lab/W28: is told by the pods that are left after a restart', () => {
    const counted = [9, 5].map((seconds) =>
      podOfJob(`p${seconds}`, { phase: 'Failed', endedAgo: seconds, isTracked: false }),
    );
    assert.deepEqual(new PodBackoff().next('job', counted, tally(...counted)), { failures: 2, lastMs: at(5) });
  });

  it('is forgotten when it is old, or the job is over', () => {
    const backoff = new PodBackoff();
    backoff.keep('old', { failures: 3, lastMs: 1 }, new Date(now.getTime() - 21 * 60_000));
    backoff.keep('other', { failures: 4, lastMs: 1 }, now);
    assert.deepEqual(backoff.next('old', [], tally()), NONE);
    assert.deepEqual(backoff.next('other', [], tally()), { failures: 4, lastMs: 1 });
    backoff.forget('other');
    assert.deepEqual(backoff.next('other', [], tally()), NONE);
  });
});

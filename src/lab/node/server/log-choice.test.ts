import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus, Pod } from '../../../api/generated/core-v1-types.ts';
import { hasContainer, logChoice } from './log-choice.ts';

const podWith = (status?: Partial<ContainerStatus>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n' },
  spec: { containers: [{ name: 'c' }], initContainers: [{ name: 'i' }] },
  ...(status !== undefined && {
    status: {
      containerStatuses: [{ name: 'c', image: '', imageID: '', ready: false, restartCount: 0, ...status }],
    },
  }),
});

const ended = { terminated: { exitCode: 1 } };
const running = { running: {} };
const waiting = (reason: string) => ({ waiting: { reason } });
const choice = (status: Partial<ContainerStatus> | undefined, runs: readonly number[], isPrevious = false) =>
  logChoice({ pod: podWith(status), container: 'c', isPrevious }, runs);

describe('logChoice', () => {
  for (const { name, status, text } of [
    { name: 'nothing is known', status: undefined, text: 'is waiting to start: ContainerCreating' },
    {
      name: 'it waits',
      status: { state: waiting('PodInitializing') },
      text: 'is waiting to start: PodInitializing',
    },
    {
      name: 'its image is not there',
      status: { state: waiting('ErrImagePull') },
      text: "is waiting to start: image can't be pulled",
    },
    {
      name: 'its image is still not there',
      status: { state: waiting('ImagePullBackOff') },
      text: 'is waiting to start: trying and failing to pull image',
    },
  ]) {
    it(`lab/N41: is refused when ${name}`, () =>
      assert.deepEqual(choice(status, []), { kind: 'problem', text: `container "c" in pod "p" ${text}` }));
  }

  for (const { name, status, runs, now, previous } of [
    { name: 'runs for the first time', status: { state: running }, runs: [0], now: 0, previous: undefined },
    {
      name: 'runs again',
      status: { state: running, lastState: ended, restartCount: 3 },
      runs: [2, 3],
      now: 3,
      previous: 2,
    },
    { name: 'has ended for good', status: { state: ended }, runs: [0], now: 0, previous: undefined },
    {
      name: 'waits for its next run',
      status: { state: waiting('CrashLoopBackOff'), lastState: ended, restartCount: 2 },
      runs: [1, 2],
      now: 2,
      previous: 2,
    },
    {
      name: 'has a count that no file has',
      status: { state: running, lastState: ended, restartCount: 9 },
      runs: [4, 5],
      now: 5,
      previous: 4,
    },
    {
      name: 'has lost the log of the run before',
      status: { state: running, lastState: ended, restartCount: 3 },
      runs: [3],
      now: 3,
      previous: undefined,
    },
  ]) {
    it(`lab/N41: is the right run of a container that ${name}`, () => {
      assert.deepEqual(choice(status, runs), { kind: 'run', run: now });
      const text = 'previous terminated container "c" in pod "p" not found';
      const want = previous === undefined ? { kind: 'problem', text } : { kind: 'run', run: previous };
      assert.deepEqual(choice(status, runs, true), want);
    });
  }

  it('is empty for a container that never wrote', () =>
    assert.deepEqual(choice({ state: ended }, []), { kind: 'empty' }));

  it('knows all kinds of containers', () => {
    assert.ok(hasContainer(podWith(), 'c') && hasContainer(podWith(), 'i'));
    assert.ok(!hasContainer(podWith(), 'x'));
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus, PodSpec } from '../../../api/generated/core-v1-types.ts';
import type { ContainerSeen, ContainersSeen, EndedRun, GoingRun } from './container-seen.ts';
import { containerStatuses } from './container-status.ts';

const T0 = new Date('2030-01-01T00:00:00.700Z');
const GOING: GoingRun = {
  kind: 'going',
  id: 'slipway://1',
  image: 'i',
  startedAt: T0,
  isStarted: true,
  isReady: true,
};
const ended = (exitCode: number, more: Partial<EndedRun> = {}): EndedRun => ({
  kind: 'ended',
  id: `slipway://${exitCode}`,
  exitCode,
  reason: exitCode === 0 ? 'Completed' : 'Error',
  ...more,
});
const seen = (more: Partial<ContainerSeen>): ContainerSeen => ({ restartCount: 0, isBusy: false, ...more });

interface Setup {
  readonly spec?: Partial<PodSpec>;
  readonly isEnding?: boolean;
  readonly hasEnded?: boolean;
}

const all = (by: ContainersSeen, { spec, isEnding = false, hasEnded = false }: Setup = {}) =>
  containerStatuses(by, {
    spec: { containers: [{ name: 'c', image: 'img:1' }], ...spec },
    imageId: (image) => `id:${image}`,
    isEnding,
    hasEnded,
  });

function only(one: ContainerSeen, setup?: Setup): ContainerStatus {
  const [status] = all({ c: one }, setup).regular;
  assert.ok(status !== undefined);
  return status;
}

describe('containerStatuses', () => {
  it('lab/N9: a container that never ran is being created', () => {
    assert.deepEqual(only(seen({})), {
      name: 'c',
      image: 'img:1',
      imageID: '',
      restartCount: 0,
      ready: false,
      started: false,
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: {},
    });
  });

  it('lab/N9: all containers wait for the init containers of their pod', () => {
    const spec = { initContainers: [{ name: 'i' }] };
    const { init, regular } = all({}, { spec });
    assert.deepEqual(init[0]?.state, { waiting: { reason: 'PodInitializing' } });
    assert.deepEqual(regular[0]?.state, { waiting: { reason: 'PodInitializing' } });
  });

  const reasons = [
    'CreateContainerConfigError',
    'CreateContainerError',
    'RunContainerError',
    'ErrImagePull',
    'ImagePullBackOff',
    'ErrImageNeverPull',
  ];
  for (const reason of reasons) {
    it(`lab/N9: waits with the reason ${reason}`, () => {
      const waiting = { reason, message: 'why' };
      assert.deepEqual(only(seen({ waiting })).state, { waiting });
    });
  }

  it('lab/N9: a running container tells since when, under which id, and how probes see it', () => {
    const status = only(seen({ run: GOING, last: ended(3), restartCount: 2 }));
    assert.deepEqual(status, {
      name: 'c',
      image: 'img:1',
      imageID: 'id:img:1',
      containerID: 'slipway://1',
      restartCount: 2,
      ready: true,
      started: true,
      state: { running: { startedAt: '2030-01-01T00:00:00Z' } },
      lastState: { terminated: { exitCode: 3, reason: 'Error', containerID: 'slipway://3' } },
    });
    const starting = only(seen({ run: { ...GOING, isStarted: false, isReady: false } }));
    assert.deepEqual([starting.ready, starting.started], [false, false]);
  });

  it('lab/N9: a container that ended tells how', () => {
    const run = ended(137, { signal: 9, message: 'last words', startedAt: T0, finishedAt: T0 });
    const { state, ready, started } = only(seen({ run }));
    assert.deepEqual([ready, started], [false, false]);
    assert.deepEqual(state?.terminated, {
      exitCode: 137,
      signal: 9,
      reason: 'Error',
      message: 'last words',
      containerID: 'slipway://137',
      startedAt: '2030-01-01T00:00:00Z',
      finishedAt: '2030-01-01T00:00:00Z',
    });
  });

  it('lab/N9: one that waits for another run shows why, and how the last one ended', () => {
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 10s' };
    const status = only(seen({ run: ended(1), last: ended(2), waiting, restartCount: 4 }));
    assert.deepEqual(status.state, { waiting });
    assert.equal(status.lastState?.terminated?.exitCode, 1);
    assert.equal(status.restartCount, 4);
  });

  it('one that will not run again shows its end, whatever it was waiting for', () => {
    const waiting = { reason: 'RunContainerError' };
    const one = seen({ run: ended(127), waiting });
    assert.equal(only(one, { spec: { restartPolicy: 'Never' } }).state?.terminated?.exitCode, 127);
    assert.equal(only(one, { isEnding: true }).state?.terminated?.exitCode, 127);
  });

  it('lab/N9: an ordinary init container is ready when it succeeded, a sidecar when it is', () => {
    const spec = { initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }] };
    const ready = (by: ContainersSeen) => all(by, { spec }).init.map((one) => one.ready);
    assert.deepEqual(ready({ i: seen({ run: GOING }) }), [false, false]);
    assert.deepEqual(ready({ i: seen({ run: ended(1) }) }), [false, false]);
    assert.deepEqual(ready({ i: seen({ run: ended(0) }), s: seen({ run: GOING }) }), [true, true]);
    assert.deepEqual(ready({ i: seen({ run: ended(0) }), s: seen({ run: ended(0) }) }), [true, false]);
  });

  it('init containers are told in the order of the spec, the others by name', () => {
    const spec = {
      initContainers: [{ name: 'z' }, { name: 'y' }],
      containers: [{ name: 'b' }, { name: 'c' }, { name: 'a' }],
    };
    const { init, regular } = all({}, { spec });
    const names = [init, regular].map((list) => list.map(({ name }) => name).join(''));
    assert.deepEqual(names, ['zy', 'abc']);
  });

  it('lab/N14: at the end of a pod every container has ended, also one that nobody saw ending', () => {
    const { state } = only(seen({}), { hasEnded: true, isEnding: true });
    assert.equal(state?.terminated?.exitCode, 137);
    assert.equal(state?.terminated?.reason, 'ContainerStatusUnknown');
  });

  it('lab/N14: a pod that never came past its init containers keeps what it waited for', () => {
    const spec = { initContainers: [{ name: 'i' }] };
    const { regular } = all({ i: seen({ run: ended(1) }) }, { spec, hasEnded: true, isEnding: true });
    assert.deepEqual(regular[0]?.state, { waiting: { reason: 'PodInitializing' } });
  });
});

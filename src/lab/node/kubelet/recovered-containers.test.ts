import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus, Pod } from '../../../api/generated/core-v1-types.ts';
import { recoveredContainers } from './recovered-containers.ts';

const NOW = new Date('2030-01-01T01:00:00Z');
const THEN = '2030-01-01T00:00:00Z';
const status = (name: string, more: Partial<ContainerStatus>): ContainerStatus => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  ...more,
});

function recovered(regular: Partial<ContainerStatus>, init?: Partial<ContainerStatus>, isSidecar = false) {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: {
      containers: [{ name: 'a' }],
      initContainers: [{ name: 'i', ...(isSidecar && { restartPolicy: 'Always' }) }],
    },
    status: {
      containerStatuses: [status('a', regular)],
      ...(init !== undefined && { initContainerStatuses: [status('i', init)] }),
    },
  };
  return recoveredContainers(pod, NOW);
}

describe('recoveredContainers', () => {
  it('lab/N18: what was running was killed, nobody knows how', () => {
    const { a } = recovered({
      restartCount: 4,
      containerID: 'slipway://1',
      state: { running: { startedAt: THEN } },
    });
    assert.equal(a?.restartCount, 4);
    assert.deepEqual(a?.run, {
      kind: 'ended',
      id: 'slipway://1',
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      isEarlier: true,
      message: 'The container could not be located when the pod was deleted.  The container used to be Running',
      startedAt: new Date(THEN),
      finishedAt: NOW,
    });
  });

  it('lab/N18: what had ended had ended', () => {
    const terminated = {
      exitCode: 3,
      reason: 'Error',
      message: 'm',
      signal: 9,
      finishedAt: THEN,
      containerID: 'x',
    };
    const last = { terminated: { exitCode: 1, reason: 'Error' } };
    const { a } = recovered({ restartCount: 1, state: { terminated }, lastState: last });
    assert.deepEqual(a?.run, {
      kind: 'ended',
      id: 'x',
      exitCode: 3,
      signal: 9,
      reason: 'Error',
      message: 'm',
      isEarlier: true,
      finishedAt: new Date(THEN),
    });
    assert.equal(a?.last?.exitCode, 1);
  });

  it('lab/N18: of one that waited for another run, the last one is the newest', () => {
    const { a } = recovered({
      restartCount: 2,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 5, reason: 'Error', finishedAt: THEN } },
    });
    assert.equal(a?.run?.kind === 'ended' && a.run.exitCode, 5);
    assert.deepEqual([a?.restartCount, a?.last, a?.waiting], [2, undefined, undefined]);
  });

  it('one that never ran has not run', () => {
    assert.deepEqual(recovered({ state: { waiting: { reason: 'ContainerCreating' } } })['a'], {
      restartCount: 0,
      isBusy: false,
    });
  });

  it('lab/N18: init containers run again, and restarts are counted on; sidecars are like the others', () => {
    const done = { restartCount: 1, state: { terminated: { exitCode: 0, reason: 'Completed' } } };
    const { i } = recovered({}, done);
    assert.deepEqual([i?.run, i?.last?.exitCode, i?.restartCount], [undefined, 0, 1]);
    const sidecar = recovered({}, { state: { running: {} } }, true)['i'];
    assert.equal(sidecar?.run?.kind === 'ended' && sidecar.run.exitCode, 137);
  });

  it('knows every container of a pod without status', () => {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'a' }, { name: 'b' }] },
    };
    assert.deepEqual(Object.keys(recoveredContainers(pod, NOW)), ['a', 'b']);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod, PodStatus } from '../../../api/generated/core-v1-types.ts';
import type { ContainersSeen } from './container-seen.ts';
import { type PodStage, podStatus } from './pod-status.ts';

const NOW = new Date('2030-01-01T01:00:00Z');
const EARLIER = '2030-01-01T00:00:00Z';
const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', generation: 3 },
  spec: { containers: [{ name: 'a' }] },
};

interface Setup {
  readonly before?: PodStatus;
  readonly seen?: ContainersSeen;
  readonly stage?: PodStage;
  readonly podIp?: string;
}

const RUNNING: ContainersSeen = {
  a: {
    restartCount: 0,
    isBusy: false,
    run: { kind: 'going', id: 'x', image: '', startedAt: NOW, isStarted: true, isReady: true },
  },
};
const over = (exitCode: number): ContainersSeen => ({
  a: { restartCount: 0, isBusy: false, run: { kind: 'ended', exitCode, reason: 'x' } },
});

const statusOf = ({ before = {}, seen = {}, stage = { kind: 'going' }, podIp }: Setup = {}) =>
  podStatus({
    pod: POD,
    before,
    seen,
    stage,
    isReadyToStart: true,
    podIp,
    hostIp: '10.16.1.1',
    startTime: NOW,
    imageId: (image) => image,
    now: NOW,
  });

const conditionOf = (status: PodStatus, type: string) => status.conditions?.find((one) => one.type === type);

describe('podStatus', () => {
  it('tells addresses, start and generation', () => {
    const status = statusOf({ podIp: '10.16.32.1' });
    assert.deepEqual(
      [status.hostIP, status.hostIPs, status.podIP, status.podIPs],
      ['10.16.1.1', [{ ip: '10.16.1.1' }], '10.16.32.1', [{ ip: '10.16.32.1' }]],
    );
    assert.deepEqual([status.startTime, status.observedGeneration], ['2030-01-01T01:00:00Z', 3]);
    assert.equal(statusOf().podIP, undefined);
    assert.equal(statusOf({ before: { startTime: EARLIER } }).startTime, EARLIER);
  });

  it('lab/N8: the time of a condition moves with its status only', () => {
    const since = (conditions: PodStatus['conditions']) =>
      conditionOf(
        statusOf({ before: { ...(conditions !== undefined && { conditions }) }, seen: RUNNING }),
        'Ready',
      )?.lastTransitionTime;
    assert.equal(since(undefined), '2030-01-01T01:00:00Z');
    const old = { type: 'Ready', lastTransitionTime: EARLIER };
    assert.equal(since([{ ...old, status: 'True', reason: 'Other', message: 'another' }]), EARLIER);
    assert.equal(since([{ ...old, status: 'False' }]), '2030-01-01T01:00:00Z');
  });

  const rows: readonly (Setup & { readonly name: string; readonly want: string })[] = [
    { name: 'runs', seen: RUNNING, want: 'Running' },
    { name: 'was deleted after success', seen: over(0), stage: { kind: 'ended' }, want: 'Succeeded' },
    { name: 'was deleted after failure', seen: over(1), stage: { kind: 'ended' }, want: 'Failed' },
    { name: 'was deleted before anything ran', seen: {}, stage: { kind: 'ended' }, want: 'Failed' },
    {
      name: 'is being stopped: the end is told when nothing is left',
      seen: over(0),
      stage: { kind: 'ending' },
      before: { phase: 'Running' },
      want: 'Running',
    },
    {
      name: 'had ended: that is never taken back',
      seen: RUNNING,
      before: { phase: 'Failed', reason: 'Evicted' },
      want: 'Failed Evicted',
    },
    {
      name: 'took too long, though its containers succeeded',
      seen: over(0),
      stage: { kind: 'ended', why: { reason: 'DeadlineExceeded', message: 'm' } },
      want: 'Failed DeadlineExceeded',
    },
    {
      name: 'leaves a phase: its reason goes with it',
      seen: RUNNING,
      before: { phase: 'Pending', reason: 'Old' },
      want: 'Running',
    },
    {
      name: 'stays in a phase: its reason stays',
      seen: RUNNING,
      before: { phase: 'Running', reason: 'NodeLost' },
      want: 'Running NodeLost',
    },
  ];
  for (const { name, want, ...setup } of rows) {
    it(`lab/N7: a pod that ${name} → ${want}`, () => {
      const { phase = '', reason = '' } = statusOf(setup);
      assert.equal(`${phase} ${reason}`.trim(), want);
    });
  }

  it('lab/N16: a pod that was not let in tells nothing but that', () => {
    const why = { reason: 'OutOfcpu', message: 'Pod was rejected: too much' };
    const { phase, reason, message, conditions, containerStatuses } = statusOf({
      stage: { kind: 'rejected', why },
    });
    assert.deepEqual([phase, reason, message], ['Failed', 'OutOfcpu', 'Pod was rejected: too much']);
    assert.deepEqual([conditions, containerStatuses], [undefined, undefined]);
  });

  it('lab/N8: nothing is ready to start when nothing is left', () => {
    const ready = (stage: PodStage) =>
      conditionOf(statusOf({ stage, seen: over(0) }), 'PodReadyToStartContainers');
    assert.equal(ready({ kind: 'going' })?.status, 'True');
    assert.equal(ready({ kind: 'ended' })?.status, 'False');
  });

  it('lab/N8: readiness gates are read from what the server has', () => {
    const gated = { ...POD, spec: { ...POD.spec, readinessGates: [{ conditionType: 'x' }] } };
    const readyWith = (status: string) =>
      conditionOf(
        podStatus({
          pod: gated,
          before: { conditions: [{ type: 'x', status }] },
          seen: RUNNING,
          stage: { kind: 'going' },
          isReadyToStart: true,
          podIp: undefined,
          hostIp: '',
          startTime: NOW,
          imageId: (image) => image,
          now: NOW,
        }),
        'Ready',
      )?.status;
    assert.deepEqual([readyWith('True'), readyWith('False')], ['True', 'False']);
  });
});

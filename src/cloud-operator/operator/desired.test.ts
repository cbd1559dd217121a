import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus, Pod } from '../../api/generated/core-v1.ts';
import type { ClusterOperator } from '../../api/openshift/config-v1.ts';
import { auxiliaryGate } from './auxiliary-gate.ts';
import { failingContainers } from './failing-pods.ts';
import { managementState } from './management-state.ts';

const NOW = new Date('2026-01-01T12:00:00Z');

const operator = (conditions: Readonly<Record<string, 'True' | 'False'>>, annotations = {}): ClusterOperator => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterOperator',
  metadata: { name: 'ccm', annotations },
  status: {
    conditions: Object.entries(conditions).map(([type, status]) => ({
      type,
      status,
      message: 'why',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
  },
});

const pod = (name: string, status: Partial<ContainerStatus>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [] },
  status: {
    containerStatuses: [{ name: 'ccm', image: '', imageID: '', ready: false, restartCount: 0, ...status }],
  },
});

describe('what config-sync has said', () => {
  const [config, bundle] = ['CloudConfigController', 'TrustedCABundleControllerController'];
  const well = { [`${config}Available`]: 'True', [`${bundle}Available`]: 'True' } as const;
  const cases = [
    { name: 'nothing', given: undefined, want: 'waiting' },
    { name: 'that one works', given: operator({ [`${config}Available`]: 'True' }), want: 'waiting' },
    {
      name: 'that one does not work yet',
      given: operator({ ...well, [`${bundle}Available`]: 'False' }),
      want: 'waiting',
    },
    { name: 'that both work', given: operator(well), want: 'open' },
    {
      name: 'that both work and nothing failed',
      given: operator({ ...well, [`${config}Degraded`]: 'False' }),
      want: 'open',
    },
    { name: 'that one failed', given: operator({ ...well, [`${config}Degraded`]: 'True' }), want: 'failed' },
  ] as const;
  for (const { name, given, want } of cases) {
    it(`operator/R29: ${name}: ${want}`, () => assert.equal(auxiliaryGate(given).state, want));
  }

  it('operator/R29: failures are told in one order', () => {
    const both = operator({ [`${bundle}Degraded`]: 'True', [`${config}Degraded`]: 'True' });
    const gate = auxiliaryGate(both);
    assert.equal(
      gate.state === 'failed' && gate.message,
      `failed to apply resources because ${config}Degraded condition is set to True: why; ${bundle}Degraded condition is set to True: why`,
    );
  });
});

describe('the management state', () => {
  const cases = [
    { text: undefined, want: { state: 'Managed' } },
    { text: 'Unmanaged', want: { state: 'Unmanaged' } },
    { text: 'Removed', want: { state: 'Removed' } },
    { text: 'removed', want: { state: 'Managed', unknown: 'removed' } },
  ];
  for (const { text, want } of cases) {
    it(`operator/D3: ${text ?? 'no annotation'} is ${want.state}`, () => {
      const annotations = text === undefined ? {} : { 'slipway.dev/management-state': text };
      assert.deepEqual(managementState(operator({}, annotations)), want);
    });
  }
});

describe('pods that do not come up', () => {
  const terminated = { exitCode: 2, reason: 'Error', message: 'last words' };
  const ran = (startedAt: string) => ({ ...terminated, startedAt, finishedAt: '2026-01-01T11:58:00Z' });
  const justStarted = { running: { startedAt: '2026-01-01T11:59:00Z' } };
  const cases: readonly {
    name: string;
    given: Partial<ContainerStatus>;
    /** Restarts when it was first found failing. */
    before?: number;
    want: string | undefined;
  }[] = [
    {
      name: 'one that runs',
      given: { state: { running: { startedAt: '2026-01-01T11:59:59Z' } } },
      want: undefined,
    },
    {
      name: 'one that is created',
      given: { state: { waiting: { reason: 'ContainerCreating' } } },
      want: undefined,
    },
    {
      name: 'one that crashes over and over',
      given: { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated }, restartCount: 3 },
      want: 'CrashLoopBackOff',
    },
    {
      name: 'one that has just crashed again',
      given: { state: { terminated }, lastState: { terminated }, restartCount: 3 },
      want: 'CrashLoopBackOff',
    },
    {
      name: 'one that runs for a moment between two crashes',
      given: {
        state: justStarted,
        lastState: { terminated: ran('2026-01-01T11:57:00Z') },
        restartCount: 3,
      },
      want: 'CrashLoopBackOff',
    },
    {
      name: 'one that has run for long and was ended with its node, as before',
      given: {
        state: justStarted,
        lastState: { terminated: { ...ran('2026-01-01T08:00:00Z'), exitCode: 255 } },
        restartCount: 3,
      },
      want: undefined,
    },
    {
      name: 'one that nobody knows more of than that it was started anew',
      given: { state: justStarted, lastState: { terminated }, restartCount: 3 },
      want: undefined,
    },
    {
      name: 'one that was started anew since it was found failing',
      given: { state: justStarted, lastState: { terminated }, restartCount: 3 },
      before: 2,
      want: 'CrashLoopBackOff',
    },
    {
      name: 'one that has run for a while since its last crash',
      given: {
        state: { running: { startedAt: '2026-01-01T11:50:00Z' } },
        lastState: { terminated },
        restartCount: 3,
      },
      want: undefined,
    },
    {
      name: 'one whose image cannot be had',
      given: { state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } },
      want: 'ImagePullBackOff',
    },
  ];
  for (const { name, given, before, want } of cases) {
    it(`operator/R53: ${name}: ${want ?? 'nothing to tell'}`, () => {
      const [found] = failingContainers([pod('a', given)], { now: NOW, restartsBefore: () => before });
      assert.equal(found?.reason, want);
    });
  }

  it('operator/R53: the first by name is told, with the end of what it said and without secrets', () => {
    const message = `${'x'.repeat(1000)} password=hunter2 end`;
    const crashing: Partial<ContainerStatus> = {
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { ...terminated, message } },
    };
    const pods = [pod('b', crashing), pod('a', crashing)];
    const [first] = failingContainers(pods, { now: NOW, restartsBefore: () => undefined });
    const told = first?.message ?? '';
    assert.match(told, /^container ccm of pod a is in CrashLoopBackOff: it ended by Error with exit code 2: …x+/);
    assert.ok(told.endsWith('end') && !told.includes('hunter2') && told.length < 600, told);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Container, ContainerStatus, PodSpec } from '../../../api/generated/core-v1-types.ts';
import { podPhase } from './pod-phase.ts';

/** `ok` and `failed` are over; `back-ok` and `back-failed` wait for another run after such an end. */
type State = 'none' | 'waiting' | 'running' | 'started' | 'ok' | 'failed' | 'back-ok' | 'back-failed';

const ended = (exitCode: number) => ({ terminated: { exitCode } });
const WAITING = { waiting: { reason: 'x' } };
const STATES: Readonly<Record<Exclude<State, 'none'>, Partial<ContainerStatus>>> = {
  waiting: { state: WAITING },
  running: { state: { running: {} } },
  started: { state: { running: {} }, started: true },
  ok: { state: ended(0) },
  failed: { state: ended(1) },
  'back-ok': { state: WAITING, lastState: ended(0) },
  'back-failed': { state: WAITING, lastState: ended(1) },
};

const statusOf = (name: string, state: State): ContainerStatus[] =>
  state === 'none' ? [] : [{ name, image: '', imageID: '', ready: false, restartCount: 0, ...STATES[state] }];

interface Row {
  readonly policy: NonNullable<PodSpec['restartPolicy']>;
  readonly init?: State;
  readonly sidecar?: State;
  readonly regular: readonly [State, State];
  readonly isEnding?: boolean;
  readonly hasInitialized?: boolean;
  readonly want: string;
}

function phaseOf({ policy, init, sidecar, regular, isEnding = false, hasInitialized = false }: Row): string {
  const initContainers: readonly Container[] = [
    ...(init === undefined ? [] : [{ name: 'x' }]),
    ...(sidecar === undefined ? [] : [{ name: 'y', restartPolicy: 'Always' }]),
  ];
  const statuses = [
    ...statusOf('x', init ?? 'none'),
    ...statusOf('y', sidecar ?? 'none'),
    ...statusOf('a', regular[0]),
    ...statusOf('b', regular[1]),
  ];
  const spec = { restartPolicy: policy, initContainers, containers: [{ name: 'a' }, { name: 'b' }] };
  return podPhase({ spec, statuses, isEnding, hasInitialized });
}

const name = (row: Row): string => {
  const { policy, init, sidecar, regular, isEnding, hasInitialized, want } = row;
  const parts = [init && `init ${init}`, sidecar && `sidecar ${sidecar}`, regular.join('+')].filter(Boolean);
  const flags = `${isEnding === true ? ', ending' : ''}${hasInitialized === true ? ', initialized' : ''}`;
  return `${policy}: ${parts.join(', ')}${flags} → ${want}`;
};

const REGULAR: readonly Row[] = [
  { policy: 'Always', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', regular: ['running', 'running'], want: 'Running' },
  { policy: 'Always', regular: ['ok', 'ok'], want: 'Running' },
  { policy: 'Always', regular: ['ok', 'ok'], isEnding: true, want: 'Succeeded' },
  { policy: 'Always', regular: ['ok', 'failed'], isEnding: true, want: 'Failed' },
  { policy: 'Always', regular: ['failed', 'failed'], want: 'Running' },
  { policy: 'Always', regular: ['running', 'ok'], want: 'Running' },
  { policy: 'Always', regular: ['running', 'none'], want: 'Pending' },
  { policy: 'Always', regular: ['running', 'waiting'], want: 'Pending' },
  { policy: 'Always', regular: ['running', 'back-failed'], want: 'Running' },
  { policy: 'Always', regular: ['back-failed', 'back-failed'], want: 'Running' },
  { policy: 'Never', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Never', regular: ['running', 'running'], want: 'Running' },
  { policy: 'Never', regular: ['ok', 'ok'], want: 'Succeeded' },
  { policy: 'Never', regular: ['failed', 'failed'], want: 'Failed' },
  { policy: 'Never', regular: ['ok', 'failed'], want: 'Failed' },
  { policy: 'Never', regular: ['running', 'ok'], want: 'Running' },
  { policy: 'Never', regular: ['running', 'none'], want: 'Pending' },
  { policy: 'Never', regular: ['running', 'waiting'], want: 'Pending' },
  { policy: 'OnFailure', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'OnFailure', regular: ['running', 'running'], want: 'Running' },
  { policy: 'OnFailure', regular: ['ok', 'ok'], want: 'Succeeded' },
  { policy: 'OnFailure', regular: ['failed', 'failed'], want: 'Running' },
  { policy: 'OnFailure', regular: ['ok', 'failed'], want: 'Running' },
  { policy: 'OnFailure', regular: ['running', 'ok'], want: 'Running' },
  { policy: 'OnFailure', regular: ['running', 'none'], want: 'Pending' },
  { policy: 'OnFailure', regular: ['running', 'waiting'], want: 'Pending' },
  { policy: 'OnFailure', regular: ['running', 'back-failed'], want: 'Running' },
];

const INIT: readonly Row[] = [
  { policy: 'Always', init: 'none', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', init: 'running', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', init: 'failed', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', init: 'back-ok', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', init: 'back-failed', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', init: 'waiting', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', init: 'ok', regular: ['running', 'running'], want: 'Running' },
  { policy: 'OnFailure', init: 'failed', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'OnFailure', init: 'ok', regular: ['running', 'running'], want: 'Running' },
  { policy: 'Never', init: 'running', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Never', init: 'failed', regular: ['none', 'none'], want: 'Failed' },
  { policy: 'Never', init: 'failed', regular: ['waiting', 'waiting'], want: 'Failed' },
  { policy: 'Never', init: 'back-ok', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Never', init: 'back-failed', regular: ['none', 'none'], want: 'Failed' },
  { policy: 'Never', init: 'waiting', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Never', init: 'ok', regular: ['running', 'running'], want: 'Running' },
];

const SIDECAR: readonly Row[] = [
  { policy: 'Always', sidecar: 'none', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', sidecar: 'running', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', sidecar: 'ok', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', sidecar: 'back-ok', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', sidecar: 'back-failed', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', sidecar: 'waiting', regular: ['none', 'none'], want: 'Pending' },
  { policy: 'Always', sidecar: 'started', regular: ['running', 'none'], hasInitialized: true, want: 'Pending' },
  { policy: 'Always', sidecar: 'started', regular: ['running', 'running'], hasInitialized: true, want: 'Running' },
  { policy: 'Always', sidecar: 'running', regular: ['running', 'running'], hasInitialized: true, want: 'Running' },
  { policy: 'Always', sidecar: 'ok', regular: ['running', 'running'], hasInitialized: true, want: 'Running' },
  { policy: 'Always', sidecar: 'back-ok', regular: ['running', 'running'], hasInitialized: true, want: 'Running' },
  {
    policy: 'Always',
    sidecar: 'failed',
    regular: ['ok', 'ok'],
    isEnding: true,
    hasInitialized: true,
    want: 'Succeeded',
  },
  { policy: 'Always', sidecar: 'running', regular: ['running', 'running'], want: 'Pending' },
  { policy: 'Never', sidecar: 'failed', regular: ['ok', 'ok'], hasInitialized: true, want: 'Succeeded' },
  { policy: 'Never', sidecar: 'ok', regular: ['ok', 'failed'], hasInitialized: true, want: 'Failed' },
  { policy: 'Never', sidecar: 'started', regular: ['ok', 'ok'], hasInitialized: true, want: 'Running' },
  { policy: 'Always', init: 'running', sidecar: 'running', regular: ['ok', 'ok'], want: 'Pending' },
  { policy: 'Always', init: 'ok', sidecar: 'running', regular: ['ok', 'ok'], want: 'Pending' },
  {
    policy: 'Always',
    init: 'ok',
    sidecar: 'running',
    regular: ['ok', 'ok'],
    hasInitialized: true,
    want: 'Running',
  },
];

describe('podPhase', () => {
  for (const row of [...REGULAR, ...INIT, ...SIDECAR]) {
    it(`lab/N7: ${name(row)}`, () => assert.equal(phaseOf(row), row.want));
  }

  it('lab/N7: with policy Always a pod ends only when it is told to', () => {
    const state = fc.constantFrom<State>('none', 'waiting', 'running', 'ok', 'failed', 'back-ok', 'back-failed');
    fc.assert(
      fc.property(state, state, (a, b) => {
        const phase = phaseOf({ policy: 'Always', regular: [a, b], want: '' });
        assert.ok(phase === 'Pending' || phase === 'Running');
      }),
    );
  });

  it('takes the policy of a container before that of its pod', () => {
    const statuses = statusOf('a', 'failed');
    const spec = (restartPolicy: string): PodSpec => ({
      restartPolicy: 'Always',
      containers: [{ name: 'a', restartPolicy }],
    });
    const facts = { statuses, isEnding: false, hasInitialized: false };
    assert.equal(podPhase({ ...facts, spec: spec('Never') }), 'Failed');
    assert.equal(podPhase({ ...facts, spec: spec('OnFailure') }), 'Running');
  });
});

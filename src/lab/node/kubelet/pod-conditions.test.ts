import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, ContainerStatus, Pod } from '../../../api/generated/core-v1-types.ts';
import { podConditions } from './pod-conditions.ts';
import type { PodPhase } from './pod-phase.ts';

const status = (name: string, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  ...more,
});
const ready = (name: string) => status(name, { ready: true, state: { running: {} }, started: true });
const unready = (name: string) => status(name, { state: { running: {} } });
const waiting = (name: string) => status(name, { state: { waiting: {} } });

interface Row {
  readonly name: string;
  readonly init?: readonly Container[];
  readonly containers?: readonly Container[];
  readonly statuses?: readonly ContainerStatus[] | undefined;
  readonly phase?: PodPhase;
  readonly gates?: readonly string[];
  readonly conditions?: NonNullable<Pod['status']>['conditions'];
  readonly isReadyToStart?: boolean;
  /** `Type Status [Reason [message]]` of the conditions that matter. */
  readonly want: readonly string[];
}

const SIDECAR = { name: 's', restartPolicy: 'Always' };

const ROWS: readonly Row[] = [
  {
    name: 'all ready',
    statuses: [ready('a')],
    want: [
      'PodReadyToStartContainers True',
      'Initialized True',
      'Ready True',
      'ContainersReady True',
      'PodScheduled True',
    ],
  },
  {
    name: 'no sandbox yet',
    isReadyToStart: false,
    statuses: [waiting('a')],
    phase: 'Pending',
    want: ['PodReadyToStartContainers False PodSandboxNotReady'],
  },
  {
    name: 'nothing is known',
    statuses: undefined,
    init: [{ name: 'i' }],
    phase: 'Pending',
    want: [
      'Initialized False UnknownContainerStatuses',
      'Ready False UnknownContainerStatuses',
      'ContainersReady False UnknownContainerStatuses',
    ],
  },
  {
    name: 'nothing is known of a pod without init containers',
    statuses: undefined,
    phase: 'Pending',
    want: ['Initialized True', 'ContainersReady False UnknownContainerStatuses'],
  },
  {
    name: 'some are not ready',
    containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    statuses: [unready('a'), ready('b'), unready('c')],
    want: [
      'Ready False ContainersNotReady containers with unready status: [a c]',
      'ContainersReady False ContainersNotReady containers with unready status: [a c]',
    ],
  },
  {
    name: 'some are unknown, some are not ready',
    containers: [{ name: 'a' }, { name: 'b' }],
    statuses: [unready('b')],
    want: [
      'ContainersReady False ContainersNotReady containers with unknown status: [a], containers with unready status: [b]',
    ],
  },
  {
    name: 'init containers run',
    init: [{ name: 'i' }, { name: 'j' }],
    statuses: [unready('i'), waiting('j'), waiting('a')],
    phase: 'Pending',
    want: ['Initialized False ContainersNotInitialized containers with incomplete status: [i j]'],
  },
  {
    name: 'init containers are done',
    init: [{ name: 'i' }],
    statuses: [status('i', { ready: true, state: { terminated: { exitCode: 0 } } }), waiting('a')],
    phase: 'Pending',
    want: ['Initialized True'],
  },
  {
    name: 'a sidecar has started and is not ready',
    init: [SIDECAR],
    statuses: [status('s', { started: true, state: { running: {} } }), ready('a')],
    want: ['Initialized True', 'ContainersReady False ContainersNotReady containers with unready status: [s]'],
  },
  {
    name: 'a sidecar has not started',
    init: [SIDECAR],
    statuses: [unready('s'), waiting('a')],
    phase: 'Pending',
    want: ['Initialized False ContainersNotInitialized containers with incomplete status: [s]'],
  },
  {
    name: 'a sidecar restarts while regular containers run',
    init: [SIDECAR],
    statuses: [unready('s'), ready('a')],
    want: ['Initialized True'],
  },
  {
    name: 'succeeded',
    statuses: [status('a', { state: { terminated: { exitCode: 0 } } })],
    phase: 'Succeeded',
    want: ['Initialized True PodCompleted', 'Ready False PodCompleted', 'ContainersReady False PodCompleted'],
  },
  {
    name: 'failed, though its containers are still ready',
    statuses: [ready('a')],
    phase: 'Failed',
    want: ['Ready False PodFailed', 'ContainersReady False PodFailed'],
  },
  {
    name: 'a readiness gate that nobody set',
    statuses: [ready('a')],
    gates: ['g.example/x'],
    want: [
      'Ready False ReadinessGatesNotReady corresponding condition of pod readiness gate "g.example/x" does not exist.',
      'ContainersReady True',
    ],
  },
  {
    name: 'readiness gates that are not true',
    statuses: [ready('a')],
    gates: ['x', 'y'],
    conditions: [
      { type: 'x', status: 'False' },
      { type: 'y', status: 'Unknown' },
    ],
    want: [
      'Ready False ReadinessGatesNotReady the status of pod readiness gate "x" is not "True", but False, the status of pod readiness gate "y" is not "True", but Unknown',
    ],
  },
  {
    name: 'readiness gates that are true',
    statuses: [ready('a')],
    gates: ['x'],
    conditions: [{ type: 'x', status: 'True' }],
    want: ['Ready True'],
  },
  {
    name: 'readiness gates do not matter while containers are not ready',
    statuses: [unready('a')],
    gates: ['x'],
    want: ['Ready False ContainersNotReady containers with unready status: [a]'],
  },
];

function told(row: Row): readonly string[] {
  const { init = [], containers = [{ name: 'a' }], statuses, phase = 'Running', gates = [], conditions } = row;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { initContainers: init, containers, readinessGates: gates.map((conditionType) => ({ conditionType })) },
    status: { ...(conditions !== undefined && { conditions }) },
  };
  return podConditions({ pod, statuses, phase, isReadyToStart: row.isReadyToStart ?? true }).map(
    ({ type, status, reason = '', message = '' }) => `${type} ${status} ${reason} ${message}`.trim(),
  );
}

describe('podConditions', () => {
  for (const row of ROWS) {
    it(`lab/N8: ${row.name}`, () => {
      const found = told(row);
      for (const line of row.want) assert.ok(found.includes(line), `${line}\nnot in\n${found.join('\n')}`);
    });
  }
});

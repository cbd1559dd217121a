import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../api/object.ts';
import type { JsonObject } from '../../object/json.ts';
import { type Convergence, convergenceOf, EMPTY_CONVERGED_MS, isEmptyDaemonSet } from './convergence.ts';

const live = (kind: string, status: JsonObject, generation = 2): KubeObject =>
  ({ apiVersion: 'apps/v1', kind, metadata: { name: 'x', generation }, status }) as KubeObject;

const progressing = (status: string, reason: string): JsonObject => ({
  observedGeneration: 2,
  replicas: 2,
  updatedReplicas: 1,
  conditions: [
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
    { type: 'Progressing', status, reason },
  ],
});

const CONVERGED = { isConverged: true };
const waiting = (waitingFor: string): Convergence => ({ isConverged: false, waitingFor });
const NOT_SEEN = 'its controller has not seen its last change yet';
const STALLED = 'deployment x rollout stalled: ProgressDeadlineExceeded';

interface Row {
  readonly name: string;
  readonly kind: string;
  /** Absent: there is no such object. */
  readonly status?: JsonObject;
  readonly emptyForMs?: number;
  readonly hasConverged?: boolean;
  readonly want: Convergence;
}

const TABLE: readonly Row[] = [
  { name: 'a Deployment that is missing', kind: 'Deployment', want: waiting('Deployment x does not exist yet') },
  {
    name: 'a Deployment without status',
    kind: 'Deployment',
    status: {},
    want: waiting(`Deployment x: ${NOT_SEEN}`),
  },
  {
    name: 'a Deployment whose change nobody has seen',
    kind: 'Deployment',
    status: { ...progressing('True', 'NewReplicaSetAvailable'), observedGeneration: 1 },
    want: waiting(`Deployment x: ${NOT_SEEN}`),
  },
  {
    name: 'a Deployment that is complete',
    kind: 'Deployment',
    status: progressing('True', 'NewReplicaSetAvailable'),
    want: CONVERGED,
  },
  {
    name: 'a Deployment that was seen later',
    kind: 'Deployment',
    status: { ...progressing('True', 'NewReplicaSetAvailable'), observedGeneration: 3 },
    want: CONVERGED,
  },
  {
    name: 'a Deployment on its way',
    kind: 'Deployment',
    status: progressing('True', 'ReplicaSetUpdated'),
    want: waiting('Deployment x: 1 of 2 pods are new'),
  },
  {
    name: 'a Deployment without conditions',
    kind: 'Deployment',
    status: { observedGeneration: 2 },
    want: waiting('Deployment x: 0 of 0 pods are new'),
  },
  {
    name: 'a Deployment that is stuck',
    kind: 'Deployment',
    status: progressing('False', 'ProgressDeadlineExceeded'),
    want: { isConverged: false, stalled: STALLED, waitingFor: 'Deployment x: 1 of 2 pods are new' },
  },
  {
    name: 'a Deployment that was stuck before its last change',
    kind: 'Deployment',
    status: { ...progressing('False', 'ProgressDeadlineExceeded'), observedGeneration: 1 },
    want: waiting(`Deployment x: ${NOT_SEEN}`),
  },
  { name: 'a DaemonSet that is missing', kind: 'DaemonSet', want: waiting('DaemonSet x does not exist yet') },
  {
    name: 'a DaemonSet whose pods are all new, though some nodes have none and some pods are not ready',
    kind: 'DaemonSet',
    status: {
      observedGeneration: 2,
      desiredNumberScheduled: 5,
      currentNumberScheduled: 3,
      updatedNumberScheduled: 3,
      numberUnavailable: 2,
      numberMisscheduled: 1,
    },
    want: CONVERGED,
  },
  {
    name: 'a DaemonSet with an old pod',
    kind: 'DaemonSet',
    status: {
      observedGeneration: 2,
      desiredNumberScheduled: 3,
      currentNumberScheduled: 3,
      updatedNumberScheduled: 2,
    },
    want: waiting('DaemonSet x: 2 of 3 pods are new'),
  },
  {
    name: 'a DaemonSet whose change nobody has seen',
    kind: 'DaemonSet',
    status: { observedGeneration: 1, currentNumberScheduled: 3, updatedNumberScheduled: 3 },
    emptyForMs: 10 * EMPTY_CONVERGED_MS,
    want: waiting(`DaemonSet x: ${NOT_SEEN}`),
  },
  {
    name: 'a DaemonSet without nodes, for two minutes',
    kind: 'DaemonSet',
    status: { observedGeneration: 2, desiredNumberScheduled: 0, currentNumberScheduled: 0 },
    emptyForMs: EMPTY_CONVERGED_MS,
    want: waiting('DaemonSet x: no node has its pod yet'),
  },
  {
    name: 'a DaemonSet without nodes, for longer than that (section 18, 12)',
    kind: 'DaemonSet',
    status: { observedGeneration: 2, desiredNumberScheduled: 0, currentNumberScheduled: 0 },
    emptyForMs: EMPTY_CONVERGED_MS + 1,
    want: CONVERGED,
  },
  {
    name: 'a DaemonSet that lost its nodes after it had been rolled out',
    kind: 'DaemonSet',
    status: { observedGeneration: 2, desiredNumberScheduled: 0, currentNumberScheduled: 0 },
    hasConverged: true,
    want: CONVERGED,
  },
  {
    name: 'a DaemonSet that has nodes again, and no pod there yet',
    kind: 'DaemonSet',
    status: { observedGeneration: 2, desiredNumberScheduled: 1, currentNumberScheduled: 0 },
    hasConverged: true,
    want: waiting('DaemonSet x: no node has its pod yet'),
  },
  {
    name: 'a DaemonSet that wants a pod and has none, however long',
    kind: 'DaemonSet',
    status: { observedGeneration: 2, desiredNumberScheduled: 1, currentNumberScheduled: 0 },
    emptyForMs: 10 * EMPTY_CONVERGED_MS,
    want: waiting('DaemonSet x: no node has its pod yet'),
  },
  { name: 'a ConfigMap', kind: 'ConfigMap', want: CONVERGED },
];

describe('convergenceOf', () => {
  const check = ({ kind, status, emptyForMs = 0, hasConverged = false, want }: (typeof TABLE)[number]) => {
    const required = { apiVersion: 'apps/v1', kind, metadata: { name: 'x' } };
    const found = status === undefined ? undefined : live(kind, status);
    assert.deepEqual(convergenceOf(required, found, { emptyForMs, hasConverged }), want);
  };
  for (const row of TABLE.filter(({ kind }) => kind === 'Deployment'))
    it(`operator/R48: ${row.name}`, () => check(row));
  for (const row of TABLE.filter(({ kind }) => kind !== 'Deployment'))
    it(`operator/R49: ${row.name}`, () => check(row));
});

describe('isEmptyDaemonSet', () => {
  const table = [
    { name: 'nothing wanted, nothing there', kind: 'DaemonSet', status: { observedGeneration: 2 }, want: true },
    { name: 'not seen yet', kind: 'DaemonSet', status: { observedGeneration: 1 }, want: false },
    {
      name: 'a node',
      kind: 'DaemonSet',
      status: { observedGeneration: 2, desiredNumberScheduled: 1 },
      want: false,
    },
    {
      name: 'a pod left',
      kind: 'DaemonSet',
      status: { observedGeneration: 2, currentNumberScheduled: 1 },
      want: false,
    },
    { name: 'a Deployment', kind: 'Deployment', status: { observedGeneration: 2 }, want: false },
  ];
  for (const { name, kind, status, want } of table) {
    it(`${name}: ${want}`, () => assert.equal(isEmptyDaemonSet(live(kind, status)), want));
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import {
  type Cluster,
  CONTROL_PLANE_LABEL,
  type Machine,
  PAUSED_ANNOTATION,
  WATCH_LABEL,
} from '../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import { configKeyOf, configOwnerOf, isWatched, machineOwnersOf } from './config-owner.ts';
import { isHeld, isInstalling } from './installation.ts';
import { pauseReason } from './pause.ts';

const object = (metadata: Partial<KubeObject['metadata']>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', ...metadata },
});
const owner = (apiVersion: string, kind: string, name = kind): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid: name,
});

const install = (state: string | undefined, met?: 'True' | 'False'): AgentClusterInstall => ({
  apiVersion: 'extensions.hive.openshift.io/v1beta1',
  kind: 'AgentClusterInstall',
  metadata: { name: 'a' },
  status: {
    ...(state !== undefined && { debugInfo: { state } }),
    ...(met !== undefined && { conditions: [{ type: 'RequirementsMet', status: met }] }),
  },
});

const machine = (metadata: Partial<Machine['metadata']> = {}, configRef?: object): Machine => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Machine',
  metadata: { name: 'a', namespace: 'n', ...metadata },
  spec: {
    clusterName: 'c',
    bootstrap: {
      ...(configRef !== undefined && { configRef: configRef as { apiGroup: string; kind: string; name: string } }),
    },
    infrastructureRef: { apiGroup: 'g', kind: 'k', name: 'i' },
  },
});

describe('an installation', () => {
  for (const { state, met, isRunning } of [
    { state: undefined, met: undefined, isRunning: false },
    { state: '', met: undefined, isRunning: false },
    { state: 'insufficient', met: undefined, isRunning: false },
    { state: 'pending-for-input', met: undefined, isRunning: false },
    { state: 'adding-hosts', met: 'True', isRunning: false },
    { state: 'ready', met: undefined, isRunning: false },
    { state: 'ready', met: 'False', isRunning: false },
    { state: 'ready', met: 'True', isRunning: true },
    { state: 'preparing-for-installation', met: 'True', isRunning: true },
    { state: 'installing', met: 'True', isRunning: true },
    { state: 'finalizing', met: 'True', isRunning: true },
    { state: 'installed', met: 'True', isRunning: true },
    { state: 'error', met: undefined, isRunning: true },
    { state: 'cancelled', met: undefined, isRunning: true },
  ] as const)
    it(`agent/B9, agent/X9: in state ${state ?? 'unknown'} with RequirementsMet ${met ?? 'unknown'} ${isRunning ? 'takes no more workers' : 'takes workers'}`, () => {
      assert.equal(isInstalling(install(state, met)), isRunning);
      assert.equal(isHeld(machine(), install(state, met)), isRunning);
      assert.equal(isHeld(machine({ labels: { [CONTROL_PLANE_LABEL]: 'x' } }), install(state, met)), false);
    });
});

describe('who a config is for', () => {
  it('agent/B2: is the first Machine or MachinePool of the group, whatever the version', () => {
    const other = owner('cluster.example/v1', 'Machine');
    const set = owner('cluster.x-k8s.io/v1beta2', 'MachineSet');
    const pool = owner('cluster.x-k8s.io/v1beta1', 'MachinePool');
    const one = owner('cluster.x-k8s.io/v1beta1', 'Machine');
    assert.equal(configOwnerOf(object({})), undefined);
    assert.equal(configOwnerOf(object({ ownerReferences: [other, set] })), undefined);
    assert.equal(configOwnerOf(object({ ownerReferences: [set, one, pool] })), one);
    assert.equal(configOwnerOf(object({ ownerReferences: [pool, one] })), pool);
    assert.deepEqual(machineOwnersOf(object({ ownerReferences: [pool, one, other] })), [one]);
  });

  it('agent/G2: a Machine names its config only where it is of our kind', () => {
    const ours = { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'OpenshiftAssistedConfig', name: 'c' };
    assert.deepEqual(configKeyOf(machine({}, ours)), { namespace: 'n', name: 'c' });
    assert.equal(configKeyOf(machine({}, { ...ours, kind: 'KubeadmConfig' })), undefined);
    assert.equal(configKeyOf(machine()), undefined);
  });

  it('is watched with the right label, and without a filter always', () => {
    const labelled = object({ labels: { [WATCH_LABEL]: 'us' } });
    assert.deepEqual(
      [
        isWatched(labelled, 'us'),
        isWatched(labelled, 'them'),
        isWatched(object({}), 'us'),
        isWatched(object({}), undefined),
      ],
      [true, false, false, true],
    );
  });
});

describe('a pause', () => {
  it('agent/X11: is told by the Cluster, by the object, or by both', () => {
    const cluster = (paused: boolean): Cluster => ({ ...object({}), kind: 'Cluster', spec: { paused } });
    const annotated = object({ annotations: { [PAUSED_ANNOTATION]: '' } });
    assert.equal(pauseReason(cluster(false), object({})), undefined);
    assert.equal(pauseReason(undefined, object({})), undefined);
    assert.equal(pauseReason(cluster(true), object({})), 'Cluster spec.paused is set to true');
    assert.equal(
      pauseReason(cluster(true), annotated),
      'Cluster spec.paused is set to true, Thing has the cluster.x-k8s.io/paused annotation',
    );
  });
});

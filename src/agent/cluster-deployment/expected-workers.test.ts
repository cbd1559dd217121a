import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Cluster, ClusterTopology, MachineDeployment } from '../../api/cluster-api/core-v1beta2.ts';
import { expectedWorkers } from './expected-workers.ts';

const clusterOf = (
  ...machineDeployments: NonNullable<ClusterTopology['workers']>['machineDeployments'] & object
): Cluster => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'ocp' },
  spec: { topology: { classRef: { name: 'metal' }, version: 'v1.33.0', workers: { machineDeployments } } },
});

function deployment(replicas: number | undefined, { of = '', isGoing = false } = {}): MachineDeployment {
  const labels = of === '' ? {} : { 'topology.cluster.x-k8s.io/deployment-name': of };
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name: `d${of}`, labels, ...(isGoing && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: { ...(replicas !== undefined && { replicas }) } as MachineDeployment['spec'],
  };
}

const ALONE: Cluster = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata: { name: 'ocp' } };
const small = { class: 'worker', name: 'small', replicas: 2 };

describe('workers that an installation waits for', () => {
  for (const { name, given, want } of [
    { name: 'are none without a MachineDeployment', given: expectedWorkers(ALONE, []), want: 0 },
    {
      name: 'are the sum of all MachineDeployments; one that does not say is one',
      given: expectedWorkers(ALONE, [deployment(2), deployment(undefined), deployment(0)]),
      want: 3,
    },
    {
      name: 'are not those of one that goes',
      given: expectedWorkers(ALONE, [deployment(2), deployment(5, { isGoing: true })]),
      want: 2,
    },
  ])
    it(`agent/X20: ${name}`, () => assert.equal(given, want));

  it('are those of a topology before core has made its MachineDeployments', () => {
    assert.equal(expectedWorkers(clusterOf(small, { class: 'worker', name: 'large' }), []), 3);
  });

  it('are those of a MachineDeployment once it is made, whatever its topology says, and while it goes', () => {
    assert.equal(expectedWorkers(clusterOf(small), [deployment(4, { of: 'small' })]), 4);
    assert.equal(expectedWorkers(clusterOf(small), [deployment(4, { of: 'small', isGoing: true })]), 0);
    assert.equal(expectedWorkers(clusterOf(small), [deployment(1), deployment(3, { of: 'other' })]), 6);
  });
});

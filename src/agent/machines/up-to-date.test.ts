import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlPlane } from '../../../test/support/agent-control-plane-world.ts';
import type { OpenshiftAssistedConfig, OpenshiftAssistedConfigSpec } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { Cluster, Machine, MachineDeletion } from '../../api/cluster-api/core-v1beta2.ts';
import { machineDeletion, outdatedParts } from './up-to-date.ts';

const cluster: Cluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'ocp', uid: 'u' },
};
const infrastructureRef = { apiGroup: 'g', kind: 'KTemplate', name: 't' };

function parts({
  wanted = {},
  found = {},
  deletion,
  template,
  configName = 'm',
}: {
  wanted?: OpenshiftAssistedConfigSpec;
  found?: OpenshiftAssistedConfigSpec;
  deletion?: MachineDeletion;
  template?: MachineDeletion;
  configName?: string;
}): readonly string[] {
  const spec = {
    openshiftAssistedConfigSpec: wanted,
    machineTemplate: { infrastructureRef, ...(template !== undefined && { deletion: template }) },
  };
  const config: OpenshiftAssistedConfig = { apiVersion: 'v', kind: 'K', metadata: { name: 'm' }, spec: found };
  const machine: Machine = {
    apiVersion: 'v',
    kind: 'Machine',
    metadata: { name: 'm' },
    spec: {
      clusterName: 'ocp',
      bootstrap: configName === '' ? {} : { configRef: { apiGroup: 'g', kind: 'K', name: configName } },
      infrastructureRef,
      ...(deletion !== undefined && { deletion }),
    },
  };
  return outdatedParts(machine, controlPlane(cluster, { spec }), [config]);
}

const CONFIG = ['OpenshiftAssistedConfig m is not what spec.openshiftAssistedConfigSpec says'];
const DELETION = ['spec.deletion is not what spec.machineTemplate.deletion says'];

describe('whether a Machine is what its control plane asks for', () => {
  for (const { name, given, want } of [
    { name: 'it is when nothing is said', given: parts({}), want: [] },
    {
      name: 'fields that the template does not set may differ',
      given: parts({ found: { sshAuthorizedKey: 'k' } }),
      want: [],
    },
    {
      name: 'empty fields are not set',
      given: parts({
        wanted: { sshAuthorizedKey: '', additionalNTPSources: [] },
        found: { sshAuthorizedKey: 'k' },
      }),
      want: [],
    },
    {
      name: 'a field that is set must be the same',
      given: parts({ wanted: { sshAuthorizedKey: 'a' }, found: { sshAuthorizedKey: 'b' } }),
      want: CONFIG,
    },
    {
      name: 'so must nested ones',
      given: parts({ wanted: { proxy: { httpProxy: 'a' } }, found: { proxy: { httpProxy: 'a', noProxy: 'x' } } }),
      want: [],
    },
    {
      name: 'lists are compared whole',
      given: parts({ wanted: { additionalNTPSources: ['a'] }, found: { additionalNTPSources: ['a', 'b'] } }),
      want: CONFIG,
    },
    {
      name: 'a changed drain timeout is a difference',
      given: parts({ template: { nodeDrainTimeoutSeconds: 5 }, deletion: { nodeDeletionTimeoutSeconds: 10 } }),
      want: DELETION,
    },
    {
      name: 'a config that is gone is a difference',
      given: parts({ configName: 'other' }),
      want: ['OpenshiftAssistedConfig other does not exist'],
    },
    {
      name: 'so is a Machine without one',
      given: parts({ configName: '' }),
      want: ['spec.bootstrap.configRef is empty'],
    },
  ])
    it(`agent/C17: ${name}`, () => assert.deepEqual(given, want));

  for (const { name, given } of [
    { name: 'on both sides', given: parts({ template: {}, deletion: {} }) },
    {
      name: 'in the template alone',
      given: parts({ template: {}, deletion: { nodeDeletionTimeoutSeconds: 10 } }),
    },
    { name: 'in the Machine alone', given: parts({ template: { nodeDeletionTimeoutSeconds: 10 } }) },
  ])
    it(`agent/X8: a deletion timeout that is absent ${name} is 10 seconds`, () => assert.deepEqual(given, []));

  const DEFAULT = { nodeDeletionTimeoutSeconds: 10 };
  for (const { name, deletion, alias, want } of [
    {
      name: 'count where the contract has them, and the default of the old place is nothing that anybody said',
      deletion: DEFAULT,
      alias: { nodeDrainTimeoutSeconds: 60, nodeDeletionTimeoutSeconds: 0 },
      want: { nodeDrainTimeoutSeconds: 60, nodeDeletionTimeoutSeconds: 0 },
    },
    {
      name: 'count field by field at the old place first',
      deletion: { nodeDrainTimeoutSeconds: 5, nodeDeletionTimeoutSeconds: 20 },
      alias: { nodeDrainTimeoutSeconds: 60, nodeVolumeDetachTimeoutSeconds: 7, nodeDeletionTimeoutSeconds: 30 },
      want: { nodeDrainTimeoutSeconds: 5, nodeVolumeDetachTimeoutSeconds: 7, nodeDeletionTimeoutSeconds: 20 },
    },
  ])
    it(`agent/X6: timeouts ${name}`, () => {
      const machineTemplate = { infrastructureRef, deletion, spec: { deletion: alias } };
      assert.deepEqual(machineDeletion(controlPlane(cluster, { spec: { machineTemplate } })), want);
    });
});

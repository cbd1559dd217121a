import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { itDefines, itEqualsOriginals } from '../../../test/support/definition-tests.ts';
import { asDefinition, withoutOriginals } from '../../../test/support/original-definitions.ts';
import { lintKind } from '../schema/lint-kind.ts';
import {
  ClusterDefinition,
  MachineDefinition,
  MachineDeploymentDefinition,
  MachineSetDefinition,
} from './core-v1beta2.schema.ts';
import { clusterApiDefinitions } from './definitions.schema.ts';

const skip = withoutOriginals('cluster-api');
const OURS = clusterApiDefinitions().map(asDefinition);
/** Columns of what core counts and chooses itself: nobody of ours reads or writes these fields. */
const UNNAMED = /is not in the schema$/;

describe('clusterApiDefinitions', () => {
  itDefines(clusterApiDefinitions, [
    'clusters.cluster.x-k8s.io',
    'machines.cluster.x-k8s.io',
    'machinesets.cluster.x-k8s.io',
    'machinedeployments.cluster.x-k8s.io',
  ]);

  it('says which contract the kinds follow', () => {
    for (const { metadata } of OURS) {
      assert.deepEqual(metadata.labels, {
        'cluster.x-k8s.io/provider': 'cluster-api',
        'cluster.x-k8s.io/v1beta2': 'v1beta2',
      });
    }
  });

  it('has rules that the server can afford', () => {
    const kinds = [ClusterDefinition, MachineDefinition, MachineSetDefinition, MachineDeploymentDefinition];
    assert.deepEqual(
      kinds.flatMap(lintKind).filter((text) => !UNNAMED.test(text)),
      [],
    );
  });
});

describe('clusterApiDefinitions beside those of Cluster API', { skip }, () => {
  itEqualsOriginals('cluster-api', clusterApiDefinitions);
});

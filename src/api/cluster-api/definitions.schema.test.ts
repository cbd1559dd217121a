import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  asDefinition,
  closedObjects,
  differences,
  FORM_AND_BOUNDS,
  originals,
  outline,
  schemaOf,
  withoutOriginals,
} from '../../../test/support/original-definitions.ts';
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
const VERSION = 'v1beta2';
/** Columns of what core counts and chooses itself: nobody of ours reads or writes these fields. */
const UNNAMED = /is not in the schema$/;

describe('clusterApiDefinitions', () => {
  it('has each kind once, and new definitions each time', () => {
    assert.deepEqual(
      OURS.map(({ metadata }) => metadata.name),
      [
        'clusters.cluster.x-k8s.io',
        'machines.cluster.x-k8s.io',
        'machinesets.cluster.x-k8s.io',
        'machinedeployments.cluster.x-k8s.io',
      ],
    );
    assert.notEqual(clusterApiDefinitions()[0], clusterApiDefinitions()[0]);
    assert.deepEqual(clusterApiDefinitions(), clusterApiDefinitions());
  });

  it('says which contract the kinds follow', () => {
    for (const { metadata } of OURS) {
      assert.deepEqual(metadata.labels, {
        'cluster.x-k8s.io/provider': 'cluster-api',
        'cluster.x-k8s.io/v1beta2': 'v1beta2',
      });
    }
  });

  it('keeps every field that a kind does not name', () => {
    for (const crd of OURS) assert.deepEqual(closedObjects(schemaOf(crd, VERSION)), []);
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
  const theirs = originals('cluster-api');

  for (const crd of OURS) {
    const { name } = crd.metadata;
    const original = theirs.get(name);

    it(`${name} has the same names, scope, subresources and columns in ${VERSION}`, () => {
      assert.ok(original);
      assert.deepEqual(outline(crd, [VERSION]), outline(original, [VERSION]));
    });

    it(`${name} has the same types, enums, defaults, bounds, keys of lists and needed fields`, () => {
      assert.ok(original);
      const [mine, its] = [schemaOf(crd, VERSION), schemaOf(original, VERSION)];
      assert.deepEqual(differences(mine, its, { keys: FORM_AND_BOUNDS }), []);
    });
  }
});

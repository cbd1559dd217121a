import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  asDefinition,
  closedObjects,
  type Definition,
  differences,
  FORM_AND_BOUNDS,
  originals,
  outline,
  schemaOf,
  withoutOriginals,
} from '../../../test/support/original-definitions.ts';
import { metal3Definitions } from './definitions.schema.ts';
import { diskFormatOf } from './infrastructure-v1beta2.ts';

const skip = withoutOriginals('metal3');
const OURS = metal3Definitions().map(asDefinition);
const versionsOf = ({ spec }: Definition) => spec.versions.map(({ name }) => name);

describe('metal3Definitions', () => {
  it('has each kind once, and new definitions each time', () => {
    assert.deepEqual(
      OURS.map((crd) => [crd.metadata.name, ...versionsOf(crd)]),
      [
        ['baremetalhosts.metal3.io', 'v1alpha1'],
        ['metal3clusters.infrastructure.cluster.x-k8s.io', 'v1beta2', 'v1beta1'],
        ['metal3clustertemplates.infrastructure.cluster.x-k8s.io', 'v1beta2', 'v1beta1'],
        ['metal3machines.infrastructure.cluster.x-k8s.io', 'v1beta2', 'v1beta1'],
        ['metal3machinetemplates.infrastructure.cluster.x-k8s.io', 'v1beta2', 'v1beta1'],
        ['metal3datatemplates.infrastructure.cluster.x-k8s.io', 'v1beta2', 'v1beta1'],
      ],
    );
    assert.notEqual(metal3Definitions()[0], metal3Definitions()[0]);
    assert.deepEqual(metal3Definitions(), metal3Definitions());
  });

  it('says which version follows which contract, and that nothing is converted', () => {
    for (const { metadata, spec } of OURS.slice(1)) {
      assert.equal(metadata.labels?.['cluster.x-k8s.io/v1beta1'], 'v1beta1');
      assert.equal(metadata.labels?.['cluster.x-k8s.io/v1beta2'], 'v1beta2');
      assert.deepEqual(spec.conversion, { strategy: 'None' });
    }
  });

  it('keeps every field that a kind does not name', () => {
    for (const crd of OURS) {
      for (const version of versionsOf(crd)) assert.deepEqual(closedObjects(schemaOf(crd, version)), []);
    }
  });

  it('finds the format of an image under the names of both versions', () => {
    assert.equal(diskFormatOf({ diskFormat: 'live-iso', format: 'qcow2' }), 'live-iso');
    assert.equal(diskFormatOf({ format: 'qcow2' }), 'qcow2');
    assert.equal(diskFormatOf({}), undefined);
  });
});

describe('metal3Definitions beside those of Metal3', { skip }, () => {
  const theirs = originals('metal3');

  for (const crd of OURS) {
    const { name } = crd.metadata;
    const original = theirs.get(name);

    it(`${name} has the same names, scope, versions, subresources and columns`, () => {
      assert.ok(original);
      assert.deepEqual(outline(crd, versionsOf(crd)), outline(original, versionsOf(original)));
    });

    for (const version of versionsOf(crd)) {
      it(`${name} has the same types, enums, defaults, bounds, keys of lists and needed fields in ${version}`, () => {
        assert.ok(original);
        const [mine, its] = [schemaOf(crd, version), schemaOf(original, version)];
        assert.deepEqual(differences(mine, its, { keys: FORM_AND_BOUNDS }), []);
      });
    }
  }
});

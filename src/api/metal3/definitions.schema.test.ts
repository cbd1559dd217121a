import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { itDefines, itEqualsOriginals, versionsOf } from '../../../test/support/definition-tests.ts';
import { asDefinition, originals, withoutOriginals } from '../../../test/support/original-definitions.ts';
import { metal3Definitions } from './definitions.schema.ts';
import { diskFormatOf } from './infrastructure-v1beta2.ts';

const skip = withoutOriginals('metal3');
const OURS = metal3Definitions().map(asDefinition);

describe('metal3Definitions', () => {
  itDefines(metal3Definitions, [
    'baremetalhosts.metal3.io',
    'metal3clusters.infrastructure.cluster.x-k8s.io',
    'metal3clustertemplates.infrastructure.cluster.x-k8s.io',
    'metal3machines.infrastructure.cluster.x-k8s.io',
    'metal3machinetemplates.infrastructure.cluster.x-k8s.io',
    'metal3datatemplates.infrastructure.cluster.x-k8s.io',
  ]);

  it('serves two versions of all but hosts', () => {
    const [hosts, ...others] = OURS.map(versionsOf);
    assert.deepEqual(hosts, ['v1alpha1']);
    for (const versions of others) assert.deepEqual(versions, ['v1beta2', 'v1beta1']);
  });

  it('says which version follows which contract, and that nothing is converted', () => {
    for (const { metadata, spec } of OURS.slice(1)) {
      assert.equal(metadata.labels?.['cluster.x-k8s.io/v1beta1'], 'v1beta1');
      assert.equal(metadata.labels?.['cluster.x-k8s.io/v1beta2'], 'v1beta2');
      assert.deepEqual(spec.conversion, { strategy: 'None' });
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
  itEqualsOriginals('metal3', metal3Definitions);

  for (const crd of OURS)
    it(`${crd.metadata.name} has no version less`, () => {
      const original = theirs.get(crd.metadata.name);
      assert.ok(original);
      assert.deepEqual(versionsOf(original).toSorted(), versionsOf(crd).toSorted());
    });
});

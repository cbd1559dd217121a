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
import { hiveDefinitions } from './definitions.schema.ts';

const skip = withoutOriginals('hive');
const OURS = hiveDefinitions().map(asDefinition);

describe('hiveDefinitions', () => {
  it('has each kind once, and new definitions each time', () => {
    assert.deepEqual(
      OURS.map(({ metadata }) => metadata.name),
      ['clusterdeployments.hive.openshift.io', 'clusterimagesets.hive.openshift.io'],
    );
    assert.notEqual(hiveDefinitions()[0], hiveDefinitions()[0]);
    assert.deepEqual(hiveDefinitions(), hiveDefinitions());
  });

  it('keeps every field that a kind does not name', () => {
    for (const crd of OURS) assert.deepEqual(closedObjects(schemaOf(crd, 'v1')), []);
  });
});

describe('hiveDefinitions beside those of Hive', { skip }, () => {
  const theirs = originals('hive');

  for (const crd of OURS) {
    const { name } = crd.metadata;
    const original = theirs.get(name);

    it(`${name} has the same names, scope, subresources and columns`, () => {
      assert.ok(original);
      assert.deepEqual(outline(crd, ['v1']), outline(original, ['v1']));
    });

    it(`${name} has the same types, enums, defaults, bounds, keys of lists and needed fields`, () => {
      assert.ok(original);
      const [mine, its] = [schemaOf(crd, 'v1'), schemaOf(original, 'v1')];
      assert.deepEqual(differences(mine, its, { keys: FORM_AND_BOUNDS }), []);
    });
  }
});

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
import { assistedDefinitions } from './definitions.schema.ts';

const skip = withoutOriginals('assisted-service');
const OURS = assistedDefinitions().map(asDefinition);
const VERSION = 'v1beta1';
/** The original says it as the intersection of two lists, of which this is what is left. */
const INTERSECTED = ['spec.external.cloudControllerManager: enum is ["","External"], not undefined'];

describe('assistedDefinitions', () => {
  it('has each kind once, and new definitions each time', () => {
    assert.deepEqual(
      OURS.map(({ metadata }) => metadata.name),
      [
        'infraenvs.agent-install.openshift.io',
        'agents.agent-install.openshift.io',
        'agentclusterinstalls.extensions.hive.openshift.io',
      ],
    );
    assert.notEqual(assistedDefinitions()[0], assistedDefinitions()[0]);
    assert.deepEqual(assistedDefinitions(), assistedDefinitions());
  });

  it('keeps every field that a kind does not name', () => {
    for (const crd of OURS) assert.deepEqual(closedObjects(schemaOf(crd, VERSION)), []);
  });
});

describe('assistedDefinitions beside those of assisted-service', { skip }, () => {
  const theirs = originals('assisted-service');

  for (const crd of OURS) {
    const { name } = crd.metadata;
    const original = theirs.get(name);

    it(`${name} has the same names, scope, subresources and columns`, () => {
      assert.ok(original);
      assert.deepEqual(outline(crd, [VERSION]), outline(original, [VERSION]));
    });

    it(`${name} has the same types, enums, defaults, bounds, keys of lists and needed fields`, () => {
      assert.ok(original);
      const [mine, its] = [schemaOf(crd, VERSION), schemaOf(original, VERSION)];
      const found = differences(mine, its, { keys: FORM_AND_BOUNDS });
      assert.deepEqual(found, name.startsWith('agentclusterinstalls.') ? INTERSECTED : []);
    });
  }
});

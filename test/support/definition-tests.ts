import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  asDefinition,
  closedObjects,
  type Definition,
  differences,
  FORM_AND_BOUNDS,
  originals,
  outline,
  schemaOf,
} from './original-definitions.ts';

export const versionsOf = ({ spec }: Definition): readonly string[] => spec.versions.map(({ name }) => name);

/** What is true of the definitions of every group of kinds: to be called inside a `describe`. */
export function itDefines(make: () => readonly object[], names: readonly string[]): void {
  it('has each kind once, and new definitions each time', () => {
    assert.deepEqual(
      make().map((crd) => asDefinition(crd).metadata.name),
      names,
    );
    assert.notEqual(make()[0], make()[0]);
    assert.deepEqual(make(), make());
  });

  it('keeps every field that a kind does not name', () => {
    for (const crd of make().map(asDefinition))
      for (const version of versionsOf(crd)) assert.deepEqual(closedObjects(schemaOf(crd, version)), [], version);
  });
}

/**
 * That they say the same as those of a project, in the versions that we have: to be called inside a `describe` that is
 * skipped without originals. `expected` has the differences that are meant, by the name of the definition.
 */
export function itEqualsOriginals(
  project: string,
  make: () => readonly object[],
  expected: Readonly<Record<string, readonly string[]>> = {},
): void {
  const theirs = originals(project);
  for (const crd of make().map(asDefinition)) {
    const { name } = crd.metadata;
    const original = theirs.get(name);

    it(`${name} has the same names, scope, subresources and columns`, () => {
      assert.ok(original);
      assert.deepEqual(outline(crd, versionsOf(crd)), outline(original, versionsOf(crd)));
    });

    for (const version of versionsOf(crd))
      it(`${name} has the same types, enums, defaults, bounds, keys of lists and needed fields in ${version}`, () => {
        assert.ok(original);
        const [mine, its] = [schemaOf(crd, version), schemaOf(original, version)];
        assert.deepEqual(differences(mine, its, { keys: FORM_AND_BOUNDS }), expected[name] ?? []);
      });
  }
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Schema } from '../../api/schema/structural.ts';
import { type JsonObject, jsonEqual } from '../json.ts';
import { entriesOf, parseManagedFields } from './claims.ts';
import { compare } from './compare.ts';
import { difference, intersection, NOTHING, pathsOf, pathText, union } from './field-set.ts';
import { parseFields } from './fields-v1.ts';
import { applyConfiguration, updateManagedFields } from './managed-fields.ts';
import { withNamedFields } from './named-fields.ts';
import { fieldSetOf } from './to-field-set.ts';
import { objectOwnership } from './typing.ts';

const STRING: Schema = { type: 'string' };
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    text: STRING,
    set: { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' },
    items: {
      type: 'array',
      items: { type: 'object', properties: { name: STRING, value: STRING } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    map: { type: 'object', additionalProperties: STRING },
    whole: { type: 'object', additionalProperties: STRING, 'x-kubernetes-map-type': 'atomic' },
    inner: { type: 'object', properties: { a: STRING, b: STRING } },
  },
};
const OWNERSHIP = objectOwnership(SCHEMA);

const word = fc.constantFrom('x', 'y');
const strings = fc.dictionary(fc.constantFrom('a', 'b'), word, { minKeys: 1, noNullPrototype: true });
const content = fc.record(
  {
    text: word,
    set: fc.shuffledSubarray(['a', 'b', 'c'], { minLength: 1 }),
    items: fc.uniqueArray(
      fc.record(
        { name: fc.constantFrom('a', 'b'), value: word },
        { requiredKeys: ['name'], noNullPrototype: true },
      ),
      { selector: ({ name }) => name, minLength: 1 },
    ),
    map: strings,
    whole: strings,
    inner: fc.record({ a: word, b: word }, { requiredKeys: ['a'], noNullPrototype: true }),
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<JsonObject>;
const write = fc.record({ manager: fc.constantFrom('one', 'two', 'three'), isApply: fc.boolean(), content });
const writes = fc.array(write, { minLength: 1, maxLength: 6 });

const objectOf = (fields: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x' },
  ...fields,
});
const WRITING = { schema: SCHEMA, apiVersion: 'v1', subresource: '', resetFields: [], now: new Date(0) };

const applied = (live: JsonObject | undefined, manager: string, fields: JsonObject) =>
  applyConfiguration({ ...WRITING, live, manager, config: objectOf(fields), force: true });

function after(all: readonly { manager: string; isApply: boolean; content: JsonObject }[]): JsonObject {
  let live: JsonObject | undefined;
  for (const { manager, isApply, content: fields } of all) {
    if (isApply) {
      live = applied(live, manager, fields).object;
      continue;
    }
    const updated = objectOf(fields);
    const managedFields = updateManagedFields({ ...WRITING, live, updated, manager });
    live = objectOf({ ...fields, metadata: { name: 'x', uid: 'u', managedFields } });
  }
  return live ?? {};
}

const setsOf = (object: JsonObject) => [...parseManagedFields(entriesOf(object)).values()];

describe('laws of server-side apply', () => {
  it('every owned path exists', () => {
    fc.assert(
      fc.property(writes, (all) => {
        const object = after(all);
        const { metadata: _, ...rest } = object;
        const there = withNamedFields(fieldSetOf(rest, OWNERSHIP), OWNERSHIP);
        for (const { set } of setsOf(object)) {
          // A writer owns a map itself too, which no configuration claims.
          const lost = [...pathsOf(difference(set, there))].map(pathText);
          assert.deepEqual(
            lost.filter((path) => !/^\.(map|set|items|inner)$/.test(path)),
            [],
          );
        }
      }),
    );
  });

  it('applying twice changes nothing', () => {
    fc.assert(
      fc.property(writes, content, (all, fields) => {
        const { object } = applied(after(all), 'one', fields);
        const again = applied(object, 'one', fields);
        assert.equal(again.isChanged, false);
        assert.ok(jsonEqual(again.object, object));
      }),
    );
  });

  it('what all appliers let go of is gone', () => {
    fc.assert(
      fc.property(writes, (all) => {
        const appliers = all.map((each) => ({ ...each, isApply: true }));
        let object = after(appliers);
        for (const manager of ['one', 'two', 'three']) object = applied(object, manager, {}).object;
        assert.deepEqual(object, { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' } });
      }),
    );
  });

  it('apiserver/S13: after a forced apply nobody else owns what it changed', () => {
    fc.assert(
      fc.property(writes, content, (all, fields) => {
        const before = after(all);
        const { object } = applied(before, 'me', fields);
        const { modified, added } = compare(bare(before), bare(object), OWNERSHIP);
        const others = setsOf(object).filter(({ manager }) => manager !== 'me');
        const theirs = others.reduce((sum, { set }) => union(sum, set), NOTHING);
        assert.deepEqual([...pathsOf(intersection(theirs, union(modified, added)))].map(pathText), []);
      }),
    );
  });

  it('managedFields are spelled canonically', () => {
    fc.assert(
      fc.property(writes, (all) => {
        for (const { set } of setsOf(after(all))) {
          const stored = JSON.parse(JSON.stringify(set));
          assert.equal(parseFields(stored), stored);
        }
      }),
    );
  });
});

function bare(object: JsonObject): JsonObject {
  const { metadata: _, ...rest } = object;
  return rest;
}

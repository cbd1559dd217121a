import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import { fieldErrorText } from '../field-error.ts';
import type { JsonObject } from '../json.ts';
import { listUniquenessErrors } from './list-uniqueness.ts';

const set = (items: Schema): Schema => ({ type: 'array', items, 'x-kubernetes-list-type': 'set' });
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    tags: set({ type: 'string' }),
    any: set({ 'x-kubernetes-preserve-unknown-fields': true }),
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      items: { type: 'object', properties: { tags: set({ type: 'string' }) } },
    },
    named: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object' },
    },
    nested: { type: 'object', additionalProperties: set({ type: 'string' }) },
  },
};

describe('uniqueness of list items', () => {
  const cases: readonly (readonly [name: string, value: JsonObject, ...expected: readonly string[]])[] = [
    ['reports a value at its second appearance', { tags: ['a', 'a', 'a', 'b'] }, 'tags[1]: Duplicate value: "a"'],
    [
      'compares objects by content',
      {
        any: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
      'any[1]: Duplicate value: {"x":1,"y":2}',
    ],
    ['tells types apart', { any: ['1', 1, true, 'true', [1], null, { a: 'b' }, 'oa=b'] }],
    ['compares all keys', { ports: [{ port: 1 }, { port: 1, protocol: 'TCP' }] }],
    [
      'shows the keys sorted',
      {
        ports: [
          { protocol: 'TCP', port: 1 },
          { port: 1, protocol: 'TCP', x: 1 },
        ],
      },
      'ports[1]: Duplicate value: {"port":1,"protocol":"TCP"}',
    ],
    ['takes missing keys for equal', { named: [{}, null] }, 'named[1]: Duplicate value: {}'],
    ['finds a repeated key', { named: [{ name: 'a' }, { name: 'a' }] }, 'named[1]: Duplicate value: {"name":"a"}'],
    [
      'refuses items of map lists that are no objects',
      { named: ['x'] },
      'named[0]: Invalid value: "x": must be an object for an array of list-type map',
    ],
    [
      'goes into items and map values',
      { ports: [{ tags: ['a', 'a'] }], nested: { k: ['b', 'b'] } },
      'ports[0].tags[1]: Duplicate value: "a"',
      'nested[k][1]: Duplicate value: "b"',
    ],
  ];
  for (const [name, value, ...expected] of cases) {
    it(`apiserver/X19: ${name}`, () => {
      assert.deepEqual(listUniquenessErrors(value, SCHEMA).map(fieldErrorText), expected);
    });
  }

  it('does nothing for schemas without such lists', () => {
    assert.deepEqual(listUniquenessErrors({ a: [1, 1] }, { type: 'object' }), []);
  });
});

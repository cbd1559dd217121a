import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import { cloneJson, type Json } from '../json.ts';
import { applyDefaults } from './default.ts';

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    a: { type: 'string', default: 'x' },
    nested: { type: 'object', default: {}, properties: { b: { type: 'array', default: [1] } } },
    absent: { type: 'object', properties: { c: { type: 'string', default: 'y' } } },
    list: { type: 'array', items: { type: 'string', default: 'i' } },
    objects: { type: 'array', items: { type: 'object', properties: { d: { type: 'integer', default: 1 } } } },
    map: { type: 'object', additionalProperties: { type: 'string', default: 'm' } },
    plain: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

const defaulted = (value: Json): Json => {
  const copy = cloneJson(value);
  applyDefaults(copy, SCHEMA);
  return copy;
};

describe('defaulting', () => {
  const cases: readonly (readonly [name: string, value: Json, expected: Json])[] = [
    ['fills in what is missing, defaults inside defaults too', {}, { a: 'x', nested: { b: [1] } }],
    ['keeps what is there', { a: '', nested: { b: [] } }, { a: '', nested: { b: [] } }],
    [
      'makes no object for a default inside it',
      { a: '', nested: {}, absent: {} },
      { a: '', nested: { b: [1] }, absent: { c: 'y' } },
    ],
    [
      'replaces null items',
      { a: '', nested: { b: [] }, list: ['k', null] },
      { a: '', nested: { b: [] }, list: ['k', 'i'] },
    ],
    [
      'reaches items',
      { a: '', nested: { b: [] }, objects: [{}, { d: 2 }] },
      { a: '', nested: { b: [] }, objects: [{ d: 1 }, { d: 2 }] },
    ],
    [
      'replaces null map values',
      { a: '', nested: { b: [] }, map: { k: null }, plain: { k: null } },
      { a: '', nested: { b: [] }, map: { k: 'm' }, plain: { k: null } },
    ],
    ['leaves wrong types alone', { a: 1, nested: 'x', list: {} }, { a: 1, nested: 'x', list: {} }],
    ['leaves scalars alone', 'text', 'text'],
  ];
  for (const [name, value, expected] of cases) {
    it(`apiserver/X10: ${name}`, () => {
      assert.deepEqual(defaulted(value), expected);
      assert.deepEqual(defaulted(defaulted(value)), expected);
    });
  }

  it('gives every object a copy of its own', () => {
    const first = defaulted({});
    assert.deepEqual(first, { a: 'x', nested: { b: [1] } });
    (first as { nested: { b: number[] } }).nested.b.push(2);
    assert.deepEqual(defaulted({}), { a: 'x', nested: { b: [1] } });
  });
});

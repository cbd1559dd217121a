import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import { followPath } from './field-path.ts';

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    a: { type: 'object', properties: { "b.c'd": { type: 'string' }, e: { type: 'integer' } } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    open: { type: 'object', additionalProperties: true },
  },
};

describe('a field path', () => {
  const leading: readonly [path: string, text: string, type: string | undefined][] = [
    ['', '', 'object'],
    ['.a', 'a', 'object'],
    ['.a.e', 'a.e', 'integer'],
    ["['a'].e", 'a.e', 'integer'],
    [".a['b.c\\'d']", "a.b.c'd", 'string'],
    ['.map.key', 'map[key]', 'string'],
    [".map['tab\\t']", 'map[tab\t]', 'string'],
    ['.open.constructor', 'open[constructor]', undefined],
  ];
  for (const [path, text, type] of leading) {
    it(`apiserver/X28: leads by ${JSON.stringify(path)} to ${JSON.stringify(text)}`, () => {
      const found = followPath(path, SCHEMA);
      assert.ok(!('problem' in found), JSON.stringify(found));
      assert.deepEqual([found.text, found.schema?.type], [text, type]);
    });
  }

  const refused: readonly [path: string, problem: string][] = [
    ['a', 'expected [ or . but got: a'],
    ['.', 'unexpected end of JSON path'],
    ['.zz', 'does not refer to a valid field'],
    ['.constructor', 'does not refer to a valid field'],
    ['.a.e.f', 'does not refer to a valid field'],
    ['.a[0]', 'expected single quoted string but got 0'],
    ['.a[', 'unexpected end of JSON path'],
    [".a['e'", 'unexpected end of JSON path'],
    [".a['e'.x", 'expected ] but got .'],
    [".a['\\q']", 'invalid string literal: invalid escape char \\q'],
  ];
  for (const [path, problem] of refused) {
    it(`apiserver/X28: ${JSON.stringify(path)} ${problem}`, () => {
      assert.deepEqual(followPath(path, SCHEMA), { problem });
    });
  }

  it('has no brackets where it must be simple', () => {
    assert.deepEqual(followPath("['a']", SCHEMA, 'simple'), { problem: 'array notation is not allowed' });
    assert.deepEqual(followPath('.a.e', SCHEMA, 'simple'), followPath('.a.e', SCHEMA));
  });
});

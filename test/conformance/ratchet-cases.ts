import type { JsonObject } from '../../src/object/json.ts';

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

interface RatchetCase {
  readonly name: string;
  readonly old: JsonObject;
  readonly object: JsonObject;
  readonly isStatus?: boolean;
}

/** Objects that were stored under `loose` and are then updated under `tight`. */
export interface Ratchet {
  readonly kind: string;
  readonly loose: JsonObject;
  readonly tight: JsonObject;
  readonly cases: readonly RatchetCase[];
}

const ratchetSchema = (tight: boolean): JsonObject => {
  const text: JsonObject = tight ? { type: 'string', maxLength: 2 } : { type: 'string' };
  const item = object({ key: { type: 'string' }, v: text }, { required: ['key'] });
  return object({
    spec: object(
      {
        a: text,
        b: { type: 'string' },
        keyed: {
          type: 'array',
          items: item,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['key'],
        },
        atomic: { type: 'array', items: item },
        set: { type: 'array', items: text, ...(tight && { 'x-kubernetes-list-type': 'set' }) },
        map: { type: 'object', additionalProperties: text },
        must: object({ x: { type: 'string' }, y: { type: 'string' } }, tight ? { required: ['x'] } : {}),
        all: {
          type: 'object',
          properties: { p: { type: 'string' }, q: { type: 'string' } },
          ...(tight && { allOf: [{ properties: { p: { maxLength: 2 } } }, { required: ['z'] }] }),
        },
      },
      tight
        ? { 'x-kubernetes-validations': [{ rule: '!has(self.b) || self.b != "no"', message: 'b is no' }] }
        : {},
    ),
    status: object({ s: text, t: { type: 'string' } }),
  });
};

const ratchetVersion = (tight: boolean): JsonObject => ({
  subresources: { status: {} },
  schema: { openAPIV3Schema: ratchetSchema(tight) },
});

const change = (name: string, old: JsonObject, after: JsonObject): RatchetCase => ({
  name,
  old: { spec: old },
  object: { spec: after },
});

export const RATCHET: Ratchet = {
  kind: 'Ratchet',
  loose: ratchetVersion(false),
  tight: ratchetVersion(true),
  cases: [
    change('another field changes', { a: 'long', b: 'x' }, { a: 'long', b: 'y' }),
    change('the field itself changes', { a: 'long' }, { a: 'longer' }),
    change('nothing changes', { a: 'long' }, { a: 'long' }),
    change(
      'an item of a keyed list moves',
      { keyed: [{ key: '1', v: 'long' }, { key: '2' }] },
      { keyed: [{ key: '2' }, { key: '1', v: 'long' }] },
    ),
    change(
      'an item of a keyed list changes',
      { keyed: [{ key: '1', v: 'long' }] },
      { keyed: [{ key: '1', v: 'longer' }] },
    ),
    change(
      'another item of a keyed list changes',
      { keyed: [{ key: '1', v: 'long' }, { key: '2' }] },
      {
        keyed: [
          { key: '1', v: 'long' },
          { key: '2', v: 'b' },
        ],
      },
    ),
    change(
      'an item joins an atomic list',
      { atomic: [{ key: '1', v: 'long' }] },
      { atomic: [{ key: '1', v: 'long' }, { key: '2' }] },
    ),
    change(
      'an atomic list stays',
      { atomic: [{ key: '1', v: 'long' }], b: 'x' },
      { atomic: [{ key: '1', v: 'long' }], b: 'y' },
    ),
    change('duplicates stay', { set: ['a', 'a'] }, { set: ['a', 'a', 'b'] }),
    change('duplicates appear', { set: ['a'] }, { set: ['a', 'a'] }),
    change('a map value stays', { map: { k: 'long' } }, { map: { k: 'long', l: 'x' } }),
    change('a map value changes', { map: { k: 'long' } }, { map: { k: 'longer' } }),
    change('a missing field stays missing', { must: { y: 'a' } }, { must: { y: 'a' }, b: 'c' }),
    change('a missing field beside a change', { must: { y: 'a' } }, { must: { y: 'b' } }),
    change('inside allOf', { all: { p: 'long', q: 'a' } }, { all: { p: 'long', q: 'b' } }),
    change('inside allOf, untouched', { all: { p: 'long' } }, { all: { p: 'long' }, b: 'x' }),
    change('a rule that failed before', { b: 'no' }, { b: 'no', a: 'x' }),
    {
      name: 'the status stays',
      old: { status: { s: 'long' } },
      object: { status: { s: 'long', t: 'x' } },
      isStatus: true,
    },
    {
      name: 'the status changes',
      old: { status: { s: 'long' } },
      object: { status: { s: 'longer' } },
      isStatus: true,
    },
    { name: 'the status is text', old: { status: { s: 'a' } }, object: { status: 'x' }, isStatus: true },
  ],
};

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import type { Json } from '../json.ts';
import { compare } from './compare.ts';
import { merge } from './merge.ts';
import { removeItems } from './remove.ts';
import { fieldSetOf } from './to-field-set.ts';
import { objectOwnership } from './typing.ts';
import { validateTyped } from './validate.ts';

const STRING: Schema = { type: 'string' };
const PORT: Schema = {
  type: 'object',
  properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: STRING },
};
const KIND = objectOwnership({
  type: 'object',
  properties: {
    text: STRING,
    number: { type: 'number' },
    flag: { type: 'boolean' },
    time: { type: 'string', format: 'date-time' },
    bytes: { type: 'string', format: 'byte' },
    either: { 'x-kubernetes-int-or-string': true },
    quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    list: { type: 'array', items: STRING },
    set: { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' },
    names: {
      type: 'array',
      items: { type: 'object', properties: { name: STRING, host: STRING } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'host'],
    },
    ports: {
      type: 'array',
      items: PORT,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
    },
    map: { type: 'object', additionalProperties: STRING },
    closed: { type: 'object', properties: { a: STRING }, additionalProperties: false },
    open: { type: 'object', properties: { a: STRING }, additionalProperties: true },
    any: { type: 'object' },
    anything: {},
    embedded: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    raw: { type: 'object', 'x-kubernetes-map-type': 'atomic' },
  },
});

describe('validateTyped', () => {
  const good: Json[] = [
    { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', labels: { a: 'b' } } },
    { text: null, number: 1.5, flag: true, time: 1, bytes: 'eA==' },
    { either: 1 },
    { either: 'x' },
    { quantity: '1Gi' },
    { list: ['a', 'a'] },
    { ports: [{ port: 1 }, { port: 1, protocol: 'UDP' }] },
    { names: [{ name: 'a' }, { host: 'a' }, { name: 'a', host: 'a' }] },
    { open: { b: [1, { c: null }] }, any: { x: { y: 1 } }, anything: [1] },
    { embedded: { apiVersion: 'v1', kind: 'X', metadata: { finalizers: ['a'] }, other: 1 } },
    null,
  ];
  for (const value of good) {
    it(`takes ${JSON.stringify(value)}`, () => {
      validateTyped(value, KIND);
    });
  }

  const bad: { value: Json; want: string }[] = [
    { value: { nosuch: 1 }, want: '.nosuch: field not declared in schema' },
    { value: { metadata: { nosuch: 1 } }, want: '.metadata.nosuch: field not declared in schema' },
    { value: { closed: { b: 1 } }, want: '.closed.b: field not declared in schema' },
    { value: { text: 1 }, want: '.text: expected string, got &value.valueUnstructured{Value:1}' },
    {
      value: { text: { a: ['x', null, true] } },
      want: '.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{"x", interface {}(nil), true}}}',
    },
    { value: { number: 'x' }, want: '.number: expected numeric (int or float), got string' },
    { value: { number: true }, want: '.number: expected numeric (int or float), got bool' },
    { value: { number: [] }, want: '.number: expected numeric (int or float), got []interface {}' },
    { value: { number: {} }, want: '.number: expected numeric (int or float), got map[string]interface {}' },
    { value: { flag: 1.5 }, want: '.flag: expected boolean, got &{1.5}' },
    { value: { quantity: {} }, want: '.quantity: expected any scalar, got &{map[]}' },
    { value: { list: { a: 1, b: [null] } }, want: '.list: expected list, got &{map[a:1 b:[<nil>]]}' },
    { value: { list: ['a', 1] }, want: '.list[1]: expected string, got &value.valueUnstructured{Value:1}' },
    { value: { map: ['x'] }, want: '.map: expected map, got &{[x]}' },
    { value: { set: ['a', 'a'] }, want: '.set: duplicate entries for key [="a"]' },
    {
      value: { set: [null] },
      want: ".set: element 0: associative list without keys has an element that's an explicit null",
    },
    {
      value: { set: [{}] },
      want: ".set: element 0: associative list without keys has an element that's a map type",
    },
    { value: { set: [[]] }, want: '.set: element 0: not supported: associative list with lists as elements' },
    {
      value: { names: [null] },
      want: '.names: element 0: associative list with keys may not have a null element',
    },
    {
      value: { names: ['x'] },
      want: '.names: element 0: associative list with keys may not have non-map elements',
    },
    {
      value: { names: [{}] },
      want: '.names: element 0: associative list with keys has an element that omits all key fields ["host" "name"] (and doesn\'t have default values for any key fields)',
    },
    {
      value: { ports: [{ port: 1 }, { port: 1, protocol: 'TCP' }] },
      want: '.ports: duplicate entries for key [port=1,protocol="TCP"]',
    },
    {
      value: { ports: [{ port: 'x' }] },
      want: '.ports[port="x",protocol="TCP"].port: expected numeric (int or float), got string',
    },
    {
      value: { text: 1, flag: 1 },
      want: 'errors:\n  .text: expected string, got &value.valueUnstructured{Value:1}\n  .flag: expected boolean, got &{1}',
    },
  ];
  for (const { value, want } of bad) {
    it(`apiserver/S8: answers ${want.split('\n')[0]}`, () => {
      assert.throws(() => validateTyped(value, KIND), { name: 'TypedProblem', message: want });
    });
  }
});

describe('merge', () => {
  const lists: { live: string; config: string; want: string }[] = [
    { live: '3 1 2', config: '2 9 1', want: '3 2 9 1' },
    { live: 'c a b', config: 'b z c', want: 'a b z c' },
    { live: '', config: 'a b', want: 'a b' },
    { live: 'a b', config: '', want: 'a b' },
    { live: 'a b c', config: 'c', want: 'a b c' },
    { live: 'a b c', config: 'x a y', want: 'x a b c y' },
    { live: 'a b', config: 'b a', want: 'b a' },
    { live: 'a a b', config: 'a', want: 'a b' },
  ];
  const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
  for (const { live, config, want } of lists) {
    it(`13.5: orders "${live}" and "${config}" as "${want}"`, () => {
      assert.deepEqual(merge({ set: words(live) }, { set: words(config) }, KIND), { set: words(want) });
    });
  }

  const rows: { name: string; live: Json; config: Json; want: Json }[] = [
    {
      name: 'leaves of the configuration win',
      live: { text: 'a', flag: true },
      config: { text: 'b' },
      want: { text: 'b', flag: true },
    },
    { name: 'null wins over a leaf', live: { text: 'a' }, config: { text: null }, want: { text: null } },
    {
      name: 'null does not empty a map',
      live: { map: { a: 'x' } },
      config: { map: null },
      want: { map: { a: 'x' } },
    },
    { name: 'an empty map stays empty', live: {}, config: { map: {} }, want: { map: {} } },
    { name: 'an atomic list is replaced', live: { list: ['a'] }, config: { list: ['b'] }, want: { list: ['b'] } },
    {
      name: 'what changed its form is replaced',
      live: { anything: { a: 1 } },
      config: { anything: 'x' },
      want: { anything: 'x' },
    },
    {
      name: 'items with the same keys are merged, defaults included',
      live: { ports: [{ port: 1, protocol: 'TCP', name: 'a' }] },
      config: { ports: [{ port: 1 }] },
      want: { ports: [{ port: 1, protocol: 'TCP', name: 'a' }] },
    },
    {
      name: 'a field called __proto__ is one like others',
      live: JSON.parse('{"map":{"__proto__":"a"}}'),
      config: { map: { b: 'c' } },
      want: JSON.parse('{"map":{"__proto__":"a","b":"c"}}'),
    },
  ];
  for (const { name, live, config, want } of rows) {
    it(name, () => {
      assert.deepEqual(merge(live, config, KIND), want);
    });
  }
});

describe('fieldSetOf', () => {
  const rows: { name: string; value: Json; want: Json }[] = [
    {
      name: 'declared fields are not claimed above others',
      value: { closed: { a: 'x' } },
      want: { 'f:closed': { 'f:a': {} } },
    },
    {
      name: 'keys of maps are',
      value: { any: { x: { y: 1 } } },
      want: { 'f:any': { 'f:x': { '.': {}, 'f:y': {} } } },
    },
    { name: 'an empty map is claimed, an empty set is not', value: { map: {}, set: [] }, want: { 'f:map': {} } },
    {
      name: 'null is claimed',
      value: { map: null, text: null, set: null },
      want: { 'f:map': {}, 'f:set': {}, 'f:text': {} },
    },
    {
      name: 'what is atomic is one leaf',
      value: { list: ['a'], raw: { a: { b: 1 } } },
      want: { 'f:list': {}, 'f:raw': {} },
    },
    {
      name: 'items are claimed with their fields',
      value: { ports: [{ port: 1 }] },
      want: { 'f:ports': { 'k:{"port":1,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } },
    },
    { name: 'duplicates are claimed as one', value: { set: ['a', 'a'] }, want: { 'f:set': { 'v:"a"': {} } } },
    {
      name: 'an embedded resource has metadata',
      value: { embedded: { metadata: { finalizers: ['a'] } } },
      want: { 'f:embedded': { 'f:metadata': { 'f:finalizers': { 'v:"a"': {} } } } },
    },
  ];
  for (const { name, value, want } of rows) {
    it(name, () => {
      assert.deepEqual(fieldSetOf(value, KIND), want);
    });
  }
});

describe('compare', () => {
  const none = {};
  const rows: { name: string; from: Json; to: Json; removed?: Json; modified?: Json; added?: Json }[] = [
    { name: 'equal values do not differ', from: { list: ['a'] }, to: { list: ['a'] } },
    { name: 'null and nothing differ', from: { map: {} }, to: { map: null }, modified: { 'f:map': {} } },
    {
      name: 'a new map comes with itself and its keys',
      from: {},
      to: { map: { a: 'x' } },
      added: { 'f:map': { '.': {}, 'f:a': {} } },
    },
    { name: 'an item moves nothing', from: { set: ['a', 'b'] }, to: { set: ['b', 'a'] } },
    {
      name: 'items come and go',
      from: { set: ['a'] },
      to: { set: ['b'] },
      removed: { 'f:set': { 'v:"a"': {} } },
      added: { 'f:set': { 'v:"b"': {} } },
    },
    {
      name: 'a key that is called like a method is new',
      from: { map: {} },
      to: { map: { constructor: 'x' } },
      added: { 'f:map': { 'f:constructor': {} } },
    },
    {
      name: 'a value that becomes a map is modified and its keys are new',
      from: { anything: 'x' },
      to: { anything: { a: 1 } },
      modified: { 'f:anything': {} },
      added: { 'f:anything': { 'f:a': {} } },
    },
  ];
  for (const { name, from, to, removed = none, modified = none, added = none } of rows) {
    it(name, () => {
      assert.deepEqual(compare(from, to, KIND), { removed, modified, added });
    });
  }

  it('refuses what it has no type for', () => {
    assert.throws(() => compare({}, { nosuch: 1 }, KIND), { name: 'TypedProblem' });
  });
});

describe('removeItems', () => {
  const rows: { name: string; value: Json; set: Json; want: Json }[] = [
    {
      name: 'takes fields and items',
      value: { text: 'a', set: ['a', 'b'], flag: true },
      set: { 'f:text': {}, 'f:set': { 'v:"a"': {} } },
      want: { set: ['b'], flag: true },
    },
    {
      name: 'leaves null where the last child goes',
      value: { map: { a: 'x' }, set: ['a'] },
      set: { 'f:map': { 'f:a': {} }, 'f:set': { 'v:"a"': {} } },
      want: { map: null, set: null },
    },
    {
      name: 'leaves null of an atomic whole that loses something inside',
      value: { list: ['a'], raw: { a: 1 } },
      set: { 'f:list': { 'i:0': {} }, 'f:raw': { 'f:a': {} } },
      want: { list: null, raw: null },
    },
    {
      name: 'takes fields of items',
      value: { ports: [{ port: 1, name: 'x' }] },
      set: { 'f:ports': { 'k:{"port":1,"protocol":"TCP"}': { 'f:name': {} } } },
      want: { ports: [{ port: 1 }] },
    },
  ];
  for (const { name, value, set, want } of rows) {
    it(name, () => {
      assert.deepEqual(removeItems(value, set as never, KIND), want);
    });
  }
});

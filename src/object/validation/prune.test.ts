import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Schema } from '../../api/schema/structural.ts';
import { cloneJson, type JsonObject } from '../json.ts';
import { applyDefaults } from './default.ts';
import { prune, pruneUnknown } from './prune.ts';

const TEXT: Schema = { type: 'string' };
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        color: TEXT,
        list: { type: 'array', items: { type: 'object', properties: { a: TEXT } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { a: TEXT } } },
        open: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { known: { type: 'object', properties: { a: TEXT } } },
        },
        openList: {
          type: 'array',
          'x-kubernetes-preserve-unknown-fields': true,
          items: { type: 'object', properties: { known: { type: 'object', properties: { a: TEXT } } } },
        },
        any: { type: 'object', additionalProperties: true },
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          properties: { spec: { type: 'object' } },
        },
        nullable: { type: 'string', nullable: true, default: 'x' },
        filled: { type: 'string', default: 'x' },
      },
    },
  },
};

const pruned = (object: JsonObject): { object: JsonObject; unknown: readonly string[] } => {
  const copy = cloneJson(object);
  return { unknown: prune(copy, SCHEMA), object: copy };
};

describe('pruning', () => {
  it('apiserver/W3: drops unknown fields and reports them sorted, with positions', () => {
    const { object, unknown } = pruned({
      apiVersion: 'v1',
      kind: 'K',
      metadata: { anything: 1 },
      zzz: 1,
      spec: { y: 1, color: 'red', list: [{ a: 'x' }, { b: 1, a: 'y' }], map: { k: { z: 1 } } },
    });
    assert.deepEqual(unknown, ['spec.list[1].b', 'spec.map.k.z', 'spec.y', 'zzz']);
    assert.deepEqual(object['spec'], { color: 'red', list: [{ a: 'x' }, { a: 'y' }], map: { k: {} } });
    assert.deepEqual(object['metadata'], { anything: 1 });
  });

  it('apiserver/X12: keeps unknown fields where asked, but prunes what is specified below', () => {
    const { object, unknown } = pruned({
      spec: {
        open: { x: { y: 1 }, known: { a: 'a', b: 'b' } },
        openList: [{ x: 1, known: { b: 1 } }, 'text', [{ x: 1, known: { b: 1 } }]],
      },
    });
    assert.deepEqual(unknown, ['spec.open.known.b', 'spec.openList[0].known.b']);
    assert.deepEqual(object['spec'], {
      open: { x: { y: 1 }, known: { a: 'a' } },
      openList: [{ x: 1, known: {} }, 'text', [{ x: 1, known: { b: 1 } }]],
    });
  });

  it('empties objects below additionalProperties: true', () => {
    const { object, unknown } = pruned({ spec: { any: { a: { b: 1 }, c: [{ d: 1 }], e: 1 } } });
    assert.deepEqual(unknown, ['spec.any.a.b', 'spec.any.c[0].d']);
    assert.deepEqual(object, { spec: { any: { a: {}, c: [{}], e: 1 } } });
  });

  it('apiserver/X13: leaves the metadata of embedded resources to others', () => {
    const { object, unknown } = pruned({ spec: { template: { kind: 'A', metadata: { x: 1 }, zzz: 1 } } });
    assert.deepEqual(unknown, ['spec.template.zzz']);
    assert.deepEqual(object, { spec: { template: { kind: 'A', metadata: { x: 1 } } } });
  });

  it('apiserver/X11: keeps an allowed null, replaces one that has a default, drops the others', () => {
    const { object, unknown } = pruned({ spec: { nullable: null, filled: null, color: null } });
    assert.deepEqual(unknown, []);
    assert.deepEqual(object, { spec: { nullable: null, filled: null } });
    applyDefaults(object, SCHEMA);
    assert.deepEqual(object, { spec: { nullable: null, filled: 'x' } });
  });

  it('drops only unknown fields of a value such as a default', () => {
    const value = { spec: { color: null, zzz: 1 } };
    pruneUnknown(value, SCHEMA);
    assert.deepEqual(value, { spec: { color: null } });
  });

  it('takes the names of prototypes for ordinary unknown fields', () => {
    const { object, unknown } = pruned(JSON.parse('{"spec":{"__proto__":{"a":1},"constructor":1}}'));
    assert.deepEqual(unknown, ['spec.__proto__', 'spec.constructor']);
    assert.deepEqual(Object.keys(object['spec'] ?? {}), []);
  });

  it('finds nothing the second time', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('spec', 'a', 'color', 'list', 'map', 'open'), fc.jsonValue()),
        (value) => {
          const object = { spec: cloneJson(value as JsonObject) };
          prune(object, SCHEMA);
          const before = cloneJson(object);
          assert.deepEqual(prune(object, SCHEMA), []);
          assert.deepEqual(object, before);
        },
      ),
    );
  });
});

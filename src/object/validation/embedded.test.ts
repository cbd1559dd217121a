import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import { fieldErrorText } from '../field-error.ts';
import type { Json, JsonObject } from '../json.ts';
import { coerceEmbedded, embeddedErrors } from './embedded.ts';

const RESOURCE: Schema = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
};
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    one: RESOURCE,
    list: { type: 'array', items: RESOURCE },
    map: { type: 'object', additionalProperties: RESOURCE },
    text: { type: 'string' },
  },
};

describe('embedded resources', () => {
  it('apiserver/X13: reads their metadata as ObjectMeta', () => {
    const object: JsonObject = {
      one: { apiVersion: 'v1', kind: 'A', metadata: { name: 'a', foo: 1, labels: {} } },
      list: [{ metadata: null }, { metadata: { bar: 1 } }],
      map: { k: { metadata: { z: 1 } } },
      text: 'x',
    };
    const { unknown, problem } = coerceEmbedded(object, SCHEMA);
    assert.equal(problem, undefined);
    assert.deepEqual(unknown, ['list[1].metadata.bar', 'map[k].metadata.z', 'one.metadata.foo']);
    assert.deepEqual(object['one'], { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' } });
    assert.deepEqual(object['list'], [{ metadata: {} }, { metadata: {} }]);
  });

  const unreadable: readonly (readonly [resource: JsonObject, problem: string])[] = [
    [{ apiVersion: 5 }, 'one.apiVersion: Invalid value: 5: must be a string'],
    [{ kind: null }, 'one.kind: Invalid value: null: must be a string'],
    [
      { metadata: 'x' },
      'one.metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta',
    ],
    [
      { metadata: { name: 5 } },
      'one.metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
    ],
  ];
  for (const [one, problem] of unreadable) {
    it(`apiserver/X13: cannot read ${JSON.stringify(one)}`, () => {
      assert.equal(coerceEmbedded({ one }, SCHEMA).problem, problem);
    });
  }

  const judged: readonly (readonly [resource: Json, ...expected: readonly RegExp[]])[] = [
    [{ apiVersion: 'v1', kind: 'Pod' }],
    [{}, /^one\.apiVersion: Required value$/, /^one\.kind: Required value$/],
    [{ apiVersion: '', kind: '' }, /^one\.apiVersion: .*must not be empty$/, /^one\.kind: .*must not be empty$/],
    [
      { apiVersion: 'a/b/c', kind: 'P_d' },
      /unexpected GroupVersion string: a\/b\/c$/,
      /^one\.kind: .*may have mixed case, but should otherwise match: a DNS-1035 label/,
    ],
    [{ apiVersion: 5, kind: 'A' }, /^one\.apiVersion: Invalid value: 5: must be a string$/],
    [
      { apiVersion: 'v1', kind: 'A', metadata: { name: 'a/b' } },
      /^one\.metadata\.name: Invalid value: "a\/b": may not contain '\/'$/,
    ],
    ['no object'],
  ];
  for (const [one, ...expected] of judged) {
    it(`apiserver/X13: judges ${JSON.stringify(one)}`, () => {
      const texts = embeddedErrors({ one }, SCHEMA).map(fieldErrorText);
      assert.equal(texts.length, expected.length, texts.join());
      for (const [index, pattern] of expected.entries()) assert.match(texts[index] ?? '', pattern);
    });
  }

  it('takes the value itself for a resource when told so', () => {
    const plain: Schema = { type: 'object' };
    assert.deepEqual(
      embeddedErrors({ kind: 'A' }, plain, { base: 'x', isResource: true }).map(({ field }) => field),
      ['x.apiVersion'],
    );
    assert.deepEqual(coerceEmbedded({ metadata: { z: 1 } }, plain, { isResource: true }).unknown, ['metadata.z']);
  });
});

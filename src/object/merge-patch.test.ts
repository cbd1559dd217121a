import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { getKey, isJsonObject, type Json, type JsonObject, jsonEqual, setKey } from './json.ts';
import { parseJson, stringifyJson } from './json-text.ts';
import { applyMergePatch } from './merge-patch.ts';

/** A patch that turns one object without nulls into the other. */
function diff(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) setKey(patch, key, null);
  for (const key of Object.keys(to)) {
    const [old, value] = [getKey(from, key), to[key] ?? null];
    if (!jsonEqual(old, value)) {
      setKey(patch, key, isJsonObject(old) && isJsonObject(value) ? diff(old, value) : value);
    }
  }
  return patch;
}

const withoutNull = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.integer(),
    fc.string(),
    fc.array(fc.integer(), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), tie('value'), { maxKeys: 4 }),
})).object;

describe('applyMergePatch', () => {
  it('apiserver/P2: turns any object into any other with the difference as patch', () => {
    fc.assert(
      fc.property(withoutNull, withoutNull, (from, to) => {
        assert.ok(jsonEqual(applyMergePatch(from, diff(from, to)), to));
      }),
    );
  });

  it('apiserver/P7: changes nothing with an empty patch', () => {
    fc.assert(fc.property(withoutNull, (object) => assert.ok(jsonEqual(applyMergePatch(object, {}), object))));
  });

  const cases: { target: Json; patch: Json; want: Json }[] = [
    { target: { a: 'b' }, patch: { a: 'c' }, want: { a: 'c' } },
    { target: { a: 'b' }, patch: { b: 'c' }, want: { a: 'b', b: 'c' } },
    { target: { a: 'b', b: 'c' }, patch: { a: null }, want: { b: 'c' } },
    { target: { a: ['b'] }, patch: { a: 'c' }, want: { a: 'c' } },
    { target: { a: { b: 'c' } }, patch: { a: { b: 'd', c: null } }, want: { a: { b: 'd' } } },
    { target: { a: [{ b: 'c' }] }, patch: { a: [1, null] }, want: { a: [1, null] } },
    { target: { e: null }, patch: { a: 1 }, want: { e: null, a: 1 } },
    { target: {}, patch: { a: { bb: { ccc: null } } }, want: { a: { bb: {} } } },
    { target: [1], patch: { a: 1 }, want: { a: 1 } },
    { target: {}, patch: { a: [{ b: null, c: [{ d: null }] }] }, want: { a: [{ c: [{}] }] } },
    { target: { a: {} }, patch: { a: [{ b: null }] }, want: { a: [{ b: null }] } },
  ];
  for (const { target, patch, want } of cases) {
    it(`apiserver/P2: patches ${JSON.stringify(target)} with ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(applyMergePatch(target, patch), want);
    });
  }

  it('writes to neither input', () => {
    fc.assert(
      fc.property(withoutNull, withoutNull, (target, patch) => {
        const before = [stringifyJson(target), stringifyJson(patch)];
        applyMergePatch(target, patch);
        assert.deepEqual([stringifyJson(target), stringifyJson(patch)], before);
      }),
    );
  });

  it('reliability/T7.2: takes __proto__ and constructor for keys', () => {
    const patch = parseJson('{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}}}').value;
    assert.equal(stringifyJson(applyMergePatch({}, patch)), stringifyJson(patch));
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
    const removal = parseJson('{"__proto__":null,"toString":null}').value;
    assert.equal(stringifyJson(applyMergePatch(patch, removal)), '{"constructor":{"prototype":{"x":1}}}');
  });

  const refused: [Json, string][] = [
    [null, 'Invalid JSON Patch'],
    [[], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [5, 'error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}'],
    ['x', 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
    [true, 'error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}'],
    [5n, 'error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}'],
  ];
  for (const [patch, message] of refused) {
    it(`refuses the patch ${stringifyJson(patch)}, a ${typeof patch}`, () => {
      assert.throws(() => applyMergePatch({}, patch), { name: 'PatchProblem', kind: 'malformed', message });
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { SlipwayError } from '../../base/errors.ts';
import { IMAGE_KEYS, parseImages } from './images.ts';

const AWS = 'cloudControllerManagerAWS';
const file = '/etc/cloud-controller-manager-config/images.json';
const parse = (text: string) => Object.fromEntries(parseImages({ text, file }));

describe('parseImages', () => {
  const good = [
    { name: 'nothing at all', given: '{}', want: {} },
    { name: 'some images', given: `{"${AWS}": "a:1", "cloudNodeManagerAzure":"b:1"}`, count: 2 },
    {
      name: 'unknown keys, whatever they hold',
      given: `{"x": {"${AWS}": "no"}, "y": [1, "${AWS}", 2], "w": 1e999}`,
    },
    { name: 'the last of equal keys', given: `{"${AWS}": "a:1",\n"${AWS}": "a:2"}`, want: { [AWS]: 'a:2' } },
    { name: 'a key before and after something nested', given: `{"o": {}, "${AWS}": "a"}`, want: { [AWS]: 'a' } },
    { name: 'null, which says nothing', given: `{"${AWS}": null}`, want: {} },
    { name: 'null after an image', given: `{"${AWS}": "a", "${AWS}": null}`, want: { [AWS]: 'a' } },
    { name: 'an empty image', given: `{"${AWS}": ""}`, want: { [AWS]: '' } },
    {
      name: 'escapes in keys and images',
      given: String.raw`{"cloudControllerManager\u0041WS": "a\"},{\u003a\\"}`,
      want: { [AWS]: 'a"},{:\\' },
    },
  ];
  for (const { name, given, want, count } of good) {
    it(`operator/R10: takes ${name}`, () => {
      const got = parse(given);
      if (count === undefined) assert.deepEqual(got, want ?? {});
      else assert.deepEqual(got, { [AWS]: 'a:1', cloudNodeManagerAzure: 'b:1' });
    });
  }

  const bad = [
    {
      name: 'a number',
      given: `{\n  "x": 1,\n  "${AWS}": 5\n}`,
      want: `3: ${AWS} must be an image as text, not the number 5`,
    },
    {
      name: 'an object',
      given: `{"${AWS}":\n{"${AWS}": "x"}}`,
      want: `2: ${AWS} must be an image as text, not an object`,
    },
    { name: 'a list', given: `{"${AWS}": ["x"]}`, want: `1: ${AWS} must be an image as text, not a list` },
    { name: 'a truth', given: `{"${AWS}": true}`, want: `1: ${AWS} must be an image as text, not true` },
    {
      name: 'a wrong value before a right one',
      given: `{"${AWS}": false, "${AWS}": "a"}`,
      want: `1: ${AWS} must be an image as text, not false`,
    },
    { name: 'no object', given: '["a"]', want: '1: must be a JSON object with images by key' },
    { name: 'nothing', given: '', want: '1: is not JSON: unexpected end of JSON input' },
    {
      name: 'a file that was cut off',
      given: `{\n  "${AWS}": "a",\n`,
      want: '3: is not JSON: unexpected end of JSON input',
    },
    {
      name: 'a comma too many',
      given: '{\n"a": "b",\n}\n',
      want: `3: is not JSON: invalid character '}' looking for beginning of object key string`,
    },
    {
      name: 'a missing comma',
      given: '{\n"a": "b"\n"c": "d"\n}',
      want: `3: is not JSON: invalid character '"' after object key:value pair`,
    },
    {
      name: 'an open quote',
      given: '{\n"a": "b\n}',
      want: String.raw`2: is not JSON: invalid character '\n' in string literal`,
    },
    { name: 'two values', given: '{}\n\n{}', want: `3: is not JSON: invalid character '{' after top-level value` },
    {
      name: 'YAML',
      given: `${AWS}: a`,
      want: `1: is not JSON: invalid character 'c' looking for beginning of value`,
    },
  ];
  for (const { name, given, want } of bad) {
    it(`operator/R10: refuses ${name}, and says where`, () => {
      assert.throws(() => parse(given), {
        name: 'SlipwayError',
        disposition: 'user',
        reason: 'ImagesUnreadable',
        message: `${file}:${want}`,
      });
    });
  }

  it('operator/R10: knows the keys of OpenShift, or those that it is told', () => {
    const text = JSON.stringify({ ...Object.fromEntries(IMAGE_KEYS.map((key) => [key, key])), acme: 'x' });
    assert.deepEqual([...parseImages({ text, file }).keys()], IMAGE_KEYS);
    assert.deepEqual([...parseImages({ text, file, keys: ['acme', 'other'] })], [['acme', 'x']]);
  });

  it('operator/R10: reads every object as JSON.parse does, and throws nothing but its own errors', () => {
    const value = fc.oneof(fc.string(), fc.jsonValue());
    const object = fc.dictionary(fc.string({ minLength: 1 }), value, { noNullPrototype: true });
    fc.assert(
      fc.property(object, fc.nat(4), (given, indent) => {
        const keys = Object.keys(given).filter((key) => typeof given[key] === 'string');
        const text = JSON.stringify(given, undefined, indent);
        const want = keys.map((key) => [key, given[key]]);
        assert.deepEqual(Object.fromEntries(parseImages({ text, file, keys })), Object.fromEntries(want));
      }),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json().map((text) => text.slice(1)),
        ),
        (text) => {
          try {
            parseImages({ text, file });
          } catch (error) {
            assert.ok(error instanceof SlipwayError && error.message.startsWith(`${file}:`), String(error));
          }
        },
      ),
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigMap, Secret } from '../../../api/generated/core-v1-types.ts';
import type { FilePayload } from './file-payload.ts';
import { configMapFiles, secretFiles } from './keyed-files.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const configMap: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c' },
  data: { a: 'text a', b: 'text b' },
  binaryData: { bin: base64('\u0000ÿ') },
};
const secret: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's' },
  data: { user: base64('me'), pass: base64('word') },
};
const all = { name: 'c', defaultMode: 0o640, isOptional: false };
const shown = (files: FilePayload) =>
  Object.fromEntries([...files].map(([path, { bytes, mode }]) => [path, [Buffer.from(bytes).toString(), mode]]));

describe('files of ConfigMaps and Secrets', () => {
  it('lab/N26: are all keys, text and bytes, with the default mode', () => {
    const want = { a: ['text a', 0o640], b: ['text b', 0o640], bin: ['\u0000ÿ', 0o640] };
    assert.deepEqual(shown(configMapFiles(configMap, all)), want);
    assert.deepEqual(shown(secretFiles(secret, all)), { user: ['me', 0o640], pass: ['word', 0o640] });
  });

  it('lab/N27: are only the items, where they say and with their mode', () => {
    const items = [
      { key: 'a', path: 'deep//er/a.txt' },
      { key: 'b', path: 'b', mode: 0o400 },
    ];
    const want = { 'deep/er/a.txt': ['text a', 0o640], b: ['text b', 0o400] };
    assert.deepEqual(shown(configMapFiles(configMap, { ...all, items })), want);
  });

  it('lab/N27: takes no items for all keys', () =>
    assert.equal(configMapFiles(configMap, { ...all, items: [] }).size, 3));

  const missing = [{ key: 'zzz', path: 'z' }];
  for (const { name, given, want } of [
    { name: 'no ConfigMap', given: () => configMapFiles(undefined, all), want: 'configmap "c" not found' },
    { name: 'no Secret', given: () => secretFiles(undefined, all), want: 'secret "c" not found' },
    {
      name: 'no such key of a ConfigMap',
      given: () => configMapFiles(configMap, { ...all, items: missing }),
      want: 'references non-existent config key: zzz',
    },
    {
      name: 'no such key of a Secret',
      given: () => secretFiles(secret, { ...all, items: missing }),
      want: 'references non-existent secret key: zzz',
    },
  ]) {
    it(`lab/N27: fails with a sentence for ${name}`, () =>
      assert.throws(given, { name: 'VolumeProblem', reason: 'FailedMount', message: want }));
  }

  it('lab/N27: is nothing where what is missing is optional', () => {
    const optional = { ...all, isOptional: true };
    assert.equal(configMapFiles(undefined, optional).size, 0);
    assert.equal(secretFiles(undefined, optional).size, 0);
    const items = [...missing, { key: 'a', path: 'a' }];
    assert.deepEqual([...configMapFiles(configMap, { ...optional, items }).keys()], ['a']);
  });

  it('refuses a path that leaves the volume', () =>
    assert.throws(
      () => configMapFiles(configMap, { ...all, items: [{ key: 'a', path: '../a' }] }),
      /must not contain/,
    ));
});

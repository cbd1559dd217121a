import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseIgnition } from './ignition.ts';

const config = (more: object) => JSON.stringify({ ignition: { version: '3.2.0' }, ...more });
const file = (contents: object | undefined, path = '/etc/f') =>
  config({ storage: { files: [{ path, ...(contents !== undefined && { contents }) }] } });
const contentOf = (text: string) => parseIgnition(text).files.map(({ content }) => content.toString());

describe('an Ignition config', () => {
  it('lab/N1: gives files with their modes, and units', () => {
    const { files, units } = parseIgnition(
      config({
        storage: { files: [{ path: '/etc/a', mode: 0o600, contents: { source: 'data:,hello%20you' } }] },
        systemd: { units: [{ name: 'kubelet.service', enabled: true, contents: '[Service]' }, { name: 'x' }] },
      }),
    );
    assert.deepEqual(
      files.map(({ path, mode, content }) => [path, mode, content.toString()]),
      [['/etc/a', 0o600, 'hello you']],
    );
    assert.deepEqual(
      [...units],
      [
        ['kubelet.service', '[Service]'],
        ['x', ''],
      ],
    );
  });

  const sources: readonly (readonly [what: string, contents: object | undefined, content: string])[] = [
    ['nothing', undefined, ''],
    ['no source', { source: null }, ''],
    ['plain text', { source: 'data:,a,b' }, 'a,b'],
    ['a media type', { source: 'data:text/plain;charset=utf-8,x' }, 'x'],
    ['base64', { source: `data:;base64,${Buffer.from('zwölf').toString('base64')}` }, 'zwölf'],
    [
      'what is packed',
      { source: `data:;base64,${gzipSync('long').toString('base64')}`, compression: 'gzip' },
      'long',
    ],
  ];
  for (const [what, contents, content] of sources) {
    it(`lab/N1: reads a file with ${what}`, () => assert.deepEqual(contentOf(file(contents)), [content]));
  }

  const wrong: readonly (readonly [what: string, text: string, says: RegExp])[] = [
    ['no JSON', '#cloud-config', /^user data is no Ignition config: /],
    ['another version', '{"ignition":{"version":"2.2.0"}}', /ignition\.version: must be a version 3/],
    ['no version', '{}', /^user data: ignition: /],
    ['a relative path', file({}, 'etc/f'), /storage\.files\.0\.path: must be an absolute path without \.\./],
    [
      'a path that climbs',
      file({}, '/etc/../../x'),
      /storage\.files\.0\.path: must be an absolute path without \.\./,
    ],
    ['a file from elsewhere', file({ source: 'https://x.example/f' }), /file \/etc\/f: "https" is not supported/],
    ['a broken escape', file({ source: 'data:,%zz' }), /file \/etc\/f: its content cannot be read/],
    [
      'a broken archive',
      file({ source: 'data:,x', compression: 'gzip' }),
      /file \/etc\/f: its content cannot be read/,
    ],
    [
      'a bomb',
      file({ source: `data:;base64,${gzipSync(Buffer.alloc(4 << 20)).toString('base64')}`, compression: 'gzip' }),
      /file \/etc\/f: its content cannot be read/,
    ],
    [
      'a config that is fetched',
      JSON.stringify({ ignition: { version: '3.2.0', config: { merge: [{ source: 'https://x' }] } } }),
      /^user data: ignition\.config\.merge: a config that is fetched/,
    ],
  ];
  for (const [what, text, says] of wrong) {
    it(`lab/C14: refuses ${what} with a sentence`, () =>
      assert.throws(() => parseIgnition(text), { message: says }));
  }
});

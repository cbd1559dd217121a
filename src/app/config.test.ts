import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfigFile, resolveSettings } from './config.ts';
import type { SettingTable } from './settings.ts';

const table = {
  port: { type: 'integer', default: 7440, min: 0, max: 65535, env: 'SLIPWAY_PORT', description: 'd' },
  once: { type: 'boolean', default: false, description: 'd' },
} as const satisfies SettingTable;

describe('resolveSettings', () => {
  const file = { path: 'site.yaml', content: { port: 3 } };
  const cases = [
    { name: 'a flag above everything', flags: [['port', '1']], env: { SLIPWAY_PORT: '2' }, file, want: 1 },
    { name: 'the environment above the file', flags: [], env: { SLIPWAY_PORT: '2' }, file, want: 2 },
    { name: 'the file above the default', flags: [], env: {}, file, want: 3 },
    { name: 'an empty variable as if it were not set', flags: [], env: { SLIPWAY_PORT: '' }, file, want: 3 },
    { name: 'the default last', flags: [], env: {}, file: { path: 'x', content: {} }, want: 7440 },
  ] as const;
  for (const { name, flags, env, file: content, want } of cases) {
    it(`style/S27: takes ${name}`, () => {
      const values = resolveSettings(table, { flags: new Map(flags), env, file: content });
      assert.equal(values.port, want);
    });
  }

  it('style/S27: gives a frozen object', () => {
    assert.ok(Object.isFrozen(resolveSettings(table, { flags: new Map(), env: {} })));
  });

  const bad = [
    { flags: [['port', 'x']], env: {}, want: '--port must be a whole number from 0 to 65535, not "x"' },
    {
      flags: [],
      env: { SLIPWAY_PORT: 'x' },
      want: 'the variable SLIPWAY_PORT must be a whole number from 0 to 65535, not "x"',
    },
  ] as const;
  for (const { flags, env, want } of bad) {
    it(`says where a bad value came from: ${want.slice(0, 25)}`, () => {
      assert.throws(() => resolveSettings(table, { flags: new Map(flags), env }), { message: want, exitCode: 2 });
    });
  }

  it('says which key of which file has a bad value', () => {
    const content = { path: 'site.yaml', content: { once: 'maybe' } };
    assert.throws(() => resolveSettings(table, { flags: new Map(), env: {}, file: content }), {
      message: 'site.yaml: once must be true or false, not "maybe"',
    });
  });
});

describe('readConfigFile', () => {
  function read(text: string) {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-config-'));
    try {
      writeFileSync(join(folder, 'site.yaml'), text);
      return readConfigFile(join(folder, 'site.yaml'), 'up', { up: table, doctor: {} }).content;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it('joins the settings of all verbs with the section of the verb', () => {
    assert.deepEqual(read('output: json\nup:\n  port: 1\ndoctor:\n  plain: true\n'), { output: 'json', port: 1 });
  });

  it('takes an empty file as no settings', () => assert.deepEqual(read(''), {}));

  const bad = [
    {
      name: 'an unknown key',
      text: 'outptu: json',
      want: /site\.yaml: unknown key "outptu"\. Did you mean output\?$/,
    },
    {
      name: 'an unknown key in a section',
      text: 'up:\n  prot: 1',
      want: /unknown key "up\.prot"\. Did you mean up\.port\?$/,
    },
    { name: 'a list', text: '- a', want: /site\.yaml: must hold settings as "name: value" lines$/ },
    { name: 'something that is not YAML', text: 'a: [', want: /site\.yaml: not valid YAML: / },
  ];
  for (const { name, text, want } of bad) {
    it(`refuses ${name}`, () => assert.throws(() => read(text), { message: want, code: 'SW1003', exitCode: 2 }));
  }

  it('names a file that is not there', () => {
    assert.throws(() => readConfigFile('/nowhere/site.yaml', 'up', {}), {
      message: /^\/nowhere\/site\.yaml: ENOENT/,
    });
  });
});

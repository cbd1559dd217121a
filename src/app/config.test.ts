import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { resolveSettings } from './config.ts';
import { readConfigFile } from './config-file.ts';
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

  it('takes an empty text flag as none, as Go programs do', () => {
    const text = { image: { type: 'string', default: 'x', description: 'd' } } as const satisfies SettingTable;
    assert.equal(resolveSettings(text, { flags: new Map([['image', '']]), env: {} }).image, 'x');
  });

  const places = {
    data: { type: 'path', of: 'folder', default: 'd', env: 'SLIPWAY_DATA', description: 'd' },
  } as const satisfies SettingTable;
  const empty = [
    { flags: [['data', '']], env: {}, want: '--data must be the path of a folder, not ""' },
    {
      flags: [],
      env: { SLIPWAY_DATA: '' },
      want: 'the variable SLIPWAY_DATA must be the path of a folder, not ""',
    },
    { flags: [], env: {}, file: '', want: 'f.yaml: data must be the path of a folder, not ""' },
  ] as const;
  for (const { flags, env, want, ...more } of empty) {
    it(`refuses an empty path instead of taking it as none: ${want.slice(0, 25)}`, () => {
      const content = 'file' in more ? { data: more.file } : {};
      const sources = { flags: new Map(flags), env, file: { path: 'f.yaml', content } };
      assert.throws(() => resolveSettings(places, sources), { message: want, code: 'SW1002', exitCode: 2 });
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

  const typed = {
    image: { type: 'string', default: undefined, description: 'd' },
    names: { type: 'list', default: [], description: 'd' },
    count: { type: 'integer', default: 0, min: 0, max: 9, description: 'd' },
    wait: { type: 'duration', default: 0, description: 'd' },
  } as const satisfies SettingTable;
  const resolveFile = (content: Readonly<Record<string, unknown>>) =>
    resolveSettings(typed, { flags: new Map(), env: {}, file: { path: 'f.yaml', content } });

  it('reads the types of a file, and takes null as not set', () => {
    const content = { image: '4.20', names: ['a', 'b'], count: 3, wait: '5s' };
    assert.deepEqual(resolveFile(content), { image: '4.20', names: ['a', 'b'], count: 3, wait: 5000 });
    assert.equal(resolveFile({ image: null }).image, undefined);
  });

  const mistyped = [
    { content: { image: 4.2 }, want: 'f.yaml: image must be text; put it in quotes: "4.2"' },
    { content: { image: true }, want: 'f.yaml: image must be text; put it in quotes: "true"' },
    { content: { wait: 5 }, want: 'f.yaml: wait must be text; put it in quotes: "5"' },
    { content: { image: { a: 1 } }, want: 'f.yaml: image must be one value' },
    { content: { names: [1] }, want: 'f.yaml: names must be a list of texts' },
    { content: { count: 99 }, want: 'f.yaml: count must be a whole number from 0 to 9, not "99"' },
  ];
  for (const { content, want } of mistyped) {
    it(`refuses a value that YAML has changed or that does not fit: ${want.slice(8, 40)}`, () => {
      assert.throws(() => resolveFile(content), { message: want, code: 'SW1002', exitCode: 2 });
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
  function read(text: string, verb = 'up') {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-config-'));
    try {
      writeFileSync(join(folder, 'site.yaml'), text);
      return readConfigFile(join(folder, 'site.yaml'), verb, {
        up: table,
        apiserver: { port: table.port },
        doctor: {},
      }).content;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it('joins the settings of all verbs with the section of the verb', () => {
    assert.deepEqual(read('output: json\nup:\n  port: 1\ndoctor:\n  plain: true\n'), { output: 'json', port: 1 });
  });

  it('prefers the section of the verb', () => {
    assert.deepEqual(read('output: json\nup:\n  output: text\n'), { output: 'text' });
  });

  it('takes a section with everything commented out as empty', () => {
    assert.deepEqual(read('up:\n  # port: 1\n'), {});
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
    {
      name: 'a section that is no section',
      text: 'up: 1',
      want: /site\.yaml: up must hold settings of that verb$/,
    },
    {
      name: 'a key that every object has',
      text: 'constructor:\n  output: json',
      want: /unknown key "constructor"$/,
    },
    { name: 'a setting of a verb at the top', text: 'port: 1', want: /site\.yaml: port belongs under "up:"$/ },
    { name: 'another config file', text: 'config: other.yaml', want: /unknown key "config"/ },
    {
      name: 'a key that would draw on the terminal',
      text: '"\\e[31mred": 1',
      want: /unknown key "\\x1b\[31mred"$/,
    },
    { name: 'a list', text: '- a', want: /site\.yaml: must hold settings as "name: value" lines$/ },
    { name: 'something that is not YAML', text: 'a: [', want: /site\.yaml: not valid YAML: / },
  ];
  for (const { name, text, want } of bad) {
    it(`refuses ${name}`, () => assert.throws(() => read(text), { message: want, code: 'SW1003', exitCode: 2 }));
  }

  const owners = [
    { verb: 'apiserver', text: 'port: 1', want: 'port belongs under "apiserver:"' },
    { verb: 'doctor', text: 'port: 1', want: 'port belongs under "up:" or "apiserver:"' },
    { verb: 'apiserver', text: 'once: true', want: 'once belongs under "up:"' },
  ];
  for (const { verb, text, want } of owners) {
    it(`tells ${verb} that ${want}`, () => {
      assert.throws(
        () => read(text, verb),
        (error: Error) => error.message.endsWith(`site.yaml: ${want}`),
      );
    });
  }

  const unreadable = [
    ['/nowhere/site.yaml', 'there is no such file'],
    [import.meta.filename + '/x', 'there is no such file'],
    [tmpdir(), 'it is a folder'],
  ] as const;
  for (const [path, why] of unreadable) {
    it(`says of ${path} that ${why}, and what to do`, () => {
      const message = `the config file ${path} cannot be read: ${why}. Name a YAML file with settings by --config or SLIPWAY_CONFIG, or leave both out`;
      assert.throws(() => readConfigFile(path, 'up', {}), { message, code: 'SW1003', exitCode: 2 });
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COMMON_SETTINGS, parseSetting, type Setting, shown } from './settings.ts';

const text = { type: 'string', default: undefined, description: 'd' } as const;
const folder = { type: 'path', of: 'folder', default: undefined, description: 'd' } as const;
const port = { type: 'integer', default: 0, min: 0, max: 65535, description: 'd' } as const;
const flag = { type: 'boolean', default: false, description: 'd' } as const;
const wait = { type: 'duration', default: 0, description: 'd' } as const;
const list = { type: 'list', default: [], description: 'd' } as const;

describe('parseSetting', () => {
  const good: readonly { setting: Setting; given: string; want: unknown }[] = [
    { setting: text, given: 'a=b', want: 'a=b' },
    { setting: folder, given: './a b', want: './a b' },
    { setting: port, given: '7440', want: 7440 },
    { setting: port, given: '0', want: 0 },
    { setting: port, given: '+65535', want: 65_535 },
    ...['t', '1', 'yes', 'ON'].map((given) => ({ setting: flag, given, want: true })),
    ...['f', 'no', 'off'].map((given) => ({ setting: flag, given, want: false })),
    { setting: flag, given: 'true', want: true },
    { setting: flag, given: 'F', want: false },
    { setting: flag, given: '0', want: false },
    { setting: wait, given: '1m30s', want: 90_000 },
    { setting: list, given: '*,-route, node', want: ['*', '-route', 'node'] },
    { setting: list, given: '', want: [] },
    { setting: COMMON_SETTINGS.output, given: 'json', want: 'json' },
  ];
  for (const { setting, given, want } of good) {
    it(`reads "${given}" as ${setting.type}`, () => assert.deepEqual(parseSetting(setting, given, '--x'), want));
  }

  const bad: readonly { setting: Setting; given: string; want: string }[] = [
    { setting: port, given: '70000', want: '--x must be a whole number from 0 to 65535, not "70000"' },
    { setting: port, given: '-1', want: '--x must be a whole number from 0 to 65535, not "-1"' },
    { setting: port, given: '65536', want: '--x must be a whole number from 0 to 65535, not "65536"' },
    { setting: port, given: '1e3', want: '--x must be a whole number from 0 to 65535, not "1e3"' },
    { setting: port, given: '', want: '--x must be a whole number from 0 to 65535, not ""' },
    { setting: text, given: 'a\x1b[31m', want: '--x must be text without control characters, not "a\\x1b[31m"' },
    { setting: folder, given: '', want: '--x must be the path of a folder, not ""' },
    { setting: folder, given: '  ', want: '--x must be the path of a folder, not "  "' },
    { setting: folder, given: 'a\n', want: '--x must be text without control characters, not "a\\x0a"' },
    { setting: COMMON_SETTINGS.config, given: '', want: '--x must be the path of a file, not ""' },
    { setting: flag, given: 'maybe', want: '--x must be true or false, not "maybe"' },
    { setting: flag, given: 'constructor', want: '--x must be true or false, not "constructor"' },
    { setting: wait, given: '5', want: '--x must be a duration such as 300ms, 15s or 1h30m, not "5"' },
    { setting: COMMON_SETTINGS.output, given: 'xml', want: '--x must be one of text, json, not "xml"' },
  ];
  for (const { setting, given, want } of bad) {
    it(`reliability/D0: refuses "${given}" as ${setting.type} with what was found and what is allowed`, () => {
      assert.throws(() => parseSetting(setting, given, '--x'), { message: want });
    });
  }
});

describe('shown', () => {
  it('reliability/D0: cuts long text and makes control characters visible', () => {
    assert.equal(shown('a\x1b[31m\nb'), 'a\\x1b[31m\\x0ab');
    assert.equal(shown('x'.repeat(100)).length, 64);
  });
});

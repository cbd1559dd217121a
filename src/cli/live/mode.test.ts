import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accessibleSources, chooseMode, hasColour, isAscii, type LookSettings, layoutFor } from './mode.ts';

const settings = (overrides: Partial<LookSettings> = {}): LookSettings => ({
  output: 'text',
  plain: false,
  ascii: false,
  color: true,
  ...overrides,
});

describe('the way a journey is shown', () => {
  const cases = [
    { name: 'is live on a terminal', env: {}, isTTY: true, want: 'live' },
    { name: 'is a log where there is no terminal', env: {}, isTTY: false, want: 'log' },
    { name: 'is a log in a build', env: { CI: 'true' }, isTTY: true, want: 'log' },
    { name: 'is live when CI is set to nothing', env: { CI: '' }, isTTY: true, want: 'live' },
    { name: 'is a log on a terminal that can do nothing', env: { TERM: 'dumb' }, isTTY: true, want: 'log' },
    { name: 'is accessible when asked for', env: { ACCESSIBLE: '1', CI: '1' }, isTTY: true, want: 'accessible' },
    { name: 'is not accessible for 0', env: { ACCESSIBLE: '0' }, isTTY: true, want: 'live' },
    { name: 'is not accessible for false', env: { ACCESSIBLE: 'false' }, isTTY: true, want: 'live' },
    { name: 'is accessible with --plain', plain: true, env: {}, isTTY: false, want: 'accessible' },
    {
      name: 'is JSON before everything else',
      output: 'json',
      plain: true,
      env: { ACCESSIBLE: '1' },
      isTTY: true,
      want: 'json',
    },
  ] as const;
  for (const { name, env, isTTY, want, ...given } of cases) {
    it(`experience/X2: ${name}`, () => assert.equal(chooseMode(settings(given), env, isTTY), want));
  }
});

describe('a verb that can do without symbols', () => {
  it('experience/X5: is told so by the flag, the config file and the variable alike', () => {
    const sources = { flags: new Map([['output', 'text']]), env: {} };
    const told = (plain: boolean, env: Readonly<Record<string, string>>) =>
      Object.fromEntries(accessibleSources(sources, settings({ plain }), env).flags);
    assert.deepEqual(told(false, { ACCESSIBLE: '1' }), { output: 'text', plain: 'true' });
    assert.deepEqual(told(true, {}), { output: 'text', plain: 'true' });
    assert.deepEqual(told(false, { ACCESSIBLE: '0' }), { output: 'text' });
  });
});

describe('colour', () => {
  const cases = [
    { name: 'is on when live', mode: 'live', env: {}, want: true },
    { name: 'is off in a log', mode: 'log', env: {}, want: false },
    { name: 'can be forced in a log', mode: 'log', env: { FORCE_COLOR: '1' }, want: true },
    { name: 'is not forced by 0', mode: 'log', env: { FORCE_COLOR: '0' }, want: false },
    {
      name: 'is off with NO_COLOR, even if forced',
      mode: 'live',
      env: { NO_COLOR: '1', FORCE_COLOR: '1' },
      want: false,
    },
    { name: 'is on with an empty NO_COLOR', mode: 'live', env: { NO_COLOR: '' }, want: true },
    {
      name: 'is off with --no-color, even if forced',
      color: false,
      mode: 'live',
      env: { FORCE_COLOR: '1' },
      want: false,
    },
    { name: 'is never in JSON', mode: 'json', env: { FORCE_COLOR: '1' }, want: false },
  ] as const;
  for (const { name, mode, env, want, ...given } of cases) {
    it(`experience/X6: ${name}`, () => assert.equal(hasColour(mode, settings(given), env), want));
  }
});

describe('symbols', () => {
  const cases = [
    { name: 'are Unicode in a UTF-8 locale', env: { LANG: 'en_GB.UTF-8' }, want: false },
    { name: 'are ASCII in another locale', env: { LANG: 'en_GB.ISO-8859-1' }, want: true },
    { name: 'are ASCII when no locale is set', env: {}, want: true },
    { name: 'follow LC_ALL before LANG', env: { LC_ALL: 'C', LANG: 'C.UTF-8' }, want: true },
    { name: 'follow LC_CTYPE before LANG', env: { LC_CTYPE: 'C.utf8', LANG: 'C' }, want: false },
    { name: 'are ASCII with --ascii', ascii: true, env: { LANG: 'C.UTF-8' }, want: true },
  ] as const;
  for (const { name, env, want, ...given } of cases) {
    it(`experience/X6: ${name}`, () => assert.equal(isAscii(settings(given), env), want));
  }

  it('experience/X7: are laid out by width', () => {
    const want = { 20: 'list', 39: 'list', 40: 'narrow', 59: 'narrow', 60: 'medium', 99: 'medium', 100: 'wide' };
    const got = Object.fromEntries(Object.keys(want).map((columns) => [columns, layoutFor(Number(columns))]));
    assert.deepEqual(got, want);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { certificateLifetime, type Lifetime } from './certificate-lifetime.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const at = (text: string) => new Date(text);
const authorityEnds = at('2040-01-01T00:00:00Z');
const dates = { from: at('2026-05-01T00:00:00Z'), until: at('2039-12-31T00:00:00Z') };

const CASES: readonly [what: string, lifetime: Partial<Lifetime>, from: string, until: string][] = [
  ['a year, less what it is backdated by', {}, '2030-01-01T00:00:00Z', '2030-12-31T23:55:00Z'],
  ['as long as asked for', { expirationSeconds: 3600 }, '2030-01-01T00:00:00Z', '2030-01-01T01:00:00Z'],
  ['eight hours are long', { expirationSeconds: 28_800 }, '2030-01-01T00:00:00Z', '2030-01-01T07:55:00Z'],
  ['no less than ten minutes', { expirationSeconds: 1 }, '2030-01-01T00:00:00Z', '2030-01-01T00:10:00Z'],
  ['no more than a year', { expirationSeconds: 10 ** 9 }, '2030-01-01T00:00:00Z', '2030-12-31T23:55:00Z'],
  [
    'no longer than the authority',
    { authorityEnds: at('2030-02-01T00:00:00Z') },
    '2030-01-01T00:00:00Z',
    '2030-02-01T00:00:00Z',
  ],
  ['for other clocks', { dates }, '2026-05-01T00:00:00Z', '2039-12-31T00:00:00Z'],
  [
    'for other clocks, as asked',
    { dates, expirationSeconds: 600 },
    '2026-05-01T00:00:00Z',
    '2030-01-01T00:10:00Z',
  ],
];

describe('certificateLifetime', () => {
  for (const [what, lifetime, from, until] of CASES) {
    it(`lab/W40: ${what}`, () => {
      const { now, validityMs } = certificateLifetime({ now: NOW, authorityEnds, ...lifetime });
      assert.deepEqual([now, new Date(now.getTime() + validityMs)], [at(from), at(until)]);
    });
  }
});

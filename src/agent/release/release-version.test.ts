import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareVersions, parseReleaseVersion } from './release-version.ts';

const shown = (text: string): string | undefined => {
  const version = parseReleaseVersion(text);
  if (version === undefined) return undefined;
  const { major, minor, patch, preRelease, build } = version;
  const dash = preRelease.length > 0 ? `-${preRelease.join('.')}` : '';
  return `${major}.${minor}.${patch}${dash}${build.length > 0 ? `+${build.join('.')}` : ''}`;
};

describe('parseReleaseVersion', () => {
  // The right column is what blang/semver v4.0.0 makes of the left one.
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['4.20.1', '4.20.1'],
    [' v4.20.1\n', '4.20.1'],
    ['4', '4.0.0'],
    ['4.20', '4.20.0'],
    ['04.020.001', '4.20.1'],
    ['00.00.00', '0.0.0'],
    ['4.20.1-rc.1', '4.20.1-rc.1'],
    ['4.20.1-rc.1+build.5', '4.20.1-rc.1+build.5'],
    ['4.20.1+build-5', '4.20.1+build-5'],
    ['4.16.0-0.okd-scos-2024-09-24-151747', '4.16.0-0.okd-scos-2024-09-24-151747'],
    ['4.14.-rc.1', '4.14.0-rc.1'],
    ['4.14.+b', '4.14.0+b'],
    ['4.14.007-rc', '4.14.7-rc'],
    ['18446744073709551615.0.0', '18446744073709551615.0.0'],
    ['18446744073709551616.0.0', undefined],
    ['4.14-rc.1', undefined],
    ['4.14-rc', undefined],
    ['4+b', undefined],
    ['', undefined],
    ['latest', undefined],
    ['V4.20.1', undefined],
    ['vv4.20.1', undefined],
    ['4.20.x', undefined],
    ['4.20.1-', undefined],
    ['4.20.1-rc..1', undefined],
    ['4.20.1-01', undefined],
    ['4.20.1+', undefined],
    ['4.20.1-rc_1', undefined],
    ['4..1', undefined],
    ['4.20.', undefined],
    ['4.20.1.2', undefined],
    ['-4.20.1', undefined],
    ['4.20.-', undefined],
  ];
  for (const [given, want] of cases) {
    it(`agent/C3: makes ${want ?? 'nothing'} of ${JSON.stringify(given)}`, () => {
      assert.equal(shown(given), want);
    });
  }
});

describe('compareVersions', () => {
  const order = (a: string, b: string): number => {
    const [x, y] = [parseReleaseVersion(a), parseReleaseVersion(b)];
    assert.ok(x !== undefined && y !== undefined);
    return compareVersions(x, y);
  };

  it('puts versions into the order of the specification', () => {
    const sorted = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1',
      '1.1.0',
      '1.10.0',
      '2.0.0',
    ];
    for (const [a, one] of sorted.entries())
      for (const [b, other] of sorted.entries())
        assert.equal(Math.sign(order(one, other)), Math.sign(a - b), `${one} ${other}`);
  });

  it('does not look at build metadata', () => {
    assert.equal(order('1.0.0+a', '1.0.0+b'), 0);
  });

  it('says the opposite of the opposite question', () => {
    const version = fc
      .tuple(fc.nat(3), fc.nat(3), fc.nat(3), fc.constantFrom('', '-1', '-a', '-a.1', '-1.a', '-a.b.c'))
      .map(([a, b, c, pre]) => `${a}.${b}.${c}${pre}`);
    fc.assert(fc.property(version, version, (a, b) => assert.equal(order(a, b) + order(b, a), 0)));
  });
});

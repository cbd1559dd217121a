import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Check, checks, checksText, isBroken } from './checks.ts';
import type { Facts, Program } from './facts.ts';

const found = (version: string): Program => ({ state: 'found', version });

const healthy: Facts = {
  node: '24.21.0',
  folder: '/here',
  isWritable: true,
  freeMegabytes: 5000,
  openFiles: 4096,
  locale: 'en_GB.UTF-8',
  dashboardPort: { port: 7440, isFree: true },
  openssl: '3.5.0',
  programs: {
    kubectl: found('Client Version: v1.36.3'),
    chromium: found('Chromium 156'),
    go: found('go version'),
  },
  proxies: [],
  registry: { isReachable: true, clockSkewSeconds: 1 },
};

const verdictOf = (facts: Facts, name: string) => checks(facts).find((check) => check.name === name);

describe('doctor', () => {
  it('finds nothing wrong with a healthy machine', () => {
    assert.deepEqual(
      checks(healthy).filter(({ verdict }) => verdict !== 'ok'),
      [],
    );
    assert.match(checksText(checks(healthy)), /\nSlipway can run here\.$/);
  });

  const broken: readonly { name: string; facts: Partial<Facts>; want: string }[] = [
    { name: 'node', facts: { node: '22.1.0' }, want: 'install Node 24 or later' },
    { name: 'folder', facts: { isWritable: false }, want: 'run in a folder of your own' },
    { name: 'disk', facts: { freeMegabytes: 999 }, want: 'free some space: 1000 MB are needed' },
    { name: 'open files', facts: { openFiles: 256 }, want: 'raise the limit: ulimit -n 1024' },
    {
      name: 'npm registry',
      facts: { registry: { isReachable: false, clockSkewSeconds: undefined } },
      want: 'check the network, the proxy and npm config get registry',
    },
    {
      name: 'clock',
      facts: { registry: { isReachable: true, clockSkewSeconds: -31 } },
      want: 'set the clock: certificates and leases would fail',
    },
  ];
  for (const { name, facts, want } of broken) {
    it(`fails for a bad ${name} and says what to do`, () => {
      const all = checks({ ...healthy, ...facts });
      assert.deepEqual(
        all.filter(isBroken).map((check) => [check.name, check.advice]),
        [[name, want]],
      );
      assert.match(checksText(all), new RegExp(`Slipway cannot run here: ${name}\\.$`));
    });
  }

  const tolerated: readonly { name: string; facts: Partial<Facts>; want: Check['verdict'] }[] = [
    { name: 'port', facts: { dashboardPort: { port: 7440, isFree: false } }, want: 'problem' },
    { name: 'locale', facts: { locale: '' }, want: 'problem' },
    {
      name: 'kubectl',
      facts: { programs: { ...healthy.programs, kubectl: { state: 'absent' } } },
      want: 'missing',
    },
    {
      name: 'go',
      facts: { programs: { ...healthy.programs, go: { state: 'broken', why: 'x' } } },
      want: 'problem',
    },
    { name: 'disk', facts: { freeMegabytes: undefined }, want: 'not checked' },
    { name: 'open files', facts: { openFiles: undefined }, want: 'not checked' },
    {
      name: 'clock',
      facts: { registry: { isReachable: true, clockSkewSeconds: undefined } },
      want: 'not checked',
    },
  ];
  for (const { name, facts, want } of tolerated) {
    it(`shows ${name} as "${want}" without failing`, () => {
      const found = verdictOf({ ...healthy, ...facts }, name);
      assert.equal(found?.verdict, want);
      assert.equal(found !== undefined && isBroken(found), false);
    });
  }

  it('says that the network was not asked, unless told to', () => {
    const { registry: _registry, ...offline } = healthy;
    assert.equal(verdictOf(offline, 'npm registry')?.advice, 'add --online to check it');
    assert.equal(verdictOf(offline, 'clock')?.verdict, 'not checked');
  });

  it('experience/X13: names proxy variables, never their values', () => {
    assert.equal(verdictOf({ ...healthy, proxies: ['https_proxy'] }, 'proxies')?.found, 'https_proxy');
  });
});

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
  processes: 4096,
  orphans: { isReaped: true, isFirstProcess: false },
  lab: {
    network: { isUsable: true, text: 'Network mode loopback, because all of 127.0.0.0/8 can be bound here.' },
    lowPortOffset: 0,
    isolation: { isExact: true, text: 'Containers see their volumes exactly where they are mounted.' },
  },
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
    { name: 'processes', facts: { processes: 256 }, want: 'problem' },
    { name: 'processes', facts: { processes: undefined }, want: 'not checked' },
    { name: 'processes', facts: { processes: Number.POSITIVE_INFINITY }, want: 'ok' },
    { name: 'orphans', facts: { orphans: undefined }, want: 'not checked' },
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

  it('lab/X10: says which network mode a lab has here and why, and when it can have none', () => {
    assert.match(verdictOf(healthy, 'lab network')?.found ?? '', /^Network mode loopback, because all of 127/);
    const text = 'all 235 lab networks are in use: node (process 7); end a lab that you do not need';
    const none = verdictOf(
      { ...healthy, lab: { ...healthy.lab, network: { isUsable: false, text } } },
      'lab network',
    );
    assert.deepEqual([none?.verdict, none?.found], ['problem', text]);
  });

  it('lab/X7: says where low ports are found', () => {
    const found = (lowPortOffset: number) =>
      verdictOf({ ...healthy, lab: { ...healthy.lab, lowPortOffset } }, 'low ports')?.found;
    assert.equal(found(0), 'programs of a lab may use them');
    assert.equal(found(20_000), 'found at 20000 + port in a lab');
  });

  it('lab/P10: says how containers see their volumes, and what is lost without mount namespaces', () => {
    const isolation = { isExact: false, text: 'Paths of volumes are rewritten: unshare is not installed.' };
    const found = verdictOf({ ...healthy, lab: { ...healthy.lab, isolation } }, 'lab volumes');
    assert.deepEqual([found?.verdict, found?.found], ['problem', isolation.text]);
    assert.match(found?.advice ?? '', /need mount namespaces$/);
  });

  const orphans = [
    {
      name: 'process 1 does not reap',
      isReaped: false,
      isFirstProcess: false,
      want: /: process 1 does not reap them$/,
    },
    {
      name: 'this is process 1',
      isReaped: true,
      isFirstProcess: true,
      want: /: this is process 1, which must reap/,
    },
  ];
  for (const { name, want, ...facts } of orphans)
    it(`lab/P6: warns and advises an init where ${name}`, () => {
      const found = verdictOf({ ...healthy, orphans: facts }, 'orphans');
      assert.equal(found?.verdict, 'problem');
      assert.match(found.found, want);
      assert.equal(found.advice, 'start the container with an init: podman run --init');
    });

  it('leaves the advice where it is however long another finding is', () => {
    const text = 'x'.repeat(200);
    const lab = { ...healthy.lab, network: { isUsable: true, text } };
    const lines = checksText(checks({ ...healthy, lab, dashboardPort: { port: 7440, isFree: false } })).split(
      '\n',
    );
    const line = lines.find((one) => one.startsWith('port ')) ?? '';
    assert.ok(line.length < 150, line);
  });

  it('says that the network was not asked, unless told to', () => {
    const { registry: _registry, ...offline } = healthy;
    assert.equal(verdictOf(offline, 'npm registry')?.advice, 'add --online to check it');
    assert.equal(verdictOf(offline, 'clock')?.verdict, 'not checked');
  });

  it('experience/X13: names proxy variables, never their values', () => {
    assert.equal(verdictOf({ ...healthy, proxies: ['https_proxy'] }, 'proxies')?.found, 'https_proxy');
  });
});

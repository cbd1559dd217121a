import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { ApiServer } from '../../apiserver/options.ts';
import { startApiServer } from '../../apiserver/start.ts';
import type { Manager } from './create-manager.ts';
import { logText } from './log-text.ts';
import { type Program, runProgram } from './run-program.ts';

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

const OFF = ['--metrics-bind-address=0'];

describe('runProgram', () => {
  let server: ApiServer;
  before(async () => {
    server = await startApiServer({ storage: 'memory', listen: false });
  });
  after(() => server.stop());

  function setUp(argv: readonly string[], rest: Partial<Program> = {}) {
    const host = new FakeProcess();
    const out: string[] = [];
    const err: string[] = [];
    const run = () =>
      runProgram({
        name: 'demo',
        argv,
        env: {},
        homeDir: '/nonexistent',
        host,
        stdout: (text) => out.push(text),
        stderr: (text) => err.push(text),
        setup: () => {},
        kube: server.client(),
        ...rest,
      });
    return { host, out, err, run };
  }

  it('runtime/8.2: a signal is a clean stop: code 0, and nothing is left on the process', async () => {
    const setup = (manager: Manager) => void manager.whenLeading().then(() => host.emit('SIGTERM'));
    const { host, err, run } = setUp(OFF, { setup: (manager) => setup(manager) });
    assert.equal(await run(), 0);
    assert.deepEqual([host.exits, host.eventNames()], [[0], []]);
    assert.match(err.at(-1) ?? '', /received SIGTERM.*Stopped/);
  });

  it('runtime/8.2: a part that fails is code 1, and the last line names the cause', async () => {
    const part = { name: 'bad', group: 'other' as const, run: () => Promise.reject(new Error('disk is full')) };
    const { host, err, run } = setUp(OFF, { setup: (manager) => manager.add(part) });
    assert.equal(await run(), 1);
    assert.deepEqual(host.exits, [1]);
    assert.match(err.at(-1) ?? '', /disk is full/);
  });

  for (const flag of ['--metrics-bind-address', '--health-probe-bind-address']) {
    it(`names ${flag} when its address is taken`, async () => {
      await using other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const { err, run } = setUp([...OFF, `${flag}=127.0.0.1:${port}`]);
      assert.equal(await run(), 1);
      assert.match(err.at(-1) ?? '', new RegExp(`EADDRINUSE.*choose another address with ${flag} `));
    });
  }

  it('runtime/M10: an error that nobody caught stops the program with code 1', async () => {
    const setup = (manager: Manager) =>
      void manager.whenLeading().then(() => host.emit('uncaughtException', new Error('nobody caught me')));
    const { host, err, run } = setUp(OFF, { setup: (manager) => setup(manager) });
    assert.equal(await run(), 1);
    assert.match(err.join(''), /nobody caught me/);
  });

  const bad = [
    { name: 'an unknown flag', argv: ['--metric-secure'], want: /did you mean --metrics-secure\?/ },
    { name: 'a mistyped subcommand', argv: ['manifest', '--image=x'], want: /did you mean manifests\?/ },
    { name: 'a word that is no flag', argv: ['server'], want: /"server" is no flag\n--help lists all flags\n$/ },
    {
      name: 'an election without a namespace',
      argv: [...OFF, '--leader-elect'],
      want: /--leader-election-namespace/,
    },
    {
      name: 'a missing kubeconfig',
      argv: [...OFF, '--kubeconfig=/nonexistent/config'],
      want: /\/nonexistent\/config/,
      isFile: true,
    },
    {
      name: 'a clock that is none',
      argv: OFF,
      env: { SLIPWAY_CLOCK: 'fast' },
      want: /SLIPWAY_CLOCK is "fast"; it must/,
    },
  ];
  for (const { name, argv, want, env = {}, isFile = false } of bad) {
    it(`runtime/8.2: ${name} is code 2, one message and no stack`, async () => {
      const { host, err, run } = setUp(argv, { env, ...(isFile && { kube: undefined }) });
      assert.equal(await run(), 2);
      assert.deepEqual([host.exits, err.length], [[2], 1], err.join(''));
      assert.match(err[0] ?? '', want);
      assert.doesNotMatch(err[0] ?? '', /\.ts:\d+/);
    });
  }

  it('lab/T7: lives in the time of the lab that started it', async () => {
    const env = { SLIPWAY_CLOCK: 'scaled:1:2031-02-03T00:00:00Z:2026-01-01T00:00:00Z' };
    let year = 0;
    const setup = (manager: Manager) => {
      year = manager.clock.now().getUTCFullYear();
      void manager.whenLeading().then(() => host.emit('SIGTERM'));
    };
    const { host, err, run } = setUp(OFF, { env, setup: (manager) => setup(manager) });
    assert.equal(await run(), 0);
    const yearsOn = new Date().getUTCFullYear() - 2026;
    assert.ok(year >= 2031 + yearsOn, `it is ${year}`);
    assert.match(err.at(-1) ?? '', new RegExp(`"time":"${year}-`));
  });

  it('prints the flags and does nothing else', async () => {
    const { out, err, run } = setUp(['--help']);
    assert.equal(await run(), 0);
    assert.match(out.join(''), /Usage: demo \[flags\]\n {7}demo manifests --image <text>[\s\S]*--leader-elect/);
    assert.deepEqual(err, []);
  });
});

describe('logText', () => {
  it('runtime/O1: shows an entry for people, and anything else as it is', () => {
    const line = '{"level":"warn","time":"T","message":"Waiting","kinds":"pods","n":2,"err":{"message":"no"}}\n';
    assert.equal(logText(line), 'T WARN  Waiting kinds=pods n=2 error="no"\n');
    const err = { message: 'oops', stack: 'TypeError: oops\n    at here (a.ts:1)\n    at there (b.ts:2)' };
    const bug = { level: 'error', time: 'T', message: 'Reconcile failed', err };
    const text = 'T ERROR Reconcile failed error="oops"\n  at here (a.ts:1)\n  at there (b.ts:2)\n';
    assert.equal(logText(JSON.stringify(bug)), text);
    const known = { ...bug, err: { ...err, reason: 'Forbidden' } };
    assert.equal(logText(JSON.stringify(known)), 'T ERROR Reconcile failed error="oops"\n');
    for (const other of ['plain text', '[1]', 'null']) assert.equal(logText(other), other);
  });
});

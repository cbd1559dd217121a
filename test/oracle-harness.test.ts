import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../oracles/run/port.ts';
import { livenessOf, type ProcessIdentity, processIdentity } from '../oracles/run/process-identity.ts';
import { type FakeProgram, fakeEtcd, fakeKubeApiserver, writeFakePrograms } from './support/fake-programs.ts';
import { startKubernetes } from './support/kubernetes.ts';
import { outcomeOf, scratchDirectory, writeScript } from './support/scratch.ts';

const KUBERNETES = new URL('./support/kubernetes.ts', import.meta.url).href;
const NEEDS_ORACLE = new URL('./support/needs-oracle.ts', import.meta.url).href;

/** Options for startKubernetes that find only the given fakes and keep everything below `directory`. */
function fakeControlPlane(directory: string, ...programs: readonly FakeProgram[]) {
  const assets = join(directory, 'assets');
  writeFakePrograms(assets, ...programs);
  return { baseDirectory: join(directory, 'instances'), variables: variables(assets) };
}

const variables = (assets: string) => ({
  KUBEBUILDER_ASSETS: assets,
  KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: '20s',
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(20);
}

const instances = (directory: string): string[] =>
  existsSync(join(directory, 'instances')) ? readdirSync(join(directory, 'instances')) : [];

/** The programs that the pid files of the only instance name. */
function recordedPrograms(directory: string): ProcessIdentity[] {
  const [instance = ''] = instances(directory);
  const folder = join(directory, 'instances', instance);
  const files = readdirSync(folder).filter((name) => name.endsWith('.pid'));
  return files.map((name): ProcessIdentity => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}

describe('starting a control plane', () => {
  it('oracles/C1: is ready with certificates that both sides accept, and leaves nothing behind', async () => {
    await using directory = await scratchDirectory();
    let programs: ProcessIdentity[];
    {
      await using cluster = await startKubernetes(
        fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver()),
      );
      programs = recordedPrograms(directory.path);
      assert.equal(programs.length, 2);
      assert.match(readFileSync(cluster.admin, 'utf8'), /"client-certificate-data"/);
    }
    assert.deepEqual(programs.map(livenessOf), ['gone', 'gone']);
    assert.deepEqual(instances(directory.path), []);
  });

  it('oracles/P2: takes another port when the first is taken between probe and start', async () => {
    await using directory = await scratchDirectory();
    await using taken = createServer((socket) => void socket.destroy()).listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    assert.ok(address !== null && typeof address === 'object');
    const ports = [address.port];
    const pickPort = async (): Promise<number> => ports.shift() ?? freePort();
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
    await using cluster = await startKubernetes({ ...options, pickPort });
    assert.deepEqual(ports, []);
    assert.notEqual(new URL(cluster.url).port, String(address.port));
  });

  it('oracles/P2: gives up after five taken ports', async () => {
    await using directory = await scratchDirectory();
    let picked = 0;
    const pickPort = async (): Promise<number> => ++picked + 20_000;
    const body = `console.error('listen tcp 127.0.0.1: bind: address already in use'); process.exit(1);`;
    const options = fakeControlPlane(directory.path, fakeEtcd({ body }), fakeKubeApiserver());
    await assert.rejects(startKubernetes({ ...options, pickPort }), /address already in use/);
    assert.equal(picked, 5);
  });

  it('oracles/P4: fails at once with the last log lines when kube-apiserver is killed during start', async () => {
    await using directory = await scratchDirectory();
    const body = `
      for (let line = 1; line <= 60; line++) console.error('line ' + line);
      process.kill(process.pid, 'SIGKILL');`;
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver({ body }));
    await assert.rejects(startKubernetes(options), ({ message }: Error) => {
      assert.match(message, /kube-apiserver was ended by SIGKILL; its last lines:\nline 11\n(.*\n)*line 60$/);
      return true;
    });
  });

  it('oracles/P3: keeps the directory of a failed start, names it, and has stopped the rest', async () => {
    await using directory = await scratchDirectory();
    const body = `console.error('bad flag'); process.exit(3);`;
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver({ body }));
    await assert.rejects(startKubernetes(options), /ended with code 3/);
    const [kept = ''] = instances(directory.path);
    assert.match(kept, /^failed-/);
    assert.equal(
      readFileSync(join(directory.path, 'instances', kept, 'kube-apiserver.log'), 'utf8'),
      'bad flag\n',
    );
    assert.deepEqual(recordedPrograms(directory.path), []);
  });

  it('oracles/F8: gives up after KUBEBUILDER_CONTROLPLANE_START_TIMEOUT', async () => {
    await using directory = await scratchDirectory();
    const body = `console.error('thinking'); setInterval(() => {}, 1000);`;
    const options = fakeControlPlane(directory.path, fakeEtcd({ body }), fakeKubeApiserver());
    const hurried = { ...options.variables, KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: '700ms' };
    await assert.rejects(startKubernetes({ ...options, variables: hurried }), /etcd is not ready after 700 ms/);
  });

  it('oracles/P5: ends a program that ignores SIGTERM', async () => {
    await using directory = await scratchDirectory();
    const stubborn = fakeEtcd({ body: `process.on('SIGTERM', () => {}); ${fakeEtcd().body}` });
    const options = fakeControlPlane(directory.path, stubborn, fakeKubeApiserver());
    const hurried = { ...options.variables, KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT: '100ms' };
    const cluster = await startKubernetes({ ...options, variables: hurried });
    const programs = recordedPrograms(directory.path);
    await cluster.stop();
    await cluster.stop();
    assert.deepEqual(programs.map(livenessOf), ['gone', 'gone']);
  });

  it('oracles/B1: refuses --unsafe-no-fsync in a bench', async () => {
    await using directory = await scratchDirectory();
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
    const bench = { ...options, purpose: 'bench', extraArguments: { etcd: ['--unsafe-no-fsync'] } } as const;
    await assert.rejects(startKubernetes(bench), /--unsafe-no-fsync is refused in a bench/);
  });

  it('oracles/B1: a bench waits for the disk, a functional test does not', async () => {
    for (const [purpose, want] of [
      ['bench', false],
      ['functional', true],
    ] as const) {
      await using directory = await scratchDirectory();
      const body = `console.error('unsafe:' + words.includes('--unsafe-no-fsync')); process.exit(1);`;
      const options = fakeControlPlane(directory.path, fakeEtcd({ body }), fakeKubeApiserver());
      await assert.rejects(startKubernetes({ ...options, purpose }), new RegExp(`unsafe:${want}`));
    }
  });

  it('names the oracle that is missing and how to get it', async () => {
    await using directory = await scratchDirectory();
    const options = fakeControlPlane(
      directory.path,
      fakeEtcd(),
      fakeKubeApiserver({ version: 'Kubernetes v1.2.3' }),
    );
    assert.throws(
      () => startKubernetes(options),
      /kube-apiserver .*1\.2\.3.*; run `npm run oracles kube-apiserver`/,
    );
  });
});

/** Another process that starts a control plane, says so and, once told to go on, does what `ending` says. */
async function startRunner(directory: string, ending: string): Promise<ChildProcess> {
  const assets = join(directory, 'assets');
  const options = JSON.stringify({ baseDirectory: join(directory, 'instances'), variables: variables(assets) });
  const text = `
    import { startKubernetes } from ${JSON.stringify(KUBERNETES)};
    const cluster = await startKubernetes(${options});
    console.log('started');
    process.stdin.once('data', () => { ${ending} });`;
  const script = await writeScript(directory, 'runner.mts', text);
  return spawn(process.execPath, [script], { env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
}

describe('a runner that does not stop its control plane', () => {
  const endings = [
    { name: 'ends normally', ending: 'process.exit(0);', want: [0, null] },
    { name: 'throws', ending: `throw new Error('oops');`, want: [1, null] },
    { name: 'rejects', ending: `Promise.reject(new Error('oops'));`, want: [1, null] },
    { name: 'is interrupted', ending: '', signal: 'SIGINT', want: [null, 'SIGINT'] },
    { name: 'is terminated', ending: '', signal: 'SIGTERM', want: [null, 'SIGTERM'] },
  ] as const;
  for (const row of endings) {
    it(`leaves no program and no directory when it ${row.name}`, async () => {
      await using directory = await scratchDirectory();
      writeFakePrograms(join(directory.path, 'assets'), fakeEtcd(), fakeKubeApiserver());
      const runner = await startRunner(directory.path, row.ending);
      const ended = once(runner, 'exit');
      await once(runner.stdout ?? runner, 'data');
      const programs = recordedPrograms(directory.path);
      assert.equal(programs.length, 2);
      if ('signal' in row) runner.kill(row.signal);
      else runner.stdin?.end('go on');
      assert.deepEqual(await ended, row.want);
      assert.deepEqual(instances(directory.path), []);
      await until(() => programs.every((program) => livenessOf(program) === 'gone'));
    });
  }

  it('oracles/P6: after kill -9 the next start ends what is left over, and nothing else', async () => {
    await using directory = await scratchDirectory();
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
    const unrelatedFlag = `--listen-client-urls=http://127.0.0.1:${await freePort()}`;
    const unrelated = spawn(join(directory.path, 'assets', 'etcd'), [unrelatedFlag], { env: {}, stdio: 'ignore' });
    try {
      const runner = await startRunner(directory.path, '');
      await once(runner.stdout ?? runner, 'data');
      const leftOver = recordedPrograms(directory.path);
      runner.kill('SIGKILL');
      await once(runner, 'exit');
      assert.deepEqual(leftOver.map(livenessOf), ['alive', 'alive']);

      await using cluster = await startKubernetes(options);
      assert.deepEqual(leftOver.map(livenessOf), ['gone', 'gone']);
      assert.deepEqual(instances(directory.path), [cluster.directory.split('/').at(-1)]);
      assert.notEqual(processIdentity(unrelated.pid ?? 0), undefined);
    } finally {
      unrelated.kill('SIGKILL');
    }
  });

  it('oracles/P6: leaves the programs of a living runner alone', async () => {
    await using directory = await scratchDirectory();
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
    await using first = await startKubernetes(options);
    const programs = recordedPrograms(directory.path);
    await using second = await startKubernetes(options);
    assert.notEqual(first.directory, second.directory);
    assert.deepEqual(programs.map(livenessOf), ['alive', 'alive']);
  });
});

describe('a process', () => {
  it('oracles/P6: is told from a later one with the same id, another boot and another namespace', () => {
    const own = processIdentity(process.pid);
    assert.ok(own);
    assert.equal(livenessOf(own), 'alive');
    assert.equal(livenessOf({ ...own, startTicks: own.startTicks - 1 }), 'gone');
    assert.equal(livenessOf({ ...own, bootId: 'before' }), 'gone');
    assert.equal(livenessOf({ ...own, pidNamespace: 'pid:[1]' }), 'elsewhere');
  });

  it('is gone once it has ended', async () => {
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    const identity = processIdentity(child.pid ?? 0);
    await once(child, 'exit');
    assert.ok(identity);
    await until(() => livenessOf(identity) === 'gone');
  });
});

describe('a suite that needs an oracle', () => {
  const text = `
    import { describe, it } from 'node:test';
    import { needsOracle } from ${JSON.stringify(NEEDS_ORACLE)};
    describe('a suite', needsOracle('kube-controller-manager'), () => { it('runs', () => { throw new Error('ran'); }); });`;
  const run = async (directory: string, extra: Record<string, string> = {}) => {
    const script = await writeScript(directory, 'suite.test.mts', text);
    const environment = { HOME: directory, PATH: directory, ...extra };
    return outcomeOf(process.execPath, ['--test', '--test-reporter=tap', script], environment);
  };

  it('oracles/F4: is skipped with the lookup list in an empty environment, and the run succeeds', async () => {
    await using directory = await scratchDirectory();
    const { code, stdout } = await run(directory.path);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /SKIP oracle kube-controller-manager not found \(looked in .*PATH\)/);
  });

  it('oracles/F5: fails and is named when SLIPWAY_REQUIRE_ORACLES asks for it', async () => {
    await using directory = await scratchDirectory();
    const { code, stdout } = await run(directory.path, { SLIPWAY_REQUIRE_ORACLES: 'kube-controller-manager' });
    assert.equal(code, 1);
    assert.match(stdout, /SLIPWAY_REQUIRE_ORACLES names kube-controller-manager, but: oracle .* not found/);
  });

  it('oracles/F3: prints the version of the oracle it uses', async () => {
    await using directory = await scratchDirectory();
    writeFakePrograms(directory.path, {
      name: 'kube-controller-manager',
      version: 'Kubernetes v1.36.3',
      body: '',
    });
    const { stdout } = await run(directory.path, { KUBEBUILDER_ASSETS: directory.path });
    assert.match(stdout, /oracle kube-controller-manager 1\.36\.3 \(/);
  });
});

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ExitGuard } from '../oracles/run/exit-guard.ts';
import { ownershipFlaw } from '../oracles/run/instance-directory.ts';
import { freePort } from '../oracles/run/port.ts';
import { startProcess } from '../oracles/run/process.ts';
import { livenessOf, type ProcessIdentity, processIdentity } from '../src/app/process-identity.ts';
import { CertificateAuthority } from '../src/pki/certificate-authority.ts';
import { type FakeProgram, fakeEtcd, fakeKubeApiserver, writeFakePrograms } from './support/fake-programs.ts';
import { instancesDirectory, type StartKubernetesOptions, startKubernetes } from './support/kubernetes.ts';
import { outcomeOf, scratchDirectory, until, writeScript } from './support/scratch.ts';

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

/** For starts that must fail: one that does not would keep the test process alive. */
async function startAndStop(options: StartKubernetesOptions): Promise<void> {
  await using _ = await startKubernetes(options);
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
    assert.deepEqual(
      programs.map((program) => livenessOf(program)),
      ['gone', 'gone'],
    );
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
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver({ body }));
    await assert.rejects(startAndStop({ ...options, pickPort }), /address already in use/);
    assert.equal(picked, 5);
  });

  it('oracles/A1: is not taken in by another program that answers on a port', async () => {
    await using directory = await scratchDirectory();
    const now = new Date();
    const validity = { now, validityMs: 3_600_000 };
    const authority = await CertificateAuthority.create({ commonName: 'slipway-oracles', ...validity });
    const names = { commonName: 'kube-apiserver', dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
    const { certificatePem, keys } = await authority.issue({ kind: 'serving', ...names, ...validity });
    const tls = { cert: certificatePem, key: keys.privateKeyPem };
    await using foreign = createHttpsServer(tls, (_, response) => void response.end('ok')).listen(0, '127.0.0.1');
    await once(foreign, 'listening');
    let asked = 0;
    foreign.on('connection', () => void asked++);
    const { port } = foreign.address() as AddressInfo;
    const idle = fakeKubeApiserver({ body: 'setInterval(() => {}, 1000);' });
    const options = fakeControlPlane(directory.path, fakeEtcd(), idle);
    const hurried = { ...options.variables, KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: '2s' };
    const started = startAndStop({ ...options, variables: hurried, pickPort: async () => port });
    await assert.rejects(started, /kube-apiserver is not ready after 2000 ms/);
    assert.ok(asked > 0, 'the other program was asked');
  });

  it('oracles/E2: gives etcd no port for clients: only its own socket answers for it', async () => {
    await using directory = await scratchDirectory();
    const body = `
      console.error(flag('--listen-client-urls') + ' in ' + process.cwd());
      const server = require('node:http').createServer((_, response) => response.end('{"health":"true"}'));
      server.listen(0, '127.0.0.1');`;
    const options = fakeControlPlane(directory.path, fakeEtcd({ body }), fakeKubeApiserver());
    const hurried = { ...options.variables, KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: '1s' };
    const started = startAndStop({ ...options, variables: hurried });
    await assert.rejects(started, /etcd is not ready after 1000 ms; .*\nunix:\/\/etcd\.sock in .*\/run-\w+$/);
  });

  it('oracles/E2: says so when the path is too long for a socket', async () => {
    await using directory = await scratchDirectory();
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
    const baseDirectory = join(directory.path, 'long'.repeat(20));
    const message = /etcd\.sock is longer than the 103 bytes a socket may have; set TMPDIR to a shorter path$/;
    await assert.rejects(startAndStop({ ...options, baseDirectory }), message);
  });

  it('is not ready when the program has ended, whoever answers', async () => {
    await using directory = await scratchDirectory();
    writeFakePrograms(directory.path, fakeEtcd({ body: 'setInterval(() => {}, 1000);' }));
    using guard = new ExitGuard(directory.path);
    const isReady = async (): Promise<boolean> => {
      const program: ProcessIdentity = JSON.parse(readFileSync(join(directory.path, 'etcd.pid'), 'utf8'));
      process.kill(program.pid, 'SIGKILL');
      // Without giving way, so that its end is not heard of before the answer.
      while (livenessOf(program) !== 'gone');
      return true;
    };
    const program = { name: 'etcd', file: join(directory.path, 'etcd'), arguments: [], directory: directory.path };
    const options = { guard, startTimeoutMs: 10_000, stopTimeoutMs: 1000 };
    await assert.rejects(startProcess({ ...program, isReady }, options), /etcd was ended by SIGKILL/);
  });

  it('oracles/P4: fails at once with the last log lines when kube-apiserver is killed during start', async () => {
    await using directory = await scratchDirectory();
    const body = `
      for (let line = 1; line <= 60; line++) console.error('line ' + line);
      process.kill(process.pid, 'SIGKILL');`;
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver({ body }));
    await assert.rejects(startAndStop(options), ({ message }: Error) => {
      assert.match(message, /kube-apiserver was ended by SIGKILL; its last lines:\nline 11\n(.*\n)*line 60$/);
      return true;
    });
  });

  it('oracles/P3: keeps the directory of a failed start, names it, and has stopped the rest', async () => {
    await using directory = await scratchDirectory();
    const body = `console.error('bad flag'); process.exit(3);`;
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver({ body }));
    await assert.rejects(startAndStop(options), /ended with code 3/);
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
    await assert.rejects(startAndStop({ ...options, variables: hurried }), /etcd is not ready after 700 ms/);
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
    assert.deepEqual(
      programs.map((program) => livenessOf(program)),
      ['gone', 'gone'],
    );
  });

  it('oracles/B1: refuses --unsafe-no-fsync in a bench', async () => {
    await using directory = await scratchDirectory();
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
    const bench = { ...options, purpose: 'bench', extraArguments: { etcd: ['--unsafe-no-fsync'] } } as const;
    await assert.rejects(startAndStop(bench), /--unsafe-no-fsync is refused in a bench/);
  });

  it('oracles/B1: a bench waits for the disk, a functional test does not', async () => {
    for (const [purpose, want] of [
      ['bench', false],
      ['functional', true],
    ] as const) {
      await using directory = await scratchDirectory();
      const body = `console.error('unsafe:' + words.includes('--unsafe-no-fsync')); process.exit(1);`;
      const options = fakeControlPlane(directory.path, fakeEtcd({ body }), fakeKubeApiserver());
      await assert.rejects(startAndStop({ ...options, purpose }), new RegExp(`unsafe:${want}`));
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
      await until(() => programs.every((program) => livenessOf(program) === 'gone'), 'the programs have ended');
    });
  }

  it('oracles/P6: after kill -9 the next start ends what is left over, and nothing else', async () => {
    await using directory = await scratchDirectory();
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
    const unrelatedFlag = `--listen-client-urls=unix://${join(directory.path, 'unrelated.sock')}`;
    const unrelated = spawn(join(directory.path, 'assets', 'etcd'), [unrelatedFlag], { env: {}, stdio: 'ignore' });
    try {
      const runner = await startRunner(directory.path, '');
      await once(runner.stdout ?? runner, 'data');
      const leftOver = recordedPrograms(directory.path);
      runner.kill('SIGKILL');
      await once(runner, 'exit');
      assert.deepEqual(
        leftOver.map((program) => livenessOf(program)),
        ['alive', 'alive'],
      );

      await using cluster = await startKubernetes(options);
      assert.deepEqual(
        leftOver.map((program) => livenessOf(program)),
        ['gone', 'gone'],
      );
      assert.deepEqual(instances(directory.path), [cluster.directory.split('/').at(-1)]);
      assert.notEqual(processIdentity(unrelated.pid ?? 0), undefined);
    } finally {
      unrelated.kill('SIGKILL');
    }
  });

  it('oracles/P6: after kill -9 before the pid files were written, the programs are known by their home', async () => {
    await using directory = await scratchDirectory();
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
    const runner = await startRunner(directory.path, '');
    await once(runner.stdout ?? runner, 'data');
    const leftOver = recordedPrograms(directory.path);
    const instance = join(options.baseDirectory, instances(directory.path)[0] ?? '');
    for (const name of ['etcd', 'kube-apiserver']) rmSync(join(instance, `${name}.pid`));
    const visitor = spawn('sleep', ['60'], { cwd: instance, stdio: 'ignore' });
    try {
      runner.kill('SIGKILL');
      await once(runner, 'exit');
      await using _cluster = await startKubernetes(options);
      assert.deepEqual(
        leftOver.map((program) => livenessOf(program)),
        ['gone', 'gone'],
      );
      assert.notEqual(processIdentity(visitor.pid ?? 0), undefined, 'somebody who only looks around stays');
    } finally {
      visitor.kill('SIGKILL');
    }
  });

  it('oracles/P6: leaves the programs of a living runner alone', async () => {
    await using directory = await scratchDirectory();
    const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
    await using first = await startKubernetes(options);
    const programs = recordedPrograms(directory.path);
    await using second = await startKubernetes(options);
    assert.notEqual(first.directory, second.directory);
    assert.deepEqual(
      programs.map((program) => livenessOf(program)),
      ['alive', 'alive'],
    );
  });
});

describe('the directory of instances', () => {
  const isDirectory = () => true;
  const cases = [
    { name: 'is good when only we can use it', given: { isDirectory, uid: 7, mode: 0o40700 }, want: undefined },
    {
      name: 'is refused when it is a link or a file',
      given: { isDirectory: () => false, uid: 7, mode: 0o100700 },
      want: 'is not a directory of its own',
    },
    {
      name: 'is refused when somebody else made it',
      given: { isDirectory, uid: 0, mode: 0o40700 },
      want: 'belongs to user 0, not to user 7',
    },
    {
      name: 'is refused when the group may read it',
      given: { isDirectory, uid: 7, mode: 0o40740 },
      want: 'can be used by others (mode 740 instead of 700)',
    },
    {
      name: 'is refused when everybody may enter it',
      given: { isDirectory, uid: 7, mode: 0o40701 },
      want: 'can be used by others (mode 701 instead of 700)',
    },
  ];
  for (const { name, given, want } of cases) it(name, () => assert.equal(ownershipFlaw(given, 7), want));

  /** What a killed runner would have left, with a pid file that names `victim`. */
  function plantInstance(base: string, victim: ProcessIdentity | undefined): void {
    const instance = join(base, 'run-planted');
    mkdirSync(instance, { recursive: true });
    writeFileSync(join(instance, 'owner.json'), JSON.stringify({ ...victim, startTicks: 1 }));
    writeFileSync(join(instance, 'etcd.pid'), JSON.stringify(victim));
  }

  it('is not swept when others could have planted a pid file in it', async () => {
    await using directory = await scratchDirectory();
    const victim = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
      plantInstance(options.baseDirectory, processIdentity(victim.pid ?? 0));
      chmodSync(options.baseDirectory, 0o777);
      await assert.rejects(startAndStop(options), {
        message:
          `${options.baseDirectory} can be used by others (mode 777 instead of 700), so it is not safe to use; ` +
          'remove it, or set TMPDIR to a directory of your own',
      });
      assert.notEqual(processIdentity(victim.pid ?? 0), undefined);
    } finally {
      victim.kill('SIGKILL');
    }
  });

  it('oracles/P6: keeps its hands off a process that is known by its number alone', async () => {
    await using directory = await scratchDirectory();
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
      plantInstance(options.baseDirectory, { pid: bystander.pid ?? 0 });
      chmodSync(options.baseDirectory, 0o700);
      await using _cluster = await startKubernetes(options);
      assert.notEqual(processIdentity(bystander.pid ?? 0), undefined);
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  for (const target of ['assets', 'nowhere']) {
    it(`is refused as a link to ${target}`, async () => {
      await using directory = await scratchDirectory();
      const options = fakeControlPlane(directory.path, fakeEtcd(), fakeKubeApiserver());
      symlinkSync(join(directory.path, target), options.baseDirectory);
      await assert.rejects(startAndStop(options), /instances is not a directory of its own, so/);
    });
  }

  const cannotBecomeAnother = process.geteuid?.() !== 0 && 'only root can become another user';
  it('is named without a name of the user, whom the machine may not know', { skip: cannotBecomeAnother }, () => {
    process.seteuid?.(54_321);
    try {
      assert.match(instancesDirectory(), /\/slipway-oracles-54321$/);
    } finally {
      process.seteuid?.(0);
    }
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

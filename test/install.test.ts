import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';

const PARTS = ['bin', 'scripts', 'package.json', 'package-lock.json', '.npmrc'];
const OWN_NODE = `node_modules/node-linux-${process.arch}`;

/** Does what `npm ci` does as far as anybody can see, without a registry; FAKE_NPM says how it goes. */
const FAKE_NPM = `
  const fs = require('node:fs');
  fs.appendFileSync('npm-runs', process.argv.slice(2).join(' ') + '\\n');
  const mode = process.env.FAKE_NPM;
  if (mode === 'hang') { process.stdout.write('started'); return setInterval(() => {}, 1000); }
  for (const [at, entry] of Object.entries(JSON.parse(fs.readFileSync('package-lock.json')).packages)) {
    if (at === '' || entry.optional) continue;
    fs.mkdirSync(at, { recursive: true });
    fs.writeFileSync(at + '/package.json', '{}');
  }
  if (mode === 'tar') console.log('npm warn tar TAR_ENTRY_ERROR ENOSPC: no space left on device');
  if (mode === 'unwritable-stamp') fs.mkdirSync('node_modules/.slipway-install.json');
  if (mode === 'fail') process.exit(1);
`;

type Child = ChildProcessByStdio<null, Readable, Readable>;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A clone without node_modules, with an npm of our own in front of the PATH. */
class Clone implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'slipway install ü '));

  constructor() {
    for (const part of PARTS) cpSync(part, join(this.root, part), { recursive: true });
    writeFileSync(join(this.root, 'hello.cjs'), 'console.log(process.argv.slice(2).join());');
    mkdirSync(join(this.root, 'path'));
    writeFileSync(join(this.root, 'path/npm.cjs'), FAKE_NPM);
    writeFileSync(
      join(this.root, 'path/npm'),
      `#!/bin/sh\nexec "${process.execPath}" "$(dirname "$0")/npm.cjs" "$@"\n`,
    );
    chmodSync(join(this.root, 'path/npm'), 0o755);
  }

  start(mode: string, nodeArgs: readonly string[] = []): Child {
    const { npm_execpath: _npm, SLIPWAY_BOOTSTRAP: _report, ...inherited } = process.env;
    const env = { ...inherited, FAKE_NPM: mode, PATH: `${join(this.root, 'path')}:${process.env['PATH']}` };
    const args = [...nodeArgs, join(this.root, 'scripts/bootstrap.cjs'), 'hello.cjs', 'word'];
    return spawn(process.execPath, args, { cwd: this.root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  async run(mode: string, nodeArgs: readonly string[] = []): Promise<Ended> {
    return ended(this.start(mode, nodeArgs));
  }

  file(name: string): string {
    return join(this.root, name);
  }

  get npmRuns(): number {
    return existsSync(this.file('npm-runs'))
      ? readFileSync(this.file('npm-runs'), 'utf8').split('\n').length - 1
      : 0;
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

async function ended(child: Child): Promise<Ended> {
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    assert.ok(tries < 500, 'waited too long');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Makes the running Node claim another version; a real old one is not on every machine. */
function pretend(clone: Clone, version: string): readonly string[] {
  writeFileSync(
    clone.file('pretend.cjs'),
    `Object.defineProperty(process.versions, 'node', { value: ${JSON.stringify(version)} });`,
  );
  return ['--require', clone.file('pretend.cjs')];
}

describe('the install', () => {
  it('happens once, without scripts, and then runs what was asked for', async () => {
    using clone = new Clone();
    const first = await clone.run('ok');
    assert.equal(first.code, 0, first.stderr);
    assert.equal(first.stdout, 'word\n');
    assert.match(first.stderr, /installing the dependencies[^]*✔ dependencies {2}\d+ packages {2}\d+\.\d s/);
    assert.match(
      readFileSync(clone.file('npm-runs'), 'utf8'),
      /^ci --ignore-scripts --include=dev --include=optional/,
    );
    const second = await clone.run('ok');
    assert.equal(second.stderr, '');
    assert.equal(clone.npmRuns, 1);
  });

  it('happens again when the lock file changes, and when a package is gone', async () => {
    using clone = new Clone();
    await clone.run('ok');
    rmSync(clone.file('node_modules/yaml'), { recursive: true });
    await clone.run('ok');
    assert.equal(clone.npmRuns, 2);
    writeFileSync(clone.file('package-lock.json'), `${readFileSync(clone.file('package-lock.json'), 'utf8')}\n`);
    await clone.run('ok');
    assert.equal(clone.npmRuns, 3);
  });

  it('does not believe npm when it ends well after a file could not be unpacked', async () => {
    using clone = new Clone();
    const { code, stderr } = await clone.run('tar');
    assert.equal(code, 3);
    assert.match(stderr, /the disk of .* is full/);
    assert.equal(existsSync(clone.file('node_modules/.slipway-install.json')), false);
  });

  it('shows what npm said when it fails for a reason nobody knows', async () => {
    using clone = new Clone();
    const { code, stderr } = await clone.run('fail');
    assert.equal(code, 3);
    assert.match(stderr, /npm gave no reason known to us/);
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`experience/X14: ends with 130 on ${signal}, takes npm along, and leaves no lock`, async () => {
      using clone = new Clone();
      const child = clone.start('hang');
      const log = clone.file('.slipway/install.log');
      await until(() => existsSync(log) && readFileSync(log, 'utf8') === 'started');
      const [, npm] = JSON.parse(readFileSync(clone.file('.slipway/install.lock'), 'utf8'));
      child.kill(signal);
      const { code, stderr } = await ended(child);
      assert.equal(code, 130);
      assert.match(stderr, new RegExp(`interrupted \\(${signal}\\)`));
      assert.equal(existsSync(clone.file('.slipway/install.lock')), false);
      await until(() => !isAlive(npm.pid));
    });
  }

  const obstacles = [
    {
      name: 'the log is a folder',
      plant: (c: Clone) => mkdirSync(c.file('.slipway/install.log'), { recursive: true }),
    },
    { name: 'the data folder is a file', plant: (c: Clone) => writeFileSync(c.file('.slipway'), '') },
    {
      name: 'the lock file was half merged',
      plant: (c: Clone) => writeFileSync(c.file('package-lock.json'), '<<<<'),
    },
  ];
  for (const { name, plant } of obstacles) {
    it(`ends with one message when ${name}`, async () => {
      using clone = new Clone();
      plant(clone);
      const { code, stderr } = await clone.run('ok');
      assert.equal(code, 3);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.doesNotMatch(stderr, /permission/);
    });
  }

  it('ends with one message when its own mark cannot be written', async () => {
    using clone = new Clone();
    const { code, stderr } = await clone.run('unwritable-stamp');
    assert.equal(code, 3);
    assert.doesNotMatch(stderr, /\n {4}at /);
  });
});

describe('the Node that comes along', () => {
  /** A stand-in for the package: the version it claims, and a program. */
  function plantNode(clone: Clone, version: string, program: string): void {
    mkdirSync(clone.file(`${OWN_NODE}/bin`), { recursive: true });
    mkdirSync(clone.file('node_modules/.bin'), { recursive: true });
    writeFileSync(clone.file(`${OWN_NODE}/package.json`), JSON.stringify({ version }));
    writeFileSync(clone.file(`${OWN_NODE}/bin/node`), program, { mode: 0o755 });
    symlinkSync(`../node-linux-${process.arch}/bin/node`, clone.file('node_modules/.bin/node'));
  }

  it('is passed over when it is old itself', async () => {
    using clone = new Clone();
    await clone.run('ok');
    plantNode(clone, '20.1.0', '#!/bin/sh\necho ran the old one\n');
    const { code, stdout, stderr } = await clone.run('ok', pretend(clone, '20.20.2'));
    assert.equal(code, 3);
    assert.equal(stdout, '');
    assert.match(stderr, /Slipway needs Node 24 or later; this is 20\.20\.2/);
  });

  it('is handed over to only once, even when it lies about its version', async () => {
    using clone = new Clone();
    await clone.run('ok');
    const nodeArgs = pretend(clone, '20.20.2')
      .map((word) => `'${word}'`)
      .join(' ');
    plantNode(clone, '24.0.0', `#!/bin/sh\necho started >&2\nexec '${process.execPath}' ${nodeArgs} "$@"\n`);
    const { code, stderr } = await clone.run('ok', pretend(clone, '20.20.2'));
    assert.equal(code, 3);
    assert.equal(stderr.match(/started/g)?.length, 1);
  });

  it('is taken away again where it does not run', async () => {
    using clone = new Clone();
    plantNode(clone, '24.0.0', '#!/no/such/loader\n');
    const { code, stdout } = await clone.run('ok');
    assert.equal(code, 0);
    assert.equal(stdout, 'word\n');
    assert.equal(existsSync(clone.file(OWN_NODE)), false);
    assert.equal(existsSync(clone.file('node_modules/.bin/node')), false);
  });

  it('passes signals on and ends as its child ended', async () => {
    using clone = new Clone();
    await clone.run('ok');
    plantNode(clone, '24.0.0', '#!/bin/sh\ntrap "exit 7" TERM\necho ready\nwhile :; do sleep 0.05; done\n');
    const child = clone.start('ok', pretend(clone, '20.20.2'));
    child.stdout.once('data', () => child.kill('SIGTERM'));
    assert.equal((await ended(child)).code, 7);
  });

  it('stops when the shell is gone below which npx started it', async () => {
    using clone = new Clone();
    writeFileSync(
      clone.file('scripts/bootstrap.cjs'),
      "exports.run = () => { process.once('SIGTERM', () => { console.log('stopped'); process.exit(); }); console.log('ready'); setInterval(() => {}, 1000); };",
    );
    const shell = spawn('sh', ['-c', `'${process.execPath}' '${clone.file('bin/slipway.cjs')}'; true`], {
      env: { ...process.env, npm_command: 'exec' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    shell.stdout.once('data', () => shell.kill('SIGKILL'));
    assert.equal((await ended(shell)).stdout, 'ready\nstopped\n');
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie that nobody has reaped yet is dead, too.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const require = createRequire(import.meta.url);
const { cause, lastLines } = require('../scripts/install-failure.cjs');
const { acquireLock } = require('../scripts/install-lock.cjs');
const PARTS = ['bin', 'scripts', 'package.json', 'package-lock.json', '.npmrc'];
const NOBODY = 65_534;

/** A clone as the bootstrap sees it: no node_modules, no git. */
function freshTree(): Disposable & { readonly root: string } {
  const root = mkdtempSync(join(tmpdir(), 'slipway-bootstrap-'));
  for (const part of PARTS) cpSync(part, join(root, part), { recursive: true });
  chmodSync(root, 0o755);
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface BootOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  readonly uid?: number;
}

/** Runs `scripts/bootstrap.cjs scripts/hello.ts` in `root`, cut off from every registry. */
function boot(root: string, { env = {}, nodeArgs = [], uid }: BootOptions = {}): Promise<Ended> {
  const offline = {
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_cache: join(root, 'empty-cache'),
    npm_config_fetch_retries: '0',
    SLIPWAY_BOOTSTRAP: 'not JSON',
  };
  const { npm_execpath: _npm, ...inherited } = process.env;
  const args = [...nodeArgs, join(root, 'scripts/bootstrap.cjs'), 'scripts/hello.ts', 'word'];
  const options = {
    cwd: root,
    env: { ...inherited, ...offline, ...env },
    ...(uid !== undefined && { uid, gid: uid }),
  };
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

/** A preload that makes the running Node claim another version: a real old one is not on every machine. */
function pretend(root: string, version: string): readonly string[] {
  const file = join(root, 'pretend.cjs');
  writeFileSync(file, `Object.defineProperty(process.versions, 'node', { value: ${JSON.stringify(version)} });`);
  return ['--require', file];
}

describe('the bootstrap', () => {
  it('reliability/D32: tells a Node that is too old to install anything what to do', async () => {
    using tree = freshTree();
    const { code, stderr } = await boot(tree.root, { nodeArgs: pretend(tree.root, '16.9.1') });
    assert.equal(code, 3);
    assert.equal(
      stderr,
      'slipway: Node 20 or later is needed to install Slipway, which then runs on its own Node 24; this is 16.9.1 (PATH). Install Node 24 from nodejs.org or your distribution\n',
    );
  });

  it('says that the registry cannot be reached, shows what npm said, and leaves nothing that looks installed', async () => {
    using tree = freshTree();
    const { code, stderr } = await boot(tree.root);
    assert.equal(code, 3);
    assert.match(stderr, /could not be installed: the npm registry cannot be reached\. Check the network, proxy/);
    assert.match(stderr, /npm\| /);
    assert.equal(existsSync(join(tree.root, 'node_modules/.slipway-install.json')), false);
    assert.equal(existsSync(join(tree.root, '.slipway/install.lock')), false);
  });

  it('refuses a folder it may not write before npm is started', async (t) => {
    using tree = freshTree();
    const isRoot = process.getuid?.() === 0;
    if (!isRoot) chmodSync(tree.root, 0o555);
    if (isRoot && process.platform !== 'linux')
      return t.skip('as root only Linux can lower the rights of a child');
    const { code, stderr } = await boot(tree.root, isRoot ? { uid: NOBODY } : {});
    chmodSync(tree.root, 0o755);
    assert.equal(code, 3);
    assert.match(
      stderr,
      /^slipway: cannot install into .*: EACCES \(no write permission\)\. Give yourself the folder/,
    );
    assert.doesNotMatch(stderr, /npm\|/);
    assert.doesNotMatch(stderr, /\n {4}at /);
  });

  const lock = readFileSync('package-lock.json');
  const digest = createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex');
  const stamps = [
    { name: 'when the lock file has changed since', stamp: { digest: 'of another lock file' } },
    { name: 'when packages were removed by hand since', stamp: { digest } },
  ];
  for (const { name, stamp } of stamps) {
    it(`installs again ${name}`, async () => {
      using tree = freshTree();
      mkdirSync(join(tree.root, 'node_modules'));
      writeFileSync(join(tree.root, 'node_modules/.slipway-install.json'), JSON.stringify(stamp));
      const { stderr } = await boot(tree.root);
      assert.match(stderr, /installing the dependencies with npm ci/);
    });
  }

  it('survives a stamp that is not JSON', async () => {
    using tree = freshTree();
    mkdirSync(join(tree.root, 'node_modules'));
    writeFileSync(join(tree.root, 'node_modules/.slipway-install.json'), '{"dig');
    const { code, stderr } = await boot(tree.root);
    assert.equal(code, 3);
    assert.doesNotMatch(stderr, /SyntaxError/);
  });
});

describe('what npm printed', () => {
  const cases = [
    {
      name: 'a full disk',
      output: 'npm error code ENOSPC',
      want: /: the disk of \/x \(or of npm's cache\) is full\. Free/,
    },
    { name: 'missing rights', output: 'npm error code EACCES', want: /npm may not write below \/x/ },
    { name: 'no network', output: 'npm error code EAI_AGAIN', want: /registry cannot be reached/ },
    { name: 'a changed package', output: 'npm error code EINTEGRITY', want: /not the one that was locked/ },
    { name: 'a mirror with holes', output: 'npm error code E404', want: /does not serve a package/ },
    {
      name: 'a second installer',
      output: 'npm error code ENOTEMPTY',
      want: /something else changes \/x\/node_modules/,
    },
    { name: 'no npm at all', output: 'ENOENT: cannot run npm: spawn npm ENOENT', want: /npm is not on the PATH/ },
    { name: 'something new', output: 'npm error ESURPRISE', want: /npm gave no reason known to us/ },
  ];
  for (const { name, output, want } of cases) {
    it(`becomes one sentence for ${name}`, () => assert.match(cause(output, '/x'), want));
  }

  it('is cut to its last lines', () => assert.equal(lastLines('a\nb\nc\n', 2), '  npm| b\n  npm| c'));
});

describe('the install lock', () => {
  function lockFile(): Disposable & { readonly file: string } {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-lock-'));
    return { file: join(folder, 'lock'), [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
  }

  it('is taken over from a process that died without letting go', async () => {
    using place = lockFile();
    writeFileSync(place.file, '[{"pid":999999999,"started":"1"}]');
    const lock = await acquireLock(place.file, () => assert.fail('waited for a dead process'));
    assert.equal(JSON.parse(readFileSync(place.file, 'utf8'))[0].pid, process.pid);
    lock.release();
    assert.equal(existsSync(place.file), false);
  });

  it('is taken over when the process id now belongs to another process', async () => {
    using place = lockFile();
    writeFileSync(place.file, JSON.stringify([{ pid: process.pid, started: 'long ago' }]));
    const lock = await acquireLock(place.file, () => assert.fail('waited for a stranger'));
    lock.release();
  });

  it('is kept by an installer that outlives the process which started it', async () => {
    using place = lockFile();
    const installer = spawn(process.execPath, ['--eval', 'process.stdin.resume()']);
    const first = await acquireLock(place.file, () => {});
    first.share(installer.pid);
    const [own, shared] = JSON.parse(readFileSync(place.file, 'utf8'));
    writeFileSync(place.file, JSON.stringify([{ ...own, started: 'killed' }, shared]));
    const second = await acquireLock(place.file, (text: string) => {
      assert.equal(text, `process ${installer.pid} is installing here already; waiting for it`);
      installer.kill();
    });
    second.release();
  });

  it('makes the second one wait, and says so once', async () => {
    using place = lockFile();
    const said: string[] = [];
    const first = await acquireLock(place.file, () => {});
    const second = acquireLock(place.file, (text: string) => {
      said.push(text);
      first.release();
    });
    (await second).release();
    assert.deepEqual(said, [`process ${process.pid} is installing here already; waiting for it`]);
  });
});

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { asUser, cloneTree } from './as-a-user.ts';

const START = ['start', '--', '--once'] as const;

describe('a fresh clone', () => {
  const root = mkdtempSync(join(tmpdir(), 'slipway-clone-'));
  const clone = join(root, 'clone');
  cloneTree(clone);
  after(() => rmSync(root, { recursive: true, force: true }));

  it('installs what it needs and runs the main job with npm start as the only command', async () => {
    const { code, stdout, stderr } = await asUser('npm', START, { cwd: clone });
    assert.equal(code, 0, stderr);
    assert.match(stderr, /✔ dependencies {2}\d+ packages {2}\d+\.\d s/);
    assert.match(stdout, /journey/);
  });

  it('installs nothing the second time', async () => {
    const { code, stderr } = await asUser('npm', START, { cwd: clone });
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /dependencies/);
  });

  it('repairs a node_modules from which a package was removed', async () => {
    rmSync(join(clone, 'node_modules/yaml'), { recursive: true });
    const { code, stderr } = await asUser('npm', START, { cwd: clone });
    assert.equal(code, 0, stderr);
    assert.match(stderr, /✔ dependencies/);
  });

  it('survives a bootstrap that is killed half-way and leaves npm running', async () => {
    const killed = join(root, 'killed');
    cloneTree(killed);
    const lock = join(killed, '.slipway/install.lock');
    const first = asUser('npm', START, { cwd: killed });
    await until(() => holders(lock).length === 2 && existsSync(join(killed, 'node_modules')));
    process.kill(holders(lock)[0] ?? 0, 'SIGKILL');
    await first;
    const { code, stderr } = await asUser('npm', START, { cwd: killed });
    assert.equal(code, 0, stderr);
    assert.match(stderr, /process \d+ is installing here already; waiting for it\n(.*\n)*.*✔ dependencies/);
  });

  it('says that the disk is full, and exits 3', async (t) => {
    const [small, bare] = [join(root, 'small'), join(root, 'bare')];
    cloneTree(bare);
    mkdirSync(small);
    // Few inodes instead of few bytes: the check of free space before the install cannot see it coming.
    const inodes = readdirSync(bare, { recursive: true }).length + 1000;
    const script = `mount -t tmpfs -o size=2g,nr_inodes=${inodes} none "$1" && cp -a "$2/." "$1" && cd "$1" && npm start -- --once`;
    const isolated = await asUser('unshare', ['--user', '--map-root-user', '--mount', 'true'], { cwd: root });
    if (isolated.code !== 0) return t.skip('this machine does not allow user namespaces');
    const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', small, bare];
    const { code, stderr } = await asUser('unshare', args, { cwd: root });
    assert.equal(code, 3, stderr);
    assert.match(
      stderr,
      /slipway: the dependencies could not be installed: the disk of .* is full\. Free some space/,
    );
  });
});

/** Process ids in the lock file: the bootstrap and the npm it started. */
function holders(file: string): readonly number[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).map(({ pid }: { pid: number }) => pid);
  } catch {
    return [];
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20));
}

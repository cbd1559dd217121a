import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import { mountPoints, removeTree } from './tree-removal.ts';

// Not everywhere, and not needed: the test is skipped without it.
const UNSHARE = 'unshare';
const nothing = async () => '';
const line = (point: string) =>
  `36 35 98:0 /mnt1 ${point} rw,noatime master:1 - ext3 /dev/root rw,errors=continue`;

describe('removeTree', () => {
  it('lab/N32: removes everything below, whatever a container did to it', async () => {
    await using scratch = await scratchDirectory();
    const tree = join(scratch.path, 'pod');
    await mkdir(join(tree, 'a/b/c'), { recursive: true });
    await writeFile(join(tree, 'a/b/file'), 'x', { mode: 0o000 });
    await chmod(join(tree, 'a/b'), 0o000);
    await removeTree(tree, nothing);
    assert.deepEqual(await readdir(scratch.path), []);
  });

  it('lab/N32: is done when there is nothing', async () => {
    await using scratch = await scratchDirectory();
    await removeTree(join(scratch.path, 'none'), nothing);
    await removeTree(join(scratch.path, 'none/deeper'), nothing);
  });

  it('lab/N32: removes links, and nothing behind them', async () => {
    await using scratch = await scratchDirectory();
    const [tree, kept] = [join(scratch.path, 'pod'), join(scratch.path, 'kept')];
    await mkdir(tree);
    await mkdir(kept);
    await writeFile(join(kept, 'file'), 'x');
    await symlink(kept, join(tree, 'directory'));
    await symlink(join(kept, 'file'), join(tree, 'file'));
    await symlink('nowhere', join(tree, 'dangling'));
    await removeTree(tree, nothing);
    assert.deepEqual(await readdir(scratch.path), ['kept']);
    assert.deepEqual(await readdir(kept), ['file']);
    await symlink(kept, tree);
    await removeTree(tree, nothing);
    assert.deepEqual(await readdir(kept), ['file']);
    assert.deepEqual(await readdir(scratch.path), ['kept']);
  });

  it('lab/N32: touches nothing while something is mounted below', async () => {
    await using scratch = await scratchDirectory();
    const tree = join(await realpath(scratch.path), 'pod');
    await mkdir(join(tree, 'volumes/data'), { recursive: true });
    await writeFile(join(tree, 'first'), 'x');
    const point = join(tree, 'volumes/data');
    const mounted = async () => [line('/'), line(`${tree}-other`), line(point)].join('\n');
    await assert.rejects(removeTree(tree, mounted), {
      reason: 'StillMounted',
      message: `${point} is mounted; it must be unmounted before the pod's directory is removed`,
    });
    assert.deepEqual((await readdir(tree)).sort(), ['first', 'volumes']);
    await removeTree(tree, async () => line(`${tree}-other`));
    await assert.rejects(lstat(tree), { code: 'ENOENT' });
  });

  it('lab/N32: stops at a directory of another device, though no table tells of it', async (context) => {
    await using scratch = await scratchDirectory();
    const tree = join(await realpath(scratch.path), 'pod');
    await mkdir(join(tree, 'mounted'), { recursive: true });
    // A file system of its own, which only this child sees: that takes no rights where the kernel allows it.
    const script = `
      import { mkdir, writeFile, readdir } from 'node:fs/promises';
      import { removeTree } from ${JSON.stringify(fileURLToPath(new URL('./tree-removal.ts', import.meta.url)))};
      await writeFile(${JSON.stringify(join(tree, 'mounted/file'))}, 'x');
      const how = (info) => removeTree(${JSON.stringify(tree)}, info).then(() => 'removed', (error) => error.reason);
      const results = [await how(), await how(async () => '')];
      console.log(results.join(), (await readdir(${JSON.stringify(join(tree, 'mounted'))})).join());`;
    const mount = `mount -t tmpfs none '${tree}/mounted' || exit 77; exec "$0" --input-type=module -e "$1"`;
    const args = ['-Urm', 'sh', '-c', mount, process.execPath, script];
    const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(UNSHARE, args, { timeout: 30_000 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : error.code, output: `${stdout}${stderr}` }),
      );
    });
    if (code === 77 || code === 'ENOENT' || /unshare failed|Operation not permitted/.test(output)) {
      return context.skip('this kernel lets nobody mount without rights');
    }
    assert.match(output, /^StillMounted,StillMounted file\n/);
  });
});

describe('mountPoints', () => {
  it('reads the fifth column, with its octal characters', () => {
    const text = [line('/'), line('/a\\040b\\011c'), '', 'short line'].join('\n');
    assert.deepEqual(mountPoints(text), ['/', '/a b\tc']);
  });
});

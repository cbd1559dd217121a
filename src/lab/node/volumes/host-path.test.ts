import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import { ensureHostPath, locateHostPath } from './host-path.ts';
import { cleanPath, isInside, pathInRoot } from './node-root.ts';

/** A node with a directory, a file and a socket, beside something that it must not reach. */
async function nodeFiles() {
  const scratch = await scratchDirectory();
  const root = join(await realpath(scratch.path), 'n');
  await mkdir(join(root, 'dir/deep'), { recursive: true });
  await writeFile(join(root, 'file'), 'f');
  await writeFile(join(root, '../outside'), 'secret');
  const server = createServer().listen(join(root, 'sock'));
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    root,
    realPaths: [] as readonly string[],
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => server.close(resolve));
      await scratch[Symbol.asyncDispose]();
    },
  };
}

describe('ensureHostPath', () => {
  for (const { type, path, message } of [
    { type: 'Directory', path: '/none', message: 'hostPath type check failed: /none is not a directory' },
    { type: 'Directory', path: '/file', message: 'hostPath type check failed: /file is not a directory' },
    { type: 'DirectoryOrCreate', path: '/file', message: 'hostPath type check failed: /file is not a directory' },
    { type: 'File', path: '/none', message: 'hostPath type check failed: /none is not a file' },
    { type: 'File', path: '/dir', message: 'hostPath type check failed: /dir is not a file' },
    { type: 'FileOrCreate', path: '/dir', message: 'hostPath type check failed: /dir is not a file' },
    { type: 'FileOrCreate', path: '/none/f', message: 'hostPath type check failed: /none/f is not a file' },
    { type: 'Socket', path: '/file', message: 'hostPath type check failed: /file is not a socket file' },
    { type: 'Socket', path: '/none', message: 'hostPath type check failed: /none is not a socket file' },
    { type: 'CharDevice', path: '/file', message: 'hostPath type check failed: /file is not a character device' },
    { type: 'BlockDevice', path: '/file', message: 'hostPath type check failed: /file is not a block device' },
  ] as const) {
    it(`lab/N29: refuses ${path} as ${type}`, async () => {
      await using node = await nodeFiles();
      const refused = { name: 'VolumeProblem', reason: 'FailedMount', message };
      await assert.rejects(ensureHostPath(node, { path, type }), refused);
      assert.deepEqual((await readdir(node.root)).sort(), ['dir', 'file', 'sock']);
    });
  }

  for (const { type, path } of [
    { type: 'Directory', path: '/dir' },
    { type: 'DirectoryOrCreate', path: '/dir/' },
    { type: 'File', path: '/file' },
    { type: 'FileOrCreate', path: '/file' },
    { type: 'Socket', path: '/sock' },
    { type: '', path: '/file' },
    { type: '', path: '/dir//deep/.' },
  ] as const) {
    it(`lab/N29: takes ${path} as ${type === '' ? 'anything' : type}, below the root of the node`, async () => {
      await using node = await nodeFiles();
      const { source } = await ensureHostPath(node, { path, type });
      assert.equal(source, join(node.root, cleanPath(path)));
    });
  }

  for (const { type, isDirectory } of [
    { type: '', isDirectory: true },
    { type: 'DirectoryOrCreate', isDirectory: true },
    { type: 'FileOrCreate', isDirectory: false },
  ] as const) {
    it(`lab/N29: makes what is missing for ${type === '' ? 'no type' : type}, once`, async () => {
      await using node = await nodeFiles();
      const path = isDirectory ? '/new/deep' : '/new';
      const { source } = await ensureHostPath(node, { path, type });
      await ensureHostPath(node, { path, type });
      const found = await lstat(source);
      assert.equal(found.isDirectory(), isDirectory);
      assert.equal(found.mode & 0o777, isDirectory ? 0o755 : 0o644);
    });
  }

  it('refuses a type that does not exist', async () => {
    await using node = await nodeFiles();
    const type = 'Sock' as 'Socket';
    await assert.rejects(ensureHostPath(node, { path: '/sock', type }), {
      message: 'Sock is an invalid volume type',
    });
  });

  it('lab/N29: cannot leave the root of the node by .. or by a link', async () => {
    await using node = await nodeFiles();
    const { root } = node;
    await symlink('../outside', join(root, 'up'));
    await symlink('/outside', join(root, 'absolute'));
    await symlink('../../../../../../etc', join(root, 'dir/far'));
    await symlink('/', join(root, 'top'));
    const at = (path: string) => pathInRoot(root, path);
    assert.equal(await at('/../outside'), join(root, 'outside'));
    assert.equal(await at('/dir/../../outside'), join(root, 'outside'));
    assert.equal(await at('/up'), join(root, 'outside'));
    assert.equal(await at('/absolute'), join(root, 'outside'));
    assert.equal(await at('/dir/far/passwd'), join(root, 'etc/passwd'));
    assert.equal(await at('/top/top/file'), join(root, 'file'));
    await assert.rejects(ensureHostPath(node, { path: '/up', type: 'File' }), /\/up is not a file/);
  });

  it('follows links inside the node, also those that the lab made by real paths', async () => {
    await using node = await nodeFiles();
    const { root } = node;
    await symlink('dir/deep', join(root, 'relative'));
    await symlink(join(root, 'file'), join(root, 'real'));
    assert.equal(await pathInRoot(root, '/relative/../deep'), join(root, 'dir/deep'));
    assert.equal(await pathInRoot(root, '/real'), join(root, 'file'));
  });

  it('gives up on links that go in a circle', async () => {
    await using node = await nodeFiles();
    await symlink('b', join(node.root, 'a'));
    await symlink('a', join(node.root, 'b'));
    await assert.rejects(pathInRoot(node.root, '/a'), { message: '/a: too many levels of symbolic links' });
  });

  it('lab/N29: shows real paths of the machine only where they are allowed, and makes nothing there', async () => {
    await using node = await nodeFiles();
    await using machine = await scratchDirectory();
    const real = await realpath(machine.path);
    await mkdir(join(real, 'sys/class'), { recursive: true });
    await symlink('class', join(real, 'sys/inside'));
    await symlink('/etc', join(real, 'sys/outside'));
    const files = { ...node, realPaths: [join(real, 'sys')] };
    const path = (name: string) => ({ path: join(real, name) });
    const found = await ensureHostPath(files, { ...path('sys/class'), type: 'Directory' });
    assert.deepEqual(found, { source: join(real, 'sys/class'), isReal: true });
    assert.equal((await locateHostPath(files, path('sys/inside').path)).source, join(real, 'sys/class'));
    await assert.rejects(
      ensureHostPath(files, path('sys/outside')),
      /leads to \/etc, which this node may not see/,
    );
    await assert.rejects(ensureHostPath(files, path('sys/new')), /the lab makes nothing there/);
    const created = { ...path('sys/new'), type: 'DirectoryOrCreate' as const };
    await assert.rejects(ensureHostPath(files, created), /is not a directory/);
    assert.deepEqual((await readdir(join(real, 'sys'))).sort(), ['class', 'inside', 'outside']);
    // A neighbour with the same beginning is not below.
    assert.equal((await locateHostPath(files, path('system').path)).isReal, false);
  });
});

describe('paths', () => {
  for (const [given, want] of [
    ['/a/b/', '/a/b'],
    ['a//b/./c/..', '/a/b'],
    ['/../..', '/'],
    ['', '/'],
  ] as const) {
    it(`cleans ${given}`, () => assert.equal(cleanPath(given), want));
  }

  it('tells what is inside', () => {
    assert.ok(isInside('/', '/a') && isInside('/a', '/a') && isInside('/a', '/a/b'));
    assert.ok(!isInside('/a', '/ab') && !isInside('/a/b', '/a'));
  });
});

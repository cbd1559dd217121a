import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { openCompileCache } from './compile-cache.ts';

const user = process.geteuid?.() ?? 0;

describe('the compile cache of children', () => {
  it('is a directory of the user alone, and the same one the next time', async () => {
    await using scratch = await scratchDirectory();
    const first = await openCompileCache({ base: scratch.path });
    assert.equal((await stat(first ?? '')).mode & 0o777, 0o700);
    await writeFile(join(first ?? '', 'kept'), 'x');
    assert.equal(await openCompileCache({ base: scratch.path }), first);
    assert.deepEqual(await readdir(first ?? ''), ['kept']);
  });

  it('is not one that others can write to', async () => {
    await using scratch = await scratchDirectory();
    const directory = (await openCompileCache({ base: scratch.path })) ?? '';
    await chmod(directory, 0o770);
    assert.equal(await openCompileCache({ base: scratch.path }), undefined);
  });

  it('is not one that somebody else made', async () => {
    await using scratch = await scratchDirectory();
    await mkdir(join(scratch.path, `slipway-compile-cache-${user + 1}`), { mode: 0o700 });
    assert.equal(await openCompileCache({ base: scratch.path, user: user + 1 }), undefined);
  });

  it('is not behind a link', async () => {
    await using scratch = await scratchDirectory();
    const elsewhere = join(scratch.path, 'elsewhere');
    await mkdir(elsewhere, { mode: 0o700 });
    await symlink(elsewhere, join(scratch.path, `slipway-compile-cache-${user}`));
    assert.equal(await openCompileCache({ base: scratch.path }), undefined);
  });

  it('starts anew when it has become large', async () => {
    await using scratch = await scratchDirectory();
    const directory = (await openCompileCache({ base: scratch.path })) ?? '';
    for (const name of ['a', 'b', 'c']) await writeFile(join(directory, name), 'x');
    assert.equal(await openCompileCache({ base: scratch.path, mostFiles: 2 }), directory);
    assert.deepEqual(await readdir(directory), []);
  });

  it('counts what is in the directories that Node makes in it', async () => {
    await using scratch = await scratchDirectory();
    const directory = (await openCompileCache({ base: scratch.path })) ?? '';
    for (const version of ['v1', 'v2']) {
      await mkdir(join(directory, version));
      await writeFile(join(directory, version, 'module'), 'x');
    }
    assert.equal(await openCompileCache({ base: scratch.path, mostFiles: 4 }), directory);
    assert.deepEqual((await readdir(directory)).sort(), ['v1', 'v2']);
    await openCompileCache({ base: scratch.path, mostFiles: 3 });
    assert.deepEqual(await readdir(directory), []);
  });

  it('is done without where none can be made', async () => {
    await using scratch = await scratchDirectory();
    const file = join(scratch.path, 'file');
    await writeFile(file, 'x');
    assert.equal(await openCompileCache({ base: file }), undefined);
  });
});

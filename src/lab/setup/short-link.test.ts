import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { shortLink } from './short-link.ts';

const long = (path: string) => join(path, 'a'.repeat(40));

describe('shortLink', () => {
  const parents = () => mkdtempDisposable('/tmp/p-');

  it('lab/N34: takes a short path as it is', async () => {
    await using parent = await parents();
    using link = shortLink('/srv/lab', [parent.path]);
    assert.equal(link.path, '/srv/lab');
    assert.deepEqual(readdirSync(parent.path), []);
  });

  it('lab/N34: leads to a long one by the same short path each time, and leaves nothing', async () => {
    await using folder = await scratchDirectory();
    await using parent = await parents();
    mkdirSync(long(folder.path));
    const paths = [1, 2].map(() => {
      using link = shortLink(long(folder.path), [parent.path]);
      assert.ok(link.path.length <= 32, link.path);
      writeFileSync(join(link.path, 'x'), '');
      assert.equal(readlinkSync(link.path), long(folder.path));
      return link.path;
    });
    assert.equal(paths[0], paths[1]);
    assert.ok(existsSync(join(long(folder.path), 'x')));
    assert.deepEqual(readdirSync(parent.path), []);
  });

  it('lab/N34: goes on after a life that left its link', async () => {
    await using folder = await scratchDirectory();
    await using parent = await parents();
    const first = shortLink(long(folder.path), [parent.path]);
    using second = shortLink(long(folder.path), [parent.path]);
    assert.equal(second.path, first.path);
  });

  it('lab/P16: removes what killed labs left, once their directories are gone, and nothing else', async () => {
    await using folder = await scratchDirectory();
    await using parent = await parents();
    const [gone, alive] = ['gone', 'alive'].map((name) => join(long(folder.path), name));
    for (const path of [gone, alive]) mkdirSync(path ?? '', { recursive: true });
    const left = shortLink(gone ?? '', [parent.path]);
    const kept = shortLink(alive ?? '', [parent.path]);
    rmSync(gone ?? '', { recursive: true });
    // Somebody else's, and one that is only being made.
    for (const name of ['sw-12345678', 'sw-0123456789']) mkdirSync(join(parent.path, name));
    symlinkSync('/nowhere', join(parent.path, 'sw-12345678', 'd'));
    mkdirSync(long(folder.path), { recursive: true });
    using mine = shortLink(long(folder.path), [parent.path]);
    assert.deepEqual(
      readdirSync(parent.path).toSorted(),
      [kept.path, mine.path, join(parent.path, 'sw-12345678', 'd'), join(parent.path, 'sw-0123456789', 'd')]
        .map((path) => basename(dirname(path)))
        .toSorted(),
    );
    assert.equal(existsSync(dirname(left.path)), false);
  });

  it('lab/N34: refuses what is not ours alone, and a parent without room', async () => {
    await using parent = await parents();
    const path = long('/srv');
    const link = shortLink(path, [parent.path]);
    chmodSync(dirname(link.path), 0o777);
    assert.throws(() => shortLink(path, [parent.path]), {
      reason: 'DataPathTooLong',
      message: /which is not ours$/,
    });
    link[Symbol.dispose]();
    writeFileSync(dirname(link.path), '');
    assert.throws(() => shortLink(path, [parent.path]), {
      reason: 'DataPathTooLong',
      message: /which is not ours$/,
    });
    assert.throws(() => shortLink(path, [long('/tmp')]), { reason: 'DataPathTooLong', message: /have no room/ });
  });
});

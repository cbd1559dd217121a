import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { fileOnPath, makeFolder } from './make-folder.ts';

describe('makeFolder', () => {
  it('makes what is missing, and is content with what is there', async () => {
    await using place = await scratchDirectory();
    const folder = join(place.path, 'a', 'b', 'c');
    await makeFolder(folder);
    await makeFolder(folder);
    assert.ok(existsSync(folder));
  });

  it('ends where a parent takes no folders, or is a file', async () => {
    await using place = await scratchDirectory();
    writeFileSync(join(place.path, 'file'), '');
    await assert.rejects(makeFolder(join(place.path, 'file', 'a')), { code: 'ENOTDIR' });
    await assert.rejects(makeFolder(join(place.path, 'file')), { code: 'EEXIST' });
    if (existsSync('/proc/self')) await assert.rejects(makeFolder('/proc/slipway/a'), { code: 'ENOENT' });
  });
});

describe('fileOnPath', () => {
  it('names what is where a folder has to be, however far up', async () => {
    await using place = await scratchDirectory();
    const file = join(place.path, 'file');
    writeFileSync(file, '');
    assert.equal(await fileOnPath(file), file);
    assert.equal(await fileOnPath(join(file, 'a', 'b')), file);
    assert.equal(await fileOnPath(join(place.path, 'a', 'b')), undefined);
    assert.equal(await fileOnPath(place.path), undefined);
  });
});

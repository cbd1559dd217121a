import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import {
  copyDirectoryImage,
  directoryImageStats,
  directoryOfImage,
  openDirectoryImage,
} from './directory-image.ts';
import { copyByHand, copySparse } from './sparse-copy.ts';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const volume = { name: 'v', sizeGiB: 1, zone: 'a' };

const volumeImage = (world: CloudWorld, id: string) => join(world.directory, 'cloud', 'volumes', `${id}.img`);
const snapshotImage = (world: CloudWorld, id: string) => join(world.directory, 'cloud', 'snapshots', `${id}.img`);
const write = (path: string, text: string) => writeFileSync(path, text, { flag: 'r+' });
const begin = (path: string, length: number): string => {
  const descriptor = openSync(path, 'r');
  const bytes = Buffer.alloc(length);
  readSync(descriptor, bytes);
  closeSync(descriptor);
  return bytes.toString();
};

async function worldWithVolume(): Promise<{ readonly world: CloudWorld; readonly v: string }> {
  const world = await cloudWorld();
  const v = await world.make('volumes', volume);
  await world.pass(2000);
  return { world, v };
}

describe('snapshots', () => {
  it('lab/C20: are what the volume was at the moment of the call', async () => {
    const { world, v } = await worldWithVolume();
    await using _ = world;
    write(volumeImage(world, v), 'before');
    const made = await world.ask('POST', '/v1/snapshots', { body: { name: 's', volumeId: v } });
    write(volumeImage(world, v), 'after!');
    assert.deepEqual(
      [made.status, made.body['state'], made.body['progress'], made.body['sizeGiB']],
      [202, 'pending', 0, 1],
    );
    await world.pass(1000);
    const id = String(made.body['id']);
    assert.equal((await world.look('snapshots', id))['progress'], 49);
    await world.pass(1000);
    const ready = await world.look('snapshots', id);
    assert.deepEqual([ready['state'], ready['progress']], ['ready', 100]);
    assert.equal(begin(snapshotImage(world, id), 6), 'before');
    const { size, blocks } = statSync(snapshotImage(world, id));
    assert.equal(size, GIB);
    assert.ok(blocks * 512 < MIB, 'they are as sparse as the volume');
  });

  it('lab/C20: make volumes that are as large, or larger', async () => {
    const { world, v } = await worldWithVolume();
    await using _ = world;
    write(volumeImage(world, v), 'content');
    const snapshotId = await world.make('snapshots', { name: 's', volumeId: v });
    await world.pass(2000);
    const same = await world.make('volumes', { name: 'r', zone: 'b', snapshotId });
    const larger = await world.make('volumes', { name: 'r', zone: 'b', snapshotId, sizeGiB: 3 });
    await world.pass(2000);
    assert.equal((await world.look('volumes', same))['sizeGiB'], 1);
    assert.equal(statSync(volumeImage(world, larger)).size, 3 * GIB);
    for (const id of [same, larger]) assert.equal(begin(volumeImage(world, id), 7), 'content');
    await world.ask('PATCH', `/v1/volumes/${v}`, { body: { sizeGiB: 2 } });
    const second = await world.make('snapshots', { name: 's', volumeId: v });
    await world.pass(2000);
    const { status, error } = await world.ask('POST', '/v1/volumes', {
      body: { ...volume, snapshotId: second },
    });
    assert.deepEqual([status, error['target']], [400, 'sizeGiB']);
    assert.match(String(error['message']), /needs at least 2 GiB/);
  });

  it('lab/C20: outlive their volume', async () => {
    const { world, v } = await worldWithVolume();
    await using _ = world;
    write(volumeImage(world, v), 'content');
    const snapshotId = await world.make('snapshots', { name: 's', volumeId: v });
    await world.pass(2000);
    await world.ask('DELETE', `/v1/volumes/${v}`);
    await world.pass(1000);
    const restored = await world.make('volumes', { name: 'r', zone: 'a', snapshotId });
    await world.pass(2000);
    assert.equal(begin(volumeImage(world, restored), 7), 'content');
  });

  it('lab/C20: cannot be deleted while a volume is being made from them', async () => {
    const { world, v } = await worldWithVolume();
    await using _ = world;
    const snapshotId = await world.make('snapshots', { name: 's', volumeId: v });
    await world.pass(2000);
    const volumeId = await world.make('volumes', { name: 'r', zone: 'a', snapshotId });
    const { status, error } = await world.ask('DELETE', `/v1/snapshots/${snapshotId}`);
    assert.deepEqual([status, error['code'], error['details']], [409, 'InUse', { volumeId }]);
    await world.pass(2000);
    assert.equal((await world.ask('DELETE', `/v1/snapshots/${snapshotId}`)).status, 202);
    assert.ok(!existsSync(snapshotImage(world, snapshotId)));
  });

  it('lab/C20: are not made of volumes that are not there yet, nor volumes of snapshots that are not', async () => {
    await using world = await cloudWorld();
    const v = await world.make('volumes', volume);
    const early = await world.ask('POST', '/v1/snapshots', { body: { name: 's', volumeId: v } });
    assert.deepEqual([early.status, early.error['code'], early.error['retryable']], [409, 'IncorrectState', true]);
    const nothing = await world.ask('POST', '/v1/snapshots', {
      body: { name: 's', volumeId: 'vol-000000000000' },
    });
    assert.deepEqual([nothing.status, nothing.error['target']], [404, 'volumeId']);
    await world.pass(2000);
    const snapshotId = await world.make('snapshots', { name: 's', volumeId: v });
    const pending = await world.ask('POST', '/v1/volumes', { body: { name: 'r', zone: 'a', snapshotId } });
    assert.deepEqual(
      [pending.status, pending.error['code'], pending.error['retryable']],
      [409, 'IncorrectState', true],
    );
  });

  it('lab/C20: are in error when the volume cannot be copied', async () => {
    const { world, v } = await worldWithVolume();
    await using _ = world;
    rmSync(volumeImage(world, v));
    const id = await world.make('snapshots', { name: 's', volumeId: v });
    await world.pass(2000);
    const failed = await world.look('snapshots', id);
    assert.deepEqual([failed['state'], failed['progress']], ['error', 0]);
    assert.deepEqual(failed['stateReason'], { code: 'Internal', message: 'the volume could not be copied' });
    assert.equal((await world.ask('DELETE', `/v1/snapshots/${id}`)).status, 202);
  });

  it('lab/C20: whose data is gone make volumes in error, which can be deleted', async () => {
    const { world, v } = await worldWithVolume();
    await using _ = world;
    const snapshotId = await world.make('snapshots', { name: 's', volumeId: v });
    await world.pass(2000);
    rmSync(snapshotImage(world, snapshotId));
    const id = await world.make('volumes', { name: 'r', zone: 'a', snapshotId });
    await world.pass(2000);
    const failed = await world.look('volumes', id);
    assert.equal(failed['state'], 'error');
    assert.match(JSON.stringify(failed['stateReason']), /the data of snapshot .* is gone/);
    assert.equal((await world.ask('DELETE', `/v1/volumes/${id}`)).status, 202);
  });

  it('lab/C21: take the directory image with them, and volumes made of them have it', async () => {
    const { world, v } = await worldWithVolume();
    await using _ = world;
    const directory = await openDirectoryImage(volumeImage(world, v));
    writeFileSync(join(directory, 'file'), 'before');
    const snapshotId = await world.make('snapshots', { name: 's', volumeId: v });
    writeFileSync(join(directory, 'file'), 'after');
    await world.pass(2000);
    const restored = await world.make('volumes', { name: 'r', zone: 'a', snapshotId });
    await world.pass(2000);
    const copy = await openDirectoryImage(volumeImage(world, restored));
    assert.equal(readFileSync(join(copy, 'file'), 'utf8'), 'before');
    for (const id of [v, restored]) await world.ask('DELETE', `/v1/volumes/${id}`);
    await world.pass(1000);
    await world.ask('DELETE', `/v1/snapshots/${snapshotId}`);
    for (const gone of [directory, copy, directoryOfImage(snapshotImage(world, snapshotId))])
      assert.ok(!existsSync(gone));
  });
});

describe('copies of disk images', () => {
  for (const { name, copy } of [
    { name: 'by whatever can', copy: copySparse },
    { name: 'by hand', copy: copyByHand },
  ]) {
    it(`lab/C20: made ${name} have the same bytes, and holes where there are zeros`, async () => {
      await using directory = await scratchDirectory();
      const [source, target] = [join(directory.path, 'a.img'), join(directory.path, 'b.img')];
      const bytes = Buffer.alloc(8 * MIB + 123);
      bytes.write('begin', 0);
      bytes.write('middle', 3 * MIB + 4090);
      bytes.write('end', bytes.length - 3);
      writeFileSync(source, bytes);
      await copy(source, target);
      assert.ok(readFileSync(target).equals(bytes));
      assert.ok(statSync(target).blocks * 512 < MIB);
    });

    it(`lab/C20: made ${name} of a disk that nobody has written to read nothing`, async () => {
      await using directory = await scratchDirectory();
      const [source, target] = [join(directory.path, 'a.img'), join(directory.path, 'b.img')];
      writeFileSync(source, '');
      truncateSync(source, 1000 * GIB);
      await copy(source, target);
      const { size, blocks } = statSync(target);
      assert.deepEqual([size, blocks], [1000 * GIB, 0]);
    });
  }

  it('lab/C20: are whole or not there', async () => {
    await using directory = await scratchDirectory();
    await assert.rejects(copySparse(join(directory.path, 'missing'), join(directory.path, 'b.img')));
    assert.ok(!existsSync(join(directory.path, 'b.img')));
    assert.ok(!existsSync(join(directory.path, 'b.img.partial')));
  });
});

describe('directory images', () => {
  it('lab/C21: tell how much of the volume is used', async () => {
    await using directory = await scratchDirectory();
    const image = join(directory.path, 'vol-1.img');
    writeFileSync(image, Buffer.alloc(MIB));
    const empty = await directoryImageStats(image);
    assert.deepEqual(empty, {
      bytes: { total: MIB, used: 0, available: MIB },
      inodes: { total: 64, used: 0, available: 64 },
    });
    const content = await openDirectoryImage(image);
    mkdirSync(join(content, 'sub'));
    writeFileSync(join(content, 'sub', 'file'), Buffer.alloc(100_000, 'x'));
    const { bytes, inodes } = await directoryImageStats(image);
    assert.ok(bytes.used >= 100_000 && bytes.used < 200_000, String(bytes.used));
    assert.equal(bytes.used + bytes.available, MIB);
    assert.equal(inodes.used, 2);
    writeFileSync(join(content, 'large'), Buffer.alloc(2 * MIB, 'x'));
    assert.equal((await directoryImageStats(image)).bytes.available, 0, 'nothing keeps it from being too full');
  });

  it('lab/C21: are copied with links and modes, over an older copy', async () => {
    await using directory = await scratchDirectory();
    const [source, target] = [join(directory.path, 'a.img'), join(directory.path, 'b.img')];
    for (const image of [source, target]) writeFileSync(image, '');
    const content = await openDirectoryImage(source);
    writeFileSync(join(content, 'tool'), '#!');
    chmodSync(join(content, 'tool'), 0o755);
    symlinkSync('tool', join(content, 'link'));
    writeFileSync(join(await openDirectoryImage(target), 'old'), '');
    await copyDirectoryImage(source, target);
    const copy = directoryOfImage(target);
    assert.ok(!existsSync(join(copy, 'old')));
    assert.equal(statSync(join(copy, 'tool')).mode & 0o777, 0o755);
    assert.ok(lstatSync(join(copy, 'link')).isSymbolicLink());
    assert.equal(readFileSync(join(copy, 'link'), 'utf8'), '#!');
  });

  it('lab/C21: need an image: there is no directory of nothing', async () => {
    await using directory = await scratchDirectory();
    await assert.rejects(openDirectoryImage(join(directory.path, 'missing.img')), /ENOENT/);
  });
});

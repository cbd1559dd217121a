import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, readdir, readFile, readlink, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { writeAtomically } from './atomic-writer.ts';
import type { FilePayload } from './file-payload.ts';

const payload = (files: Readonly<Record<string, string>>, mode = 0o644): FilePayload =>
  new Map(Object.entries(files).map(([path, text]) => [path, { bytes: Buffer.from(text), mode }]));

const clockAt = (start = new Date('2030-01-02T03:04:05Z')) => new VirtualClock({ start });

/** What a reader sees through the links, without anything that begins with two dots. */
async function visible(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory)).filter((name) => !name.startsWith('..'));
  const found: Record<string, string> = {};
  for (const name of names) await readInto(join(directory, name), name, found);
  return found;
}

async function readInto(path: string, name: string, found: Record<string, string>): Promise<void> {
  const real = await realpath(path);
  if (!(await lstat(real)).isDirectory()) {
    found[name] = await readFile(real, 'utf8');
    return;
  }
  for (const below of await readdir(real)) await readInto(join(real, below), `${name}/${below}`, found);
}

const hidden = async (directory: string) =>
  (await readdir(directory)).filter((name) => name.startsWith('..')).sort();

describe('writeAtomically', () => {
  it('lab/N27: keeps files in a directory of their time, behind ..data and one link per name at the top', async () => {
    await using scratch = await scratchDirectory();
    const files = { a: 'one', 'user/labels': 'l', 'user/deep/er': 'd', '.dot': 'x' };
    assert.equal(await writeAtomically(scratch.path, payload(files), clockAt()), true);
    const generation = await readlink(join(scratch.path, '..data'));
    assert.match(generation, /^\.\.2030_01_02_03_04_05\.\d+$/);
    assert.deepEqual(await hidden(scratch.path), [generation, '..data'].sort());
    const names = (await readdir(scratch.path)).filter((name) => !name.startsWith('..')).sort();
    assert.deepEqual(names, ['.dot', 'a', 'user']);
    for (const name of names) assert.equal(await readlink(join(scratch.path, name)), `..data/${name}`);
    assert.deepEqual(await visible(scratch.path), files);
    assert.equal((await lstat(join(scratch.path, generation))).mode & 0o777, 0o755);
  });

  it('lab/N27: gives files their modes whatever the umask says', async () => {
    await using scratch = await scratchDirectory();
    const bytes = Buffer.from('x');
    const files = new Map([0o777, 0o400, 0o644, 0o440].map((mode) => [`m${mode.toString(8)}`, { bytes, mode }]));
    await writeAtomically(scratch.path, files, clockAt());
    for (const [path, { mode }] of files) {
      assert.equal((await lstat(await realpath(join(scratch.path, path)))).mode & 0o777, mode, path);
    }
    assert.equal(await writeAtomically(scratch.path, files, clockAt()), false);
  });

  for (const { name, first, next } of [
    { name: 'other text', first: { a: '1', b: '1' }, next: { a: '2', b: '1' } },
    { name: 'a file more', first: { a: '1' }, next: { a: '1', 'x/y/z': '1' } },
    {
      name: 'a file more in a directory that is there',
      first: { 'x/a': '1' },
      next: { 'x/a': '1', 'x/b/c': '1' },
    },
    { name: 'a file less', first: { a: '1', b: '1' }, next: { a: '1' } },
    { name: 'a directory less', first: { a: '1', 'b/c/d': '1' }, next: { a: '1' } },
    { name: 'a file less in a directory that stays', first: { 'b/c': '1', 'b/d': '1' }, next: { 'b/c': '1' } },
    { name: 'a file in the place of a directory', first: { 'b/c': '1' }, next: { b: '1' } },
    { name: 'nothing any more', first: { a: '1' }, next: {} },
    { name: 'something after nothing', first: {}, next: { a: '1' } },
  ] as readonly { name: string; first: Record<string, string>; next: Record<string, string> }[]) {
    it(`lab/N27: swaps the directory for ${name}, and leaves nothing of the old one`, async () => {
      await using scratch = await scratchDirectory();
      const clock = clockAt();
      await writeAtomically(scratch.path, payload(first), clock);
      const before = await readlink(join(scratch.path, '..data'));
      assert.equal(await writeAtomically(scratch.path, payload(next), clock), true);
      const generation = await readlink(join(scratch.path, '..data'));
      assert.notEqual(generation, before);
      assert.deepEqual(await hidden(scratch.path), [generation, '..data'].sort());
      assert.deepEqual(await visible(scratch.path), next);
    });
  }

  it('lab/N27: touches nothing when nothing changed', async () => {
    await using scratch = await scratchDirectory();
    const files = payload({ a: '1', 'b/c': '2' });
    await writeAtomically(scratch.path, files, clockAt());
    const marks = async () => {
      const found = ['', '..data', 'a', '..data/a', '..data/b', '..data/b/c'].map(async (path) => {
        const { ino, mtimeNs, ctimeNs } = await lstat(join(scratch.path, path), { bigint: true });
        return { path, ino, mtimeNs, ctimeNs };
      });
      return await Promise.all(found);
    };
    const before = await marks();
    assert.equal(await writeAtomically(scratch.path, files, clockAt()), false);
    assert.deepEqual(await marks(), before);
  });

  it('takes another mode for a change', async () => {
    await using scratch = await scratchDirectory();
    await writeAtomically(scratch.path, payload({ a: '1' }, 0o644), clockAt());
    assert.equal(await writeAtomically(scratch.path, payload({ a: '1' }, 0o600), clockAt()), true);
    assert.equal((await lstat(await realpath(join(scratch.path, 'a')))).mode & 0o777, 0o600);
  });

  it('writes bytes that are no text', async () => {
    await using scratch = await scratchDirectory();
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await writeAtomically(scratch.path, new Map([['b', { bytes, mode: 0o644 }]]), clockAt());
    assert.deepEqual(new Uint8Array(await readFile(join(scratch.path, 'b'))), bytes);
  });

  it('lab/N27: shows a reader in a loop the old files or the new ones, never both', async () => {
    await using scratch = await scratchDirectory();
    const clock = clockAt();
    const names = ['a', 'b', 'deep/c'];
    const version = (number: number) => payload(Object.fromEntries(names.map((name) => [name, `v${number}`])));
    await writeAtomically(scratch.path, version(0), clock);
    let isOver = false;
    let reads = 0;
    const seen = new Set<string>();
    const textsOf = async (files: readonly string[]) => {
      const moment = await realpath(join(scratch.path, '..data'));
      return await Promise.all(files.map((name) => readFile(join(moment, name), 'utf8')));
    };
    const read = async () => {
      while (!isOver) {
        // Whoever wants everything of one moment follows the chain once, and again when that moment is over.
        const texts = await textsOf(names).catch(() => []);
        assert.ok(new Set(texts).size <= 1, `a mix: ${texts.join()}`);
        if (texts[0] !== undefined) seen.add(texts[0]);
        reads++;
      }
    };
    const readers = [read(), read(), read()];
    for (let number = 1; number <= 20; number++) await writeAtomically(scratch.path, version(number), clock);
    isOver = true;
    await Promise.all(readers);
    assert.ok(reads > 10 && seen.size > 3, `${reads} reads saw ${seen.size} versions`);
  });

  for (const { name, spoil } of [
    {
      name: 'before the swap',
      spoil: (path: string) => symlink('..2029_01_01_00_00_00.1', join(path, '..data_tmp')),
    },
    { name: 'while it wrote', spoil: (path: string) => mkdir(join(path, '..2029_01_01_00_00_00.1')) },
    { name: 'between swap and links', spoil: (path: string) => symlink('..data/gone', join(path, 'gone')) },
  ]) {
    it(`puts in order what a call left that was interrupted ${name}`, async () => {
      await using scratch = await scratchDirectory();
      const files = { a: '1', b: '2' };
      await writeAtomically(scratch.path, payload(files), clockAt());
      await spoil(scratch.path);
      await writeAtomically(scratch.path, payload(files), clockAt());
      assert.deepEqual(await visible(scratch.path), files);
      assert.equal((await hidden(scratch.path)).length, 2);
    });
  }

  it('adds links that an interrupted call did not come to', async () => {
    await using scratch = await scratchDirectory();
    const generation = '..2029_01_01_00_00_00.1';
    await mkdir(join(scratch.path, generation));
    await writeFile(join(scratch.path, generation, 'a'), '1');
    await chmod(join(scratch.path, generation, 'a'), 0o644);
    await symlink(generation, join(scratch.path, '..data'));
    assert.equal(await writeAtomically(scratch.path, payload({ a: '1' }), clockAt()), true);
    assert.deepEqual(await visible(scratch.path), { a: '1' });
    assert.equal(await readlink(join(scratch.path, '..data')), generation);
  });

  it('does not follow a ..data that leads elsewhere', async () => {
    await using scratch = await scratchDirectory();
    await using other = await scratchDirectory();
    await writeFile(join(other.path, 'a'), '1', { mode: 0o644 });
    await symlink(other.path, join(scratch.path, '..data'));
    await writeAtomically(scratch.path, payload({ a: '1' }), clockAt());
    assert.match(await readlink(join(scratch.path, '..data')), /^\.\.2030/);
    assert.deepEqual(await readdir(other.path), ['a']);
  });

  it('leaves the old files when the new ones cannot be written', async () => {
    await using scratch = await scratchDirectory();
    await writeAtomically(scratch.path, payload({ a: '1' }), clockAt());
    await assert.rejects(writeAtomically(scratch.path, payload({ b: '1', 'b/c': '2' }), clockAt()));
    assert.deepEqual(await visible(scratch.path), { a: '1' });
    assert.equal((await hidden(scratch.path)).length, 2);
  });

  it('lab/N27: shows exactly the last payload after any number of them', async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd/e', 'd/f', 'g/h/i');
    const files = fc.dictionary(name, fc.constantFrom('', '1', '2'), { maxKeys: 5, noNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(fc.array(files, { minLength: 1, maxLength: 5 }), async (payloads) => {
        await using scratch = await scratchDirectory();
        const clock = clockAt();
        for (const each of payloads) {
          await writeAtomically(scratch.path, payload(each), clock);
          assert.deepEqual(await visible(scratch.path), each);
          assert.equal((await hidden(scratch.path)).length, 2);
          assert.equal(await writeAtomically(scratch.path, payload(each), clock), false);
        }
      }),
      { numRuns: 15 },
    );
  });
});

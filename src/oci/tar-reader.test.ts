import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { pieces, type TestFile, testTar, testTarEntry, withSum } from '../../test/support/oci-world.ts';
import { type TarEntry, tarEntries } from './tar-reader.ts';

async function read(archive: Uint8Array, size = 100): Promise<readonly Partial<TarEntry & { content: string }>[]> {
  const entries = [];
  for await (const entry of tarEntries(pieces(archive, size))) {
    const { name, kind, linkName } = entry;
    const content = Buffer.from(await entry.read(10_000)).toString();
    entries.push({ name, kind, ...(linkName !== '' && { linkName }), ...(content !== '' && { content }) });
  }
  return entries;
}

const pax = (records: Readonly<Record<string, string>>): string =>
  Object.entries(records)
    .map(([key, value]) => {
      const rest = ` ${key}=${value}\n`;
      const bytes = Buffer.byteLength(rest);
      const length = bytes + String(bytes).length;
      return `${bytes + String(length).length}${rest}`;
    })
    .join('');

describe('tarEntries', () => {
  it('reads files, folders and links of an ustar archive in their order, however the bytes come', async () => {
    const archive = testTar([
      { name: 'd/', type: '5' },
      { name: 'd/a', content: 'x'.repeat(700) },
      { name: 'd/empty' },
      { name: 'l', type: '2', link: 'd/a' },
      { name: 'h', type: '1', link: 'd/a' },
    ]);
    const want = [
      { name: 'd/', kind: 'other' },
      { name: 'd/a', kind: 'file', content: 'x'.repeat(700) },
      { name: 'd/empty', kind: 'file' },
      { name: 'l', kind: 'symbolic-link', linkName: 'd/a' },
      { name: 'h', kind: 'hard-link', linkName: 'd/a' },
    ];
    for (const size of [1, 7, 511, 512, 513, 100_000]) assert.deepEqual(await read(archive, size), want);
  });

  it('puts the prefix of an ustar header before the name', async () => {
    const entry = testTarEntry({ name: 'file', content: 'c' });
    entry.write('some/folder', 345);
    withSum(entry.subarray(0, 512));
    assert.deepEqual(await read(entry), [{ name: 'some/folder/file', kind: 'file', content: 'c' }]);
  });

  it('takes no prefix out of a GNU header, which has times there', async () => {
    const entry = testTarEntry({ name: 'file', content: 'c' });
    entry.write('ustar  \0', 257);
    entry.write('14717770000', 345);
    withSum(entry.subarray(0, 512));
    assert.deepEqual(await read(entry), [{ name: 'file', kind: 'file', content: 'c' }]);
  });

  it('takes names of pax headers, for the next entry only', async () => {
    const name = `long/${'n'.repeat(150)}/ü`;
    const archive = testTar([
      { name: 'g', type: 'g', content: pax({ comment: 'made by git', path: 'ignored' }) },
      { name: 'p', type: 'x', content: pax({ path: name, linkpath: 'far away', mtime: '1.5' }) },
      { name: 'short', type: '2', link: 'near' },
      { name: 'next', content: 'n' },
    ]);
    assert.deepEqual(await read(archive), [
      { name, kind: 'symbolic-link', linkName: 'far away' },
      { name: 'next', kind: 'file', content: 'n' },
    ]);
  });

  it('takes the size of a pax header', async () => {
    const entry = testTarEntry({ name: 'big', content: 'abc' });
    entry.write('00000000000', 124);
    withSum(entry.subarray(0, 512));
    const archive = Buffer.concat([testTarEntry({ name: 'p', type: 'x', content: pax({ size: '3' }) }), entry]);
    assert.deepEqual(await read(archive), [{ name: 'big', kind: 'file', content: 'abc' }]);
  });

  it("takes GNU's long names", async () => {
    const [name, link] = [`n${'1'.repeat(300)}`, `l${'2'.repeat(300)}`];
    const archive = testTar([
      { name: '././@LongLink', type: 'K', content: `${link}\0` },
      { name: '././@LongLink', type: 'L', content: `${name}\0` },
      { name: name.slice(0, 100), type: '2', link: link.slice(0, 99) },
    ]);
    assert.deepEqual(await read(archive), [{ name, kind: 'symbolic-link', linkName: link }]);
  });

  it('reads sizes in binary, and skips the map of sparse files', async () => {
    const binary = testTarEntry({ name: 'b', content: 'abc' });
    binary.fill(0, 124, 136);
    binary[124] = 0x80;
    binary[135] = 3;
    withSum(binary.subarray(0, 512));
    const sparse = testTarEntry({ name: 's', type: 'S', content: 'data' });
    sparse[482] = 1;
    withSum(sparse.subarray(0, 512));
    const map = Buffer.alloc(512);
    const archive = Buffer.concat([
      binary,
      Buffer.concat([sparse.subarray(0, 512), map, sparse.subarray(512)]),
      testTarEntry({ name: 'z' }),
    ]);
    assert.deepEqual(await read(archive), [
      { name: 'b', kind: 'file', content: 'abc' },
      { name: 's', kind: 'other', content: 'data' },
      { name: 'z', kind: 'file' },
    ]);
  });

  it('ends at a block of zeros, whatever comes behind it', async () => {
    assert.deepEqual(await read(Buffer.concat([testTar([{ name: 'a' }]), Buffer.from('garbage')])), [
      { name: 'a', kind: 'file' },
    ]);
  });

  const changed = (change: (entry: Buffer) => void): Buffer => {
    const entry = testTarEntry({ name: 'a', content: 'abc' });
    change(entry);
    return entry;
  };
  const summed = (change: (entry: Buffer) => void): Buffer =>
    changed((entry) => {
      change(entry);
      withSum(entry.subarray(0, 512));
    });
  const damaged = [
    { name: 'a wrong checksum', archive: changed((entry) => void (entry[0] = 0x62)), message: /wrong checksum/ },
    {
      name: 'an end within a file',
      archive: testTarEntry({ name: 'a', content: 'abc' }).subarray(0, 513),
      message: /ends too early/,
    },
    {
      name: 'a size that is none',
      archive: summed((entry) => void entry.write('zzz', 124)),
      message: /number that is none/,
    },
    {
      name: 'a negative size',
      archive: summed((entry) => entry.fill(0xff, 124, 136)),
      message: /size that no file has/,
    },
    {
      name: 'a pax header of nonsense',
      archive: testTar([{ name: 'p', type: 'x', content: 'nonsense' }]),
      message: /pax header has a wrong length/,
    },
    {
      name: 'a pax record that is longer than it',
      archive: testTar([{ name: 'p', type: 'x', content: '99 a=b\n' }]),
      message: /pax header has a wrong length/,
    },
    {
      name: 'a pax record of nothing',
      archive: testTar([{ name: 'p', type: 'x', content: '0 ' }]),
      message: /pax header has a wrong length/,
    },
    {
      name: 'a pax size that is none',
      archive: testTar([{ name: 'p', type: 'x', content: pax({ size: '-1' }) }]),
      message: /size that is none/,
    },
    {
      name: 'a name that never ends',
      archive: summed((entry) => entry.fill('L', 156, 157).write('77777777777', 124)),
      message: /name is too long/,
    },
  ];
  for (const { name, archive, message } of damaged) {
    it(`refuses ${name}`, async () => {
      await assert.rejects(read(archive), { reason: 'InvalidImage', message });
    });
  }

  it('refuses an end within a file that nobody reads', async () => {
    const skim = async () => {
      for await (const _ of tarEntries(pieces(testTarEntry({ name: 'a', content: 'abc' }).subarray(0, 600))));
    };
    await assert.rejects(skim(), { reason: 'InvalidImage', message: /ends within a file/ });
  });

  it('refuses to read more than somebody wants', async () => {
    const archive = testTar([{ name: 'a', content: 'x'.repeat(20_000) }]);
    await assert.rejects(read(archive), { reason: 'InvalidImage', message: /file a of the image is too large/ });
  });

  it('never fails in another way, whatever it is given', async () => {
    const good: readonly TestFile[] = [
      { name: 'a', content: 'abc' },
      { name: 'p', type: 'x', content: pax({ path: 'b' }) },
      { name: 'c' },
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(3000), fc.nat(255)), { maxLength: 8 }), async (changes) => {
        const archive = testTar(good);
        for (const [at, byte] of changes) archive[at % archive.length] = byte;
        await read(archive).catch((thrown: { reason?: string }) => assert.equal(thrown.reason, 'InvalidImage'));
      }),
    );
  });
});

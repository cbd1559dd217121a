import { tooLarge } from './bounded-bytes.ts';
import { ByteSource } from './byte-source.ts';
import { BLOCK_BYTES, damaged, parsePaxRecords, parseTarHeader, type TarHeader } from './tar-header.ts';

export interface TarEntry {
  /** As it is in the archive. */
  readonly name: string;
  readonly kind: 'file' | 'symbolic-link' | 'hard-link' | 'other';
  readonly sizeBytes: number;
  readonly linkName: string;
  /** Its content; only before the next entry is asked for, and once. */
  read(mostBytes: number): Promise<Uint8Array>;
}

/** Names are no longer than this, and neither is what comes before them. */
const LONGEST_EXTENSION = 1024 * 1024;
const KINDS: Readonly<Record<string, TarEntry['kind']>> = {
  '0': 'file',
  '7': 'file',
  '1': 'hard-link',
  '2': 'symbolic-link',
};

/** What headers before an entry say about it. */
interface Extension {
  readonly name?: string;
  readonly linkName?: string;
  readonly sizeBytes?: number;
}

/**
 * The entries of an archive in its order: ustar, pax, and GNU's long names. Content that nobody reads is skipped, nothing
 * but extensions is kept. Throws `InvalidImage` for damaged ones.
 */
export async function* tarEntries(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, undefined> {
  const source = new ByteSource(chunks);
  let extension: Extension = {};
  for (;;) {
    const block = await source.take(BLOCK_BYTES);
    const header = block === undefined ? undefined : parseTarHeader(block);
    if (header === undefined) return;
    if (isExtension(header)) {
      extension = { ...extension, ...(await extensionOf(header, source)) };
      continue;
    }
    for (let hasMore = header.hasMoreMap; hasMore; hasMore = (await whole(source.take(BLOCK_BYTES)))[504] === 1);
    const entry = new ReadableEntry({ ...header, ...extension }, source);
    extension = {};
    yield entry;
    await entry.skip();
  }
}

class ReadableEntry implements TarEntry {
  readonly name: string;
  readonly kind: TarEntry['kind'];
  readonly sizeBytes: number;
  readonly linkName: string;
  readonly #source: ByteSource;
  #left: number;

  constructor({ name, type, sizeBytes, linkName }: TarHeader, source: ByteSource) {
    this.name = name;
    this.kind = KINDS[type] ?? 'other';
    this.linkName = linkName;
    // Links have no content, whatever old programs wrote there.
    this.sizeBytes = this.kind.endsWith('link') ? 0 : sizeBytes;
    this.#source = source;
    this.#left = paddedBytes(this.sizeBytes);
  }

  async read(mostBytes: number): Promise<Uint8Array> {
    if (this.sizeBytes > mostBytes) throw tooLarge(`file ${this.name} of the image`, mostBytes);
    const bytes = await whole(this.#source.take(this.sizeBytes));
    this.#left -= this.sizeBytes;
    return bytes;
  }

  async skip(): Promise<void> {
    if (!(await this.#source.skip(this.#left))) throw damaged('it ends within a file');
  }
}

const isExtension = ({ type }: TarHeader): boolean => ['L', 'K', 'x', 'g'].includes(type);

async function extensionOf({ type, sizeBytes }: TarHeader, source: ByteSource): Promise<Extension> {
  if (sizeBytes > LONGEST_EXTENSION) throw damaged('a name is too long');
  const bytes = (await whole(source.take(paddedBytes(sizeBytes)))).subarray(0, sizeBytes);
  const text = () => new TextDecoder().decode(bytes).replace(/\0.*$/s, '');
  if (type === 'L') return { name: text() };
  if (type === 'K') return { linkName: text() };
  // What holds for the whole archive is comments in practice, never names.
  return type === 'x' ? paxExtension(parsePaxRecords(bytes)) : {};
}

function paxExtension(records: ReadonlyMap<string, string>): Extension {
  const [name, linkName, size] = [records.get('path'), records.get('linkpath'), records.get('size')];
  if (size !== undefined && !/^\d{1,15}$/.test(size)) throw damaged('a pax header has a size that is none');
  return {
    ...(name !== undefined && { name }),
    ...(linkName !== undefined && { linkName }),
    ...(size !== undefined && { sizeBytes: Number(size) }),
  };
}

const paddedBytes = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;

async function whole(taken: Promise<Uint8Array | undefined>): Promise<Uint8Array> {
  const bytes = await taken;
  if (bytes === undefined) throw damaged('it ends too early');
  return bytes;
}

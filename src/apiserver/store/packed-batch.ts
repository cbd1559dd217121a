import type { StoreEvent } from './store.ts';
import type { LogRow } from './store-file.ts';

/** Revision, create revision, length of the key, length of the bytes, whether it removes. */
const HEAD_BYTES = 8 + 8 + 4 + 4 + 1;

/** All writes of a transaction in one buffer, which changes threads without being copied. */
export function packBatch(events: readonly StoreEvent[]): ArrayBuffer {
  let size = 0;
  for (const { key, entry } of events) size += HEAD_BYTES + Buffer.byteLength(key) + entry.bytes.byteLength;
  const packed = new ArrayBuffer(size);
  const buffer = Buffer.from(packed);
  let at = 0;
  for (const { key, entry, isRemoval } of events) {
    const keyBytes = buffer.write(key, at + HEAD_BYTES);
    buffer.writeDoubleLE(entry.revision, at);
    buffer.writeDoubleLE(entry.createRevision, at + 8);
    buffer.writeUInt32LE(keyBytes, at + 16);
    buffer.writeUInt32LE(entry.bytes.byteLength, at + 20);
    buffer.writeUInt8(isRemoval ? 1 : 0, at + 24);
    buffer.set(entry.bytes, at + HEAD_BYTES + keyBytes);
    at += HEAD_BYTES + keyBytes + entry.bytes.byteLength;
  }
  return packed;
}

export function unpackBatch(packed: ArrayBuffer): readonly LogRow[] {
  const buffer = Buffer.from(packed);
  const rows: LogRow[] = [];
  for (let at = 0; at < buffer.length; ) {
    const keyStart = at + HEAD_BYTES;
    const keyEnd = keyStart + buffer.readUInt32LE(at + 16);
    const end = keyEnd + buffer.readUInt32LE(at + 20);
    rows.push({
      revision: buffer.readDoubleLE(at),
      createRevision: buffer.readDoubleLE(at + 8),
      isRemoval: buffer.readUInt8(at + 24) === 1,
      key: buffer.toString('utf8', keyStart, keyEnd),
      bytes: buffer.subarray(keyEnd, end),
    });
    at = end;
  }
  return rows;
}

export const rowOf = ({ revision, key, entry, isRemoval }: StoreEvent): LogRow => ({
  revision,
  key,
  isRemoval,
  createRevision: entry.createRevision,
  bytes: entry.bytes,
});

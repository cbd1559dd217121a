import { createReadStream, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { receiveFile } from '../resources/received-file.ts';
import type { CloudServices, Transaction } from '../resources/resource-kind.ts';
import type { ShelfName } from '../resources/resource-record.ts';

/** What a bucket says about one key. */
export interface StoredObject {
  /** Of the content, which is found by it: hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly contentType: string;
  /** Lab time. */
  readonly updatedAt: string;
}

export interface ObjectPlace {
  readonly bucketId: string;
  readonly key: Buffer;
}

const OBJECTS: ShelfName<StoredObject> = { shelf: 'objects' };
const MOST_BYTES = 5 * 1024 ** 3;
const INCOMING = 'incoming';

/**
 * Contents of buckets. A content is a file named by its hash, never by a key, so that no key leads anywhere else (C22); it
 * goes with the last key that has it.
 */
export class ObjectStore {
  readonly #directory: string;
  readonly #services: Pick<CloudServices, 'state' | 'transact' | 'clock'>;
  #received = 0;

  constructor(directory: string, services: Pick<CloudServices, 'state' | 'transact' | 'clock'>) {
    this.#directory = directory;
    this.#services = services;
  }

  /** Removes what an earlier life began and did not finish: nobody knows it. */
  sweep(): void {
    rmSync(join(this.#directory, INCOMING), { recursive: true, force: true });
    const known = new Set(this.#services.state.entries(OBJECTS).map(([, { sha256 }]) => sha256));
    for (const group of names(this.#directory)) {
      for (const name of names(join(this.#directory, group))) {
        if (!known.has(name)) rmSync(this.#path(name), { force: true });
      }
    }
  }

  get({ bucketId, key }: ObjectPlace): StoredObject | undefined {
    return this.#services.state.peek(OBJECTS, entryKey(bucketId, key));
  }

  read({ sha256 }: StoredObject): Readable {
    return createReadStream(this.#path(sha256));
  }

  /** All at once when everything has come; `check` may refuse it at that moment. */
  async put(place: ObjectPlace, incoming: IncomingObject): Promise<StoredObject> {
    const { stream, contentType, signal, check } = incoming;
    const path = join(this.#directory, INCOMING, String(++this.#received));
    const { sha256, sizeBytes } = await receiveFile(stream, { path, mostBytes: MOST_BYTES, signal });
    try {
      return await this.#services.transact((transaction) => {
        check(transaction);
        // In one step with the transaction, so that nobody removes the file in between.
        mkdirSync(dirname(this.#path(sha256)), { recursive: true, mode: 0o700 });
        renameSync(path, this.#path(sha256));
        const object = { sha256, sizeBytes, contentType, updatedAt: transaction.now.toISOString() };
        const replaced = transaction.peek(OBJECTS, entryKey(place.bucketId, place.key));
        transaction.place(OBJECTS, entryKey(place.bucketId, place.key), object);
        if (replaced !== undefined) this.#removeLater(replaced.sha256);
        return object;
      });
    } finally {
      // Neither is left when the transaction was refused.
      rmSync(path, { force: true });
      this.#removeLater(sha256);
    }
  }

  /** Succeeds when there is none. */
  async delete({ bucketId, key }: ObjectPlace): Promise<void> {
    await this.#services.transact((transaction) => {
      const known = transaction.peek(OBJECTS, entryKey(bucketId, key));
      if (known === undefined) return;
      transaction.take(OBJECTS, entryKey(bucketId, key));
      this.#removeLater(known.sha256);
    });
  }

  /** In the order of the bytes of the keys, from the one after `after`. */
  list(bucketId: string, prefix: Buffer, after: Buffer): readonly (readonly [key: Buffer, StoredObject])[] {
    const wanted = entryKey(bucketId, prefix);
    const from = entryKey(bucketId, after);
    return this.#services.state
      .entries(OBJECTS)
      .filter(([key]) => key.startsWith(wanted) && key > from)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, object]) => [Buffer.from(key.slice(bucketId.length + 1), 'hex'), object]);
  }

  isEmpty(bucketId: string, transaction: Transaction): boolean {
    const prefix = entryKey(bucketId, Buffer.alloc(0));
    return !transaction.entries(OBJECTS).some(([key]) => key.startsWith(prefix));
  }

  /** After the transaction, when no key has the content. */
  #removeLater(sha256: string): void {
    queueMicrotask(() => {
      const isKnown = this.#services.state.entries(OBJECTS).some(([, object]) => object.sha256 === sha256);
      if (!isKnown) rmSync(this.#path(sha256), { force: true });
    });
  }

  #path(sha256: string): string {
    return join(this.#directory, sha256.slice(0, 2), sha256);
  }
}

export interface IncomingObject {
  readonly stream: Readable;
  readonly contentType: string;
  readonly signal: AbortSignal;
  readonly check: (transaction: Transaction) => void;
}

/** Hexadecimal digits sort as the bytes do. */
const entryKey = (bucketId: string, key: Buffer): string => `${bucketId}/${key.toString('hex')}`;

function names(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // Nothing has been stored so far.
    return [];
  }
}

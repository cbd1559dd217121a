import { createHash, type Hash } from 'node:crypto';
import { registryUnavailable } from './registry-failure.ts';

interface Expected {
  readonly digest: string;
  readonly sizeBytes: number;
  /** For messages: `host/repository`. */
  readonly place: string;
}

/** Bytes that are compared with their digest while somebody reads them. To be read once, then `finish`ed. */
export class VerifiedBlob implements AsyncIterable<Uint8Array> {
  readonly #inner: AsyncIterator<Uint8Array>;
  readonly #expected: Expected;
  readonly #hash: Hash;
  #bytes = 0;
  /** One piece after the other: who unpacks may still wait for one when the rest is already being read. */
  #turn: Promise<unknown> = Promise.resolve();
  #hasEnded = false;

  constructor(body: AsyncIterable<Uint8Array>, expected: Expected) {
    this.#inner = body[Symbol.asyncIterator]();
    this.#expected = expected;
    this.#hash = createHash(expected.digest.split(':', 1).join(''));
  }

  get sizeBytes(): number {
    return this.#expected.sizeBytes;
  }

  // Whoever stops early leaves the rest to `finish`, so there is no `return` here.
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() };
  }

  /** Reads what nobody wanted; rejects when the whole is not what its digest says. What was read counts only then. */
  async finish(): Promise<void> {
    while (!this.#hasEnded) await this.#next();
    const { digest, sizeBytes, place } = this.#expected;
    const found = `${digest.split(':', 1).join('')}:${this.#hash.digest('hex')}`;
    if (found === digest) return;
    throw registryUnavailable(
      `${place} gave wrong bytes: asked for ${digest} (${sizeBytes} bytes), got ${found} (${this.#bytes} bytes); check the registry and what is in between`,
    );
  }

  /** Frees the connection. */
  async abandon(): Promise<void> {
    this.#hasEnded = true;
    await this.#inner.return?.();
  }

  #next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const turn = this.#turn.then(() => this.#step());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #step(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#hasEnded) return { done: true, value: undefined };
    const { done, value } = await this.#inner.next();
    if (done === true) {
      this.#hasEnded = true;
      return { done: true, value: undefined };
    }
    this.#hash.update(value);
    this.#bytes += value.length;
    const { digest, sizeBytes, place } = this.#expected;
    if (this.#bytes <= sizeBytes) return { done: false, value };
    await this.abandon();
    throw registryUnavailable(
      `${place} gave wrong bytes: ${digest} has ${sizeBytes} bytes, and more came; check the registry and what is in between`,
    );
  }
}

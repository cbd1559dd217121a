/** Bytes out of pieces of any size, so many at a time. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Exactly so many, or undefined when there are fewer. */
  async take(count: number): Promise<Uint8Array | undefined> {
    const parts: Uint8Array[] = [];
    for (let missing = count; missing > 0; ) {
      if (this.#rest.length === 0 && !(await this.#more())) return undefined;
      const part = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    return parts.length === 1 ? parts[0] : Buffer.concat(parts);
  }

  /** Whether there were so many. */
  async skip(count: number): Promise<boolean> {
    for (let missing = count; missing > 0; ) {
      if (this.#rest.length === 0 && !(await this.#more())) return false;
      const skipped = Math.min(missing, this.#rest.length);
      this.#rest = this.#rest.subarray(skipped);
      missing -= skipped;
    }
    return true;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    if (done === true) return false;
    this.#rest = value;
    return true;
  }
}

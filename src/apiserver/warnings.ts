// Upstream stops when the warnings of one answer would make its headers too large.
const MOST_BYTES = 4096;

/** Texts that go out as Warning headers (H10): each once, in order, up to a bound. */
export class Warnings {
  readonly #texts = new Set<string>();
  #bytes = 0;

  add(text: string): void {
    if (text === '' || this.#texts.has(text)) return;
    const size = Buffer.byteLength(text);
    if (this.#bytes + size > MOST_BYTES) return;
    this.#bytes += size;
    this.#texts.add(text);
  }

  addAll(texts: readonly string[]): void {
    for (const text of texts) this.add(text);
  }

  headers(): readonly string[] {
    return [...this.#texts].map((text) => `299 - "${quoted(text)}"`);
  }
}

// A header is latin-1 on the wire and may hold no control characters.
const quoted = (text: string): string =>
  [...Buffer.from(text.replaceAll('\\', '\\\\').replaceAll('"', '\\"'))]
    .map((byte) => (byte < 32 || byte === 127 ? ' ' : String.fromCharCode(byte)))
    .join('');

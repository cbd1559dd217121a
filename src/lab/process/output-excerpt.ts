import type { OutputSink } from './process-host.ts';

/** As much as a kubelet keeps of what a probe says. */
const MOST_BYTES = 10 * 1024;

/** Keeps the beginning of what a program says, on both streams, and lets it say the rest to nobody. */
export class OutputExcerpt implements OutputSink {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  write(_stream: 'stdout' | 'stderr', bytes: Uint8Array): boolean {
    const kept = bytes.subarray(0, MOST_BYTES - this.#bytes);
    this.#bytes += kept.length;
    if (kept.length > 0) this.#chunks.push(kept);
    return true;
  }

  async drained(): Promise<void> {}

  end(): void {}
}

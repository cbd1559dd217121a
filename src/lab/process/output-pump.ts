import type { Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { OutputSink } from './process-host.ts';

/** How long a child may be held up by a log that cannot keep up (P7). */
const PATIENCE_MS = 1000;
const LINE_FEED = 0x0a;

export interface OutputPumpOptions {
  readonly stream: 'stdout' | 'stderr';
  readonly sink: OutputSink;
  /** Real time. */
  readonly clock: Clock;
}

/**
 * Hands everything that a child writes to its sink, as bytes and in order. Keeps nothing itself: while the sink takes
 * no more, the child waits in its write, but not longer than a second. Then whole lines are dropped until the sink is
 * ready again, and one line says how many (P7). Resolves at the end of the stream.
 */
export async function pumpOutput(from: Readable, options: OutputPumpOptions): Promise<void> {
  const pump = new OutputPump(options);
  try {
    for await (const bytes of from) await pump.take(bytes);
  } catch {
    // A pipe that breaks has nothing more to say.
  }
  pump.finish();
}

class OutputPump {
  readonly #options: OutputPumpOptions;
  /** Set while lines are dropped. */
  #gap: Gap | undefined;
  #isLineStart = true;

  constructor(options: OutputPumpOptions) {
    this.#options = options;
  }

  async take(bytes: Uint8Array): Promise<void> {
    const rest = this.#gap === undefined ? bytes : this.#afterGap(this.#gap, bytes);
    if (rest.length === 0 || this.#write(rest)) return;
    const { sink, clock } = this.#options;
    const gap = new Gap(sink.drained(), this.#isLineStart);
    if (!(await gap.endsWithin(PATIENCE_MS, clock))) this.#gap = gap;
  }

  finish(): void {
    if (this.#gap !== undefined) this.#mark(this.#gap);
  }

  /** What is left of the bytes when the sink is ready again: from the next line on. */
  #afterGap(gap: Gap, bytes: Uint8Array): Uint8Array {
    const rest = gap.rest(bytes);
    if (rest === undefined) return new Uint8Array();
    this.#gap = undefined;
    this.#mark(gap);
    return rest;
  }

  #mark({ lines }: Gap): void {
    if (lines === 0) return;
    const text = `[slipway] ${lines} ${lines === 1 ? 'line was' : 'lines were'} dropped: the log could not keep up\n`;
    this.#write(Buffer.from(this.#isLineStart ? text : `\n${text}`));
  }

  #write(bytes: Uint8Array): boolean {
    this.#isLineStart = bytes.at(-1) === LINE_FEED;
    return this.#options.sink.write(this.#options.stream, bytes);
  }
}

/** From the moment when the sink takes no more until it is ready and a line begins. */
class Gap {
  readonly #drained: Promise<void>;
  #isDrained = false;
  #isLineStart: boolean;
  #hasDropped = false;
  #lines = 0;

  constructor(drained: Promise<void>, isLineStart: boolean) {
    this.#isLineStart = isLineStart;
    const ready = () => {
      this.#isDrained = true;
    };
    // A sink that fails is no reason to hold up the child.
    this.#drained = drained.then(ready, ready);
  }

  /** Lines that nobody will see in full. */
  get lines(): number {
    return this.#hasDropped && !this.#isLineStart ? this.#lines + 1 : this.#lines;
  }

  async endsWithin(ms: number, clock: Clock): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _ = clock.timer(ms, resolve);
    await Promise.race([this.#drained, promise]);
    return this.#isDrained;
  }

  /** Undefined as long as the gap goes on. */
  rest(bytes: Uint8Array): Uint8Array | undefined {
    if (!this.#isDrained) return this.#drop(bytes);
    if (!this.#hasDropped) return bytes;
    const start = this.#isLineStart ? 0 : bytes.indexOf(LINE_FEED) + 1;
    if (start === 0 && !this.#isLineStart) return this.#drop(bytes);
    this.#drop(bytes.subarray(0, start));
    return bytes.subarray(start);
  }

  #drop(bytes: Uint8Array): undefined {
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) this.#lines += 1;
    if (bytes.length === 0) return;
    this.#hasDropped = true;
    this.#isLineStart = bytes.at(-1) === LINE_FEED;
  }
}

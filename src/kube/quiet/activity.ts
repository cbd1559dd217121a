import { SystemClock } from '../../base/clock.ts';
import { withStream } from '../transport/changed-stream.ts';
import type { Transport } from '../transport/transport.ts';

/** Whoever waits in vain wants to know for how long, whatever time the lab has. */
const HOST = new SystemClock();

/** Why time must stand still, and since when (real time). */
export interface Hold {
  readonly reason: string;
  readonly sinceMs: number;
}

/** Counts what moves on transports, and who holds time, so that somebody can wait until nothing does. */
export class Activity {
  /** Bounded by those who hold: each gives its hold back. */
  readonly #holds = new Set<Hold>();
  #moves = 0;
  #inFlight = 0;

  /** Grows with every request, answer and chunk of a stream, and with every hold and its end. */
  get moves(): number {
    return this.#moves;
  }

  /** Requests that are not answered (streams count until they begin), and holds. */
  get inFlight(): number {
    return this.#inFlight + this.#holds.size;
  }

  get holds(): readonly Hold[] {
    return [...this.#holds];
  }

  /** Nothing is quiet until the hold is disposed; twice is the same as once. */
  hold(reason: string): Disposable {
    const hold = { reason, sinceMs: HOST.monotonicMs() };
    this.#holds.add(hold);
    this.#moves++;
    return {
      [Symbol.dispose]: () => {
        if (this.#holds.delete(hold)) this.#moves++;
      },
    };
  }

  around(transport: Transport): Transport {
    return async (request) => {
      this.#moves++;
      this.#inFlight++;
      try {
        const response = await transport(request);
        return withStream(response, (chunks) => this.#counted(chunks));
      } finally {
        this.#moves++;
        this.#inFlight--;
      }
    };
  }

  async *#counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#moves++;
      yield chunk;
    }
  }
}

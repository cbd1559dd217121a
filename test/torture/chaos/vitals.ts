import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How a process is, at one quiet moment. */
export interface Sample {
  readonly atMs: number;
  readonly heapBytes: number;
  readonly descriptors: number;
  readonly connections: number;
  readonly timers: number;
}

export function sampleNow(connections: number): Sample {
  globalThis.gc?.();
  globalThis.gc?.();
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  return {
    atMs: performance.now(),
    heapBytes: process.memoryUsage().heapUsed,
    descriptors: readdirSync('/proc/self/fd').length,
    connections,
    timers,
  };
}

/** Bytes per minute: the median of the slopes between all pairs (Theil–Sen), which one odd sample does not move. */
export function heapSlope(samples: readonly Sample[]): number {
  const slopes = samples.flatMap((a, index) =>
    samples.slice(index + 1).map((b) => ((b.heapBytes - a.heapBytes) / (b.atMs - a.atMs)) * 60_000),
  );
  return slopes.toSorted((a, b) => a - b)[Math.floor(slopes.length / 2)] ?? 0;
}

const MIB = 2 ** 20;
/** A heap that has just been collected still differs by so much from one quiet moment to the next. */
const NOISE_BYTES = 4 * MIB;
/** One socket left behind in each storm is more than this after a few of them. */
const DESCRIPTOR_NOISE = 3;
const TIMER_NOISE = 20;

/** What grew since the first sample; that one is taken after warm-up. */
export function growth(samples: readonly Sample[]): readonly string[] {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined || first === last) return [];
  const heapLimit = NOISE_BYTES + first.heapBytes * 0.1;
  return [
    ...(last.heapBytes - first.heapBytes > heapLimit
      ? [`the heap grew from ${mib(first.heapBytes)} to ${mib(last.heapBytes)} MiB`]
      : []),
    ...grown('descriptors', first.descriptors, last.descriptors, DESCRIPTOR_NOISE),
    ...grown('connections', first.connections, last.connections, DESCRIPTOR_NOISE),
    ...grown('timers', first.timers, last.timers, TIMER_NOISE),
  ];
}

const grown = (what: string, first: number, last: number, noise: number): readonly string[] =>
  last > first + noise ? [`${what} grew from ${first} to ${last}`] : [];

export const mib = (bytes: number): number => Math.round((bytes / MIB) * 10) / 10;

/** The delay of the event loop, in milliseconds, while it is watched. */
export class LoopDelay implements Disposable {
  readonly #histogram = monitorEventLoopDelay({ resolution: 10 });

  start(): this {
    this.#histogram.enable();
    return this;
  }

  get p99Ms(): number {
    return Math.round(this.#histogram.percentile(99) / 1e6);
  }

  [Symbol.dispose](): void {
    this.#histogram.disable();
  }
}

// What every contender on Node measures with: the same figures as the Go program prints.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

export const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    namespace: { type: 'string', default: 'bench' },
    count: { type: 'string', default: '100' },
    clients: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '3' },
  },
});

/** Resolves when it is on its way: a process that exits before loses what did not fit into the pipe. */
export const say = (value) =>
  new Promise((resolve) => process.stdout.write(`${JSON.stringify(value)}\n`, resolve));

export function stopwatch() {
  const at = performance.now();
  const cpu = process.cpuUsage();
  return (count) => {
    const { user, system } = process.cpuUsage(cpu);
    return { count, seconds: (performance.now() - at) / 1000, cpuSeconds: (user + system) / 1e6 };
  };
}

export function memory() {
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  return { heapBytes: heapUsed, rssBytes: Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1]) * 4096 };
}

/** Calls `read` with some clients at once for the given time. */
export async function requests(read) {
  await read(0);
  const taken = stopwatch();
  const until = performance.now() + Number(values.seconds) * 1000;
  let count = 0;
  const client = async () => {
    while (performance.now() < until) await read(count++ % Number(values.count));
  };
  await Promise.all(Array.from({ length: Number(values.clients) }, client));
  return taken(count);
}

const nowMicros = () => Math.round((performance.timeOrigin + performance.now()) * 1000);

/** When marks arrive: a mark is the time of its write in Unix microseconds, and no two are the same. */
export class Arrivals {
  #arrivals = new Map();
  #fromMicros = Infinity;

  /** What was written before does not count: an informer starts with the marks of the rounds before. */
  start() {
    this.#fromMicros = nowMicros();
    return stopwatch();
  }

  note(mark) {
    if (mark === undefined || Number(mark) < this.#fromMicros || this.#arrivals.has(mark)) return;
    this.#arrivals.set(mark, nowMicros());
  }

  figures(taken) {
    return { ...taken(this.#arrivals.size), arrivals: Object.fromEntries(this.#arrivals) };
  }
}

/** Resolves when whoever started this program closes its standard input. */
export const inputEnd = () =>
  new Promise((resolve) => {
    process.stdin.on('end', resolve);
    process.stdin.resume();
  });

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

import { Connection, type Credentials } from '../apiserver/connection.ts';
import type { Figures, Percentiles } from './contender.ts';

const TICK_MS = 5;
const MERGE = 'application/merge-patch+json';

export interface MarkLoad {
  readonly namespace: string;
  readonly objects: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly connections: number;
}

/** How many writes per second it managed, and when each was answered (Unix microseconds by mark). */
export interface WrittenMarks {
  readonly perSecond: number;
  readonly answers: ReadonlyMap<string, number>;
}

const nowMicros = (): number => Math.round((performance.timeOrigin + performance.now()) * 1000);

/**
 * Writes the time of the write into ConfigMaps, so many per second: a server that cannot take more sets the pace itself.
 */
export async function writeMarks(credentials: Credentials, options: MarkLoad): Promise<WrittenMarks> {
  const { namespace, objects, perSecond, seconds, connections } = options;
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(credentials)));
  const free = [...open];
  const answers = new Map<string, number>();
  const startedMs = performance.now();
  let sent = 0;
  let lastMark = 0;
  const write = async (connection: Connection): Promise<void> => {
    const path = `/api/v1/namespaces/${namespace}/configmaps/read-${sent++ % objects}`;
    lastMark = Math.max(nowMicros(), lastMark + 1);
    const mark = String(lastMark);
    const { status } = await connection.send('PATCH', path, JSON.stringify({ data: { mark } }), MERGE);
    if (status !== 200) throw new Error(`${path}: ${status}`);
    answers.set(mark, nowMicros());
    free.push(connection);
  };
  const writing = new Set<Promise<void>>();
  for (let elapsedMs = 0; elapsedMs < seconds * 1000; elapsedMs = performance.now() - startedMs) {
    const due = Math.floor((elapsedMs / 1000) * perSecond);
    for (let connection = free.pop(); connection !== undefined; connection = free.pop()) {
      if (sent >= due) {
        free.push(connection);
        break;
      }
      const done = write(connection).finally(() => writing.delete(done));
      writing.add(done);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(writing);
  for (const connection of open) connection[Symbol.dispose]();
  return { perSecond: sent / seconds, answers };
}

/** What the arrivals of a contender mean beside when the marks were written and answered. */
export function delaysOf(figures: Figures, answers: ReadonlyMap<string, number>): Figures {
  const { arrivals = {}, ...rest } = figures;
  const marks = Object.entries(arrivals);
  const fromWrite = marks.map(([mark, at]) => at - Number(mark));
  // The event and the answer leave together; an event that is handled first took no time.
  const fromAnswer = marks.map(([mark, at]) => Math.max(0, at - (answers.get(mark) ?? at)));
  return { ...rest, fromWrite: percentiles(fromWrite), fromAnswer: percentiles(fromAnswer) };
}

function percentiles(micros: readonly number[]): Percentiles {
  const sorted = micros.toSorted((a, b) => a - b);
  const at = (share: number): number => (sorted[Math.floor(sorted.length * share)] ?? 0) / 1000;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

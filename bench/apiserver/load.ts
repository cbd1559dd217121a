import { Connection, type Credentials } from './connection.ts';

export interface Rate {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export type Request = (sequence: number) => {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
};

export interface LoadOptions {
  readonly clients: number;
  readonly seconds: number;
  readonly request: Request;
  /** Answers with another code end the measurement. */
  readonly expects: readonly number[];
}

/** As many requests as `clients` connections can make, one after the other, for some seconds. */
export async function load(
  credentials: Credentials,
  { clients, seconds, request, expects }: LoadOptions,
): Promise<Rate> {
  using stack = new DisposableStack();
  const connections = await Promise.all(Array.from({ length: clients }, () => Connection.open(credentials)));
  for (const connection of connections) stack.use(connection);
  const latencies: number[] = [];
  let sequence = 0;
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  const run = async (connection: Connection): Promise<void> => {
    while (performance.now() < endMs) {
      const { method, path, body, contentType } = request(sequence++);
      const beganMs = performance.now();
      const answer = await connection.send(method, path, body, contentType);
      latencies.push(performance.now() - beganMs);
      if (!expects.includes(answer.status)) {
        throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString('utf8').slice(0, 300)}`);
      }
    }
  };
  await Promise.all(connections.map(run));
  const elapsedSeconds = (performance.now() - startedMs) / 1000;
  return { perSecond: latencies.length / elapsedSeconds, ...quantiles(latencies) };
}

export function quantiles(values: number[]): { readonly p50Ms: number; readonly p99Ms: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

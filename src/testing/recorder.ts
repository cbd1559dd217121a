import type { Mutable } from '../api/object.ts';
import { requestAttributes } from '../kube/rbac/request-attributes.ts';
import { isWrite, type Transport, type TransportRequest } from '../kube/transport/transport.ts';

export interface RecordedRequest {
  readonly method: string;
  readonly target: string;
  readonly body: string;
  /** Undefined while the answer is awaited, and when there was none. */
  readonly status: number | undefined;
}

/** Everything that went over a transport, in the order in which it was sent. */
export class RequestRecorder {
  // Not bounded: a test knows what it does, and wants all of it.
  readonly #requests: Mutable<RecordedRequest>[] = [];

  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  /** What may change the world, events and leases too; a question about rights is sent as a write and is none. */
  get writes(): readonly RecordedRequest[] {
    return this.#requests.filter((request) => isWrite(request) && !resourceIn(request).endsWith('reviews'));
  }

  clear(): void {
    this.#requests.length = 0;
  }

  /** The same transport, recorded. */
  around(transport: Transport): Transport {
    return async (request) => {
      const { method, target } = request;
      const entry: Mutable<RecordedRequest> = { method, target, body: bodyOf(request), status: undefined };
      this.#requests.push(entry);
      const response = await transport(request);
      entry.status = response.status;
      return response;
    };
  }
}

const bodyOf = ({ body = '' }: TransportRequest): string =>
  typeof body === 'string' ? body : Buffer.from(body).toString('utf8');

const resourceIn = ({ method, target }: RecordedRequest): string => requestAttributes(method, target).resource;

/**
 * Runs `act` and fails when anything was written meanwhile: a controller that is called again without a change has
 * nothing to say (T4). A leader may renew its lease.
 */
export async function expectNoWrites(recorder: RequestRecorder, act: () => Promise<void>): Promise<void> {
  const before = new Set(recorder.requests);
  await act();
  const written = recorder.writes.filter((request) => !before.has(request) && resourceIn(request) !== 'leases');
  if (written.length === 0) return;
  throw new Error(`expected no writes, but there were ${written.length}: ${grouped(written.map(lineOf))}`);
}

/** `PATCH /api/v1/namespaces/a/configmaps/b?fieldManager=c`: the query tells apart who undoes whose work. */
export const lineOf = ({ method, target }: Pick<RecordedRequest, 'method' | 'target'>): string =>
  `${method} ${target}`;

const MOST_LINES = 20;

/** Equal lines once, with their number, the most frequent first. */
export function grouped(lines: readonly string[], most = MOST_LINES): string {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  const shown = sorted.slice(0, most).map(([line, count]) => (count === 1 ? line : `${line} (×${count})`));
  const hidden = sorted.length - shown.length;
  return [...shown, ...(hidden > 0 ? [`and ${hidden} others`] : [])].join(', ');
}

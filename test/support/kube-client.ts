import type { Clock } from '../../src/base/clock.ts';
import { VirtualClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { type ClientOptions, createClient } from '../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/kube/transport/transport.ts';
import { sharedApi } from './served-api.ts';

export interface ClientWorld {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly transport: Transport;
  /** What was sent, in order. */
  readonly sent: TransportRequest[];
}

/** A client of the shared API server, with a namespace of its own. */
export async function clientWorld(options: Partial<ClientOptions> = {}): Promise<ClientWorld> {
  const api = await sharedApi();
  const namespace = (await api.namespace()).split('/').at(-1) ?? '';
  const sent: TransportRequest[] = [];
  const inner = api.server.client();
  const transport: Transport = (request) => {
    sent.push(request);
    return inner(request);
  };
  const clock = new VirtualClock();
  const client = createClient({ transport, fieldManager: 'test/one', clock, log: SILENT_LOG, ...options });
  return { client, namespace, clock, transport, sent };
}

export interface Scripted {
  readonly status?: number;
  readonly headers?: TransportResponse['headers'];
  readonly body?: string | Uint8Array | object;
  readonly chunks?: () => AsyncIterable<Uint8Array>;
}

/** A transport that answers by a script, on a later tick. */
function scripted(answer: (request: TransportRequest, count: number) => Scripted): {
  readonly transport: Transport;
  readonly sent: TransportRequest[];
} {
  const sent: TransportRequest[] = [];
  const transport: Transport = async (request) => {
    sent.push(request);
    await Promise.resolve();
    const { status = 200, headers = {}, body = '', chunks } = answer(request, sent.length);
    const bytes = bytesOf(body);
    return {
      status,
      headers,
      bytes: () => Promise.resolve(bytes),
      stream: chunks ?? (() => chunksOf([bytes])),
    };
  };
  return { transport, sent };
}

function bytesOf(body: string | Uint8Array | object): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

export async function* chunksOf(chunks: Iterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    await Promise.resolve();
    yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  }
}

export const scriptedClient = (
  answer: (request: TransportRequest, count: number) => Scripted,
  options: Partial<ClientOptions> = {},
) => {
  const { transport, sent } = scripted(answer);
  const clock = new VirtualClock({ start: new Date('2026-05-04T03:02:01Z') });
  const client = createClient({ transport, fieldManager: 'test/one', clock, log: SILENT_LOG, ...options });
  return { client, sent, clock };
};

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

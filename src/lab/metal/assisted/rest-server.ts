import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { BodyTooLarge, readBody } from '../../../kube/serving/request-body.ts';
import type { HttpAnswer, HttpCall, HttpRequest } from '../../../oci/http-call.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import { listening } from '../../address/listening.ts';

export interface RestServerOptions {
  readonly rest: HttpCall;
  /** Port 0 for any that is free. */
  readonly listen: Endpoint;
  readonly log: Log;
}

export interface RestServer extends AsyncDisposable {
  /** `http://127.0.0.1:8090`. */
  readonly url: string;
}

const MOST_BODY_BYTES = 1024 * 1024;
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT'];
/** The same limits as other servers of the project. */
const LIMITS = {
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 120_000,
  maxHeaderSize: 64 * 1024,
};
const MOST_CONNECTIONS = 1000;

/** Serves a handler on a socket. Disposing it cuts all connections. Rejects when nobody can listen there. */
export async function startRestServer({ rest, listen, log }: RestServerOptions): Promise<RestServer> {
  const server = createServer(LIMITS, (message, response) => {
    answer(rest, message, response).catch((error: unknown) => {
      log.warn({ err: error }, 'A request to assisted-service failed');
      response.destroy();
    });
  });
  server.maxConnections = MOST_CONNECTIONS;
  await listening(server, listen);
  return { url: `http://${listen.host}:${portOf(server)}`, [Symbol.asyncDispose]: () => closed(server) };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function answer(rest: HttpCall, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '' } = message;
  if (!METHODS.includes(method)) return void response.writeHead(405).end();
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the client has gone')));
  const body = await bodyOf(message);
  if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end();
  const { host = 'localhost' } = message.headers;
  const request: HttpRequest = {
    // One of the list, as the check above says.
    method: method as HttpRequest['method'],
    url: `http://${host}${message.url ?? '/'}`,
    headers: textHeaders(message),
    body,
    signal: gone.signal,
  };
  const answered = await rest(request).catch((error: unknown): HttpAnswer | undefined => {
    if (gone.signal.aborted) return undefined;
    return { status: 500, headers: { 'content-type': 'text/plain' }, body: once(messageOf(error)) };
  });
  if (answered === undefined) return;
  response.writeHead(answered.status, { ...answered.headers });
  if (method === 'HEAD') return void response.end();
  for await (const chunk of answered.body) response.write(chunk);
  response.end();
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Undefined when it is too large. */
async function bodyOf(message: IncomingMessage): Promise<string | undefined> {
  try {
    return Buffer.from(await readBody(message, MOST_BODY_BYTES)).toString('utf8');
  } catch (error) {
    if (error instanceof BodyTooLarge) return undefined;
    throw error;
  }
}

const textHeaders = ({ headers }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );

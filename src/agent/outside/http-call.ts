import { type IncomingMessage, request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import { messageOf, SlipwayError } from '../../base/errors.ts';
import { NetworkError } from '../../kube/client/api-error.ts';
import { proxyFromEnvironment } from '../../kube/config/proxy-environment.ts';
import type { Environment } from '../../kube/config/surroundings.ts';
import { decodedText } from '../../kube/transport/http-proxy.ts';
import { codeOf, isCertificateProblem } from '../../kube/transport/network-failure.ts';
import type { HttpAnswer, HttpCall, HttpRequest } from '../../oci/http-call.ts';
import { isForwarded, type OutsideWay, outsideSocket } from './outside-socket.ts';
import { TrustedAuthorities } from './trusted-authorities.ts';

export interface OutsideOptions {
  /** `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` and `SSL_CERT_FILE` count. */
  readonly env: Environment;
}

/**
 * The way out of this process. A request has a connection of its own, and waits as long as its signal lets it. Rejects
 * with a `NetworkError` whose cause is what the system said; addresses in messages end with the host, because secrets
 * stand behind it.
 */
export function outsideHttpCall({ env }: OutsideOptions): HttpCall {
  const authorities = new TrustedAuthorities(env);
  return async (request) => {
    const target = targetOf(request);
    const { signal = new AbortController().signal, caPem } = request;
    signal.throwIfAborted();
    try {
      const proxy = proxyFromEnvironment(target, env);
      const way = { target, proxy, trust: () => authorities.context(caPem), signal };
      return await exchanged(request, way, await outsideSocket(way));
    } catch (thrown) {
      throw failureOf(thrown, target, signal);
    }
  };
}

function targetOf({ url }: HttpRequest): URL {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (target !== undefined && ['http:', 'https:'].includes(target.protocol)) return target;
  throw new NetworkError('an address is no http:// or https:// one; correct it', { mayHaveHappened: false });
}

function exchanged({ method, headers, body }: HttpRequest, way: OutsideWay, socket: Socket): Promise<HttpAnswer> {
  const { target, proxy, signal } = way;
  const path = `${target.pathname}${target.search}`;
  const isAbsolute = isForwarded(way);
  return new Promise((resolve, reject) => {
    const sent = sendRequest({
      method,
      path: isAbsolute ? `${target.origin}${path}` : path,
      headers: {
        host: target.host,
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
        ...(isAbsolute && proxyAuthorization(proxy)),
        ...headers,
      },
      createConnection: () => socket,
      signal,
    });
    sent.on('error', (thrown) => {
      socket.destroy();
      reject(thrown);
    });
    sent.on('response', (message) => resolve(answerOf(message, target, signal)));
    sent.end(body);
  });
}

function proxyAuthorization(proxy: URL | undefined): Readonly<Record<string, string>> {
  const { username = '', password = '' } = proxy ?? {};
  if (username === '' && password === '') return {};
  const pair = `${decodedText(username)}:${decodedText(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function answerOf(message: IncomingMessage, target: URL, signal: AbortSignal): HttpAnswer {
  const entries = Object.entries(message.headers).map(([name, value]) => [name, String(value ?? '')] as const);
  return {
    status: message.statusCode ?? 0,
    headers: Object.fromEntries(entries),
    body: new OutsideBody(message, target, signal),
  };
}

/** Frees the connection at its end, at a failure and when it is abandoned, also before anything was read. */
class OutsideBody implements AsyncIterable<Uint8Array> {
  readonly #message: IncomingMessage;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #target: URL;
  readonly #signal: AbortSignal;

  constructor(message: IncomingMessage, target: URL, signal: AbortSignal) {
    this.#message = message;
    this.#chunks = message[Symbol.asyncIterator]();
    this.#target = target;
    this.#signal = signal;
    // Who abandons it does not hear of it.
    message.on('error', () => {});
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next(), return: () => this.#abandoned() };
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.#chunks.next();
    } catch (thrown) {
      throw failureOf(thrown, this.#target, this.#signal);
    }
  }

  #abandoned(): Promise<IteratorResult<Uint8Array>> {
    this.#message.destroy();
    return Promise.resolve({ done: true, value: undefined });
  }
}

/** What the caller said when he ended it; what was foreseen; or a sentence about the host. */
function failureOf(thrown: unknown, { host }: URL, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (thrown instanceof SlipwayError) return thrown;
  const message = isCertificateProblem({ cause: thrown })
    ? `the certificate of ${host} is not trusted: ${messageOf(thrown)} (${codeOf(thrown)}); ` +
      'add its authority to the CA bundle or to the file of SSL_CERT_FILE'
    : `${host} cannot be reached: ${sentenceOf(thrown)}; check the address, the network and HTTPS_PROXY`;
  return new NetworkError(message, { mayHaveHappened: true, cause: thrown });
}

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'no name server answers',
};

function sentenceOf(thrown: unknown): string {
  const first: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  return SENTENCES[codeOf(first)] ?? messageOf(first);
}

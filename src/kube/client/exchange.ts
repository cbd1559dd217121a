import type { Clock } from '../../base/clock.ts';
import type { Json } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';
import { decodedBody, failureOf, type RequestName } from './answer.ts';
import type { CallOptions } from './kube-client.ts';

/** One request in terms of JSON. */
export interface Call extends CallOptions {
  readonly method: string;
  readonly target: string;
  readonly body?: Json;
  /** Of the body; JSON unless told otherwise. */
  readonly contentType?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isStream?: boolean;
  readonly silenceMs?: number;
  readonly isIdempotent?: boolean;
}

export interface ExchangeOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly userAgent: string;
}

/** Requests and answers as JSON over a transport. A failure is an ApiError that names the request. */
export class Exchange {
  readonly #options: ExchangeOptions;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** The decoded body; undefined when it is empty. */
  async json(call: Call): Promise<Json | undefined> {
    const answer = await this.open(call);
    return decodedBody(await answer.bytes(), answer.status, requestName(call));
  }

  /** The answer, known to be no failure. */
  async open(call: Call): Promise<TransportResponse> {
    const { transport, clock, userAgent } = this.#options;
    const answer = await transport(requestOf(call, userAgent));
    if (answer.status < 400) return answer;
    throw failureOf(answer, await answer.bytes(), requestName(call), clock.now());
  }
}

/** Without the query: selectors and continue tokens may hold what is nobody's business. */
export function requestName({ method, target }: Pick<Call, 'method' | 'target'>): Required<RequestName> {
  const at = target.indexOf('?');
  return { method, path: at < 0 ? target : target.slice(0, at) };
}

function requestOf(call: Call, userAgent: string): TransportRequest {
  const { method, target, body, contentType = 'application/json', accept = 'application/json' } = call;
  const { headers, isStream, silenceMs, isIdempotent, signal, timeoutMs } = call;
  return {
    method,
    target,
    headers: {
      accept,
      'user-agent': userAgent,
      ...(body !== undefined && { 'content-type': contentType }),
      ...headers,
    },
    ...(body !== undefined && { body: stringifyJson(body) }),
    ...(isStream !== undefined && { isStream }),
    ...(silenceMs !== undefined && { silenceMs }),
    ...(isIdempotent !== undefined && { isIdempotent }),
    ...(signal !== undefined && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

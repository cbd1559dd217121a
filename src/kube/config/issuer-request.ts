import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../../base/clock.ts';
import { messageOf, retryError } from '../../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';

const TIMEOUT_MS = 30_000;
const MAX_BODY_BYTES = 1024 * 1024;

export interface IssuerRequest {
  readonly url: URL;
  /** PEM; the system's own authorities when absent. */
  readonly ca?: string;
  /** Sent by POST as a form; without it the request is a GET. */
  readonly form?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface IssuerAnswer {
  readonly status: number;
  /** Empty when the answer is not a JSON object. */
  readonly body: JsonObject;
}

/** Asks an identity provider, which is rare: one connection per question. Rejects with `retry` when there is no answer. */
export async function askIssuer(request: IssuerRequest): Promise<IssuerAnswer> {
  const { url, clock, signal } = request;
  const stop = new AbortController();
  using _timer = clock.timer(TIMEOUT_MS, () => stop.abort(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
  const either = AbortSignal.any([signal, stop.signal]);
  try {
    const response = await answered(request, either);
    return { status: response.statusCode ?? 0, body: objectOf(await textOf(response)) };
  } catch (error) {
    signal.throwIfAborted();
    const why = messageOf(stop.signal.aborted ? stop.signal.reason : error);
    throw retryError('IssuerUnreachable', `the identity provider ${url.origin} cannot be asked: ${why}`, {
      cause: error,
    });
  }
}

function answered({ url, ca, form, headers }: IssuerRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
  const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  const options = {
    method: form === undefined ? 'GET' : 'POST',
    headers: { accept: 'application/json', ...type, ...headers },
    agent: false as const,
    signal,
    ...(ca !== undefined && { ca }),
  };
  const outgoing = send(url, options, resolve);
  outgoing.on('error', reject);
  outgoing.end(form?.toString());
  return promise;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('the answer is larger than 1 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function objectOf(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

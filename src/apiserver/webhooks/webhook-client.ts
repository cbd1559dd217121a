import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { messageOf as wordsOf } from '../../base/errors.ts';
import { cloneJson, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { JsonProblem, parseJsonBytes, stringifyJson } from '../../object/json-text.ts';
import { typeHeaderProblem, UNREADABLE_TYPE } from '../../object/type-header.ts';
import { textOf } from '../rest/object-meta.ts';
import { postText, statusText } from './go-client-text.ts';

/** Answers a review in this process, without a socket (V6). */
export type LocalWebhook = (review: JsonObject, path: string) => Promise<Json>;

/** Where a `service` reference leads: an address, or a webhook in this process (X37, V6). */
export type ServiceResolver = (service: {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}) => string | LocalWebhook | undefined;

export interface WebhookClientOptions {
  readonly resolveService: ServiceResolver;
}

export interface WebhookCall {
  readonly clientConfig: JsonObject;
  readonly review: JsonObject;
  readonly timeoutMs: number;
}

/** Sends a review and gives back the answer; rejects with the sentence upstream's client has for what happened. */
export type WebhookClient = (call: WebhookCall) => Promise<Json>;

// An answer is a review with a patch at most; nothing legitimate is larger than a request may be.
const LARGEST_ANSWER = 3_145_728;
const DEFAULT_PORT = 443;

export function createWebhookClient({ resolveService }: WebhookClientOptions): WebhookClient {
  return async ({ clientConfig, review, timeoutMs }) => {
    const posting = { review, timeoutMs, caBundle: textOf(clientConfig['caBundle']) };
    const { service } = clientConfig;
    if (!isJsonObject(service)) return post(textOf(clientConfig['url']), posting);
    const [namespace, name] = [textOf(service['namespace']), textOf(service['name'])];
    const port = typeof service['port'] === 'number' ? service['port'] : DEFAULT_PORT;
    const path = textOf(service['path']);
    const serverName = `${name}.${namespace}.svc`;
    // As upstream shows it; URL would drop the usual port.
    const shownUrl = `https://${serverName}:${port}${path}?timeout=${seconds(timeoutMs)}`;
    const target = resolved(() => resolveService({ namespace, name, port }), shownUrl);
    if (target === undefined) throw new Error(`Post "${shownUrl}": service "${name}" not found`);
    if (typeof target === 'function') return inTime(target(cloneJson(review), path), shownUrl, timeoutMs);
    return post(new URL(path, target).href, { ...posting, serverName });
  };
}

/** Whoever knows services words what is wrong with one; the client says what it was for. */
function resolved(resolve: () => ReturnType<ServiceResolver>, url: string): ReturnType<ServiceResolver> {
  try {
    return resolve();
  } catch (error) {
    throw new Error(`Post "${url}": ${wordsOf(error)}`, { cause: error });
  }
}

/** A webhook in this process gets no more time than one behind a socket. */
async function inTime(answer: Promise<Json>, url: string, timeoutMs: number): Promise<Json> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(new Error(`Post "${url}": context deadline exceeded`)));
  return Promise.race([answer, promise]);
}

interface Posting {
  readonly review: JsonObject;
  readonly timeoutMs: number;
  /** Base64 of PEM; empty: whom this machine trusts. */
  readonly caBundle: string;
  /** The name the certificate must carry, when it is not that of the address. */
  readonly serverName?: string;
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)}s`;

function withTimeout(url: string, timeoutMs: number): string {
  const target = new URL(url);
  target.searchParams.set('timeout', seconds(timeoutMs));
  return target.href;
}

async function post(url: string, { review, timeoutMs, caBundle, serverName }: Posting): Promise<Json> {
  const target = withTimeout(url, timeoutMs);
  const body = stringifyJson(review);
  const options: RequestOptions = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, */*',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'kube-apiserver-admission',
    },
    signal: AbortSignal.timeout(timeoutMs),
    ...(caBundle !== '' && { ca: Buffer.from(caBundle, 'base64').toString('utf8') }),
    ...(serverName !== undefined && { servername: serverName }),
  };
  const attempt = send(target, options, body);
  try {
    return await attempt.answer;
  } catch (error) {
    // A kept connection that the other side closed just now says nothing about the webhook.
    const isStale = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
    if (!(isStale && attempt.request.reusedSocket)) throw named(target, error);
    return await send(target, options, body).answer.catch((second: unknown) => {
      throw named(target, second);
    });
  }
}

/** The answer itself is wrong: the sentence stands for itself. */
class AnswerProblem extends Error {}

function named(url: string, error: unknown): Error {
  if (error instanceof AnswerProblem || !(error instanceof Error)) return new Error(String(Object(error).message));
  return new Error(postText(url, error));
}

interface Attempt {
  readonly request: ClientRequest;
  readonly answer: Promise<Json>;
}

function send(url: string, options: RequestOptions, body: string): Attempt {
  const { promise: answer, resolve, reject } = Promise.withResolvers<Json>();
  const request = httpsRequest(url, options);
  const timedOut = (error: Error): Error => (options.signal?.aborted ? options.signal.reason : error);
  request.on('error', (error) => reject(timedOut(error)));
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST_ANSWER) response.destroy(new AnswerProblem('the answer is larger than 3 MiB'));
      else chunks.push(chunk);
    });
    response.on('error', (error) => reject(timedOut(error)));
    response.on('end', () => {
      try {
        resolve(answerOf(response, Buffer.concat(chunks)));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
  request.end(body);
  return { request, answer };
}

function answerOf({ statusCode = 0, headers }: IncomingMessage, body: Buffer): Json {
  if (statusCode < 200 || statusCode > 299) {
    throw new AnswerProblem(messageOf(body) ?? statusText(statusCode, spoken(headers['content-type'], body)));
  }
  if (body.length === 0) {
    throw new AnswerProblem(
      `0-length response with status code: ${statusCode} and content type: application/json`,
    );
  }
  const value = parsed(body);
  const problem = typeHeaderProblem(value);
  if (problem !== undefined) throw new AnswerProblem(problem);
  return value;
}

function parsed(body: Buffer): Json {
  try {
    return parseJsonBytes(body).value;
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    // Upstream takes YAML here, in which a word is a text.
    if (!body.toString('latin1').trimStart().startsWith('{')) return body.toString('utf8');
    throw new AnswerProblem(`${UNREADABLE_TYPE}${error.message}`);
  }
}

/** The text of an answer, as far as it is one. */
function spoken(contentType: string | undefined, body: Buffer): string {
  const isText = contentType === undefined || contentType.startsWith('text/');
  return isText ? body.toString('utf8').trim() : 'unknown';
}

/** A Status says itself what is wrong. */
function messageOf(body: Buffer): string | undefined {
  try {
    const { value } = parseJsonBytes(body);
    return isJsonObject(value) && value['kind'] === 'Status' ? textOf(value['message']) : undefined;
  } catch {
    return undefined;
  }
}

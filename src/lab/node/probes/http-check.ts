import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { HTTPHeader } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import { withDeadline } from '../../../kube/deadline.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import { type Dial, socketFailure } from './probe-network.ts';
import { type HttpRequest, ProbeProblem } from './probe-request.ts';
import type { ProbeOutcome } from './probe-track.ts';

/** More of a body is not read. */
const MOST_BODY_BYTES = 10 * 1024;
const MOST_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface HttpCheckOptions {
  /** The time outside: a program that hangs does so in real time (N23). */
  readonly real: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly dial: (endpoint: Endpoint) => Dial;
}

/**
 * Asks once and follows redirects on the same host (N21): 200 to 299 is a success, what is left of 300 to 399 a success
 * with a warning, everything else and no answer a failure. Rejects when the body breaks off, which says nothing about
 * the program.
 */
export async function httpCheck(request: HttpRequest, options: HttpCheckOptions): Promise<ProbeOutcome> {
  const { real, timeoutMs, signal, dial } = options;
  const progress: Progress = { url: request.url, isAnswered: false };
  const onTimeout = () => new ProbeProblem(`${progress.url.href} was not read within ${timeoutMs} ms`);
  try {
    return await withDeadline({ clock: real, timeoutMs, signal, onTimeout }, async (deadline) => {
      const answer = await lastAnswer(request, { progress, dial, signal: deadline });
      progress.isAnswered = true;
      return outcomeOf(answer.statusCode ?? 0, await bodyOf(answer));
    });
  } catch (error) {
    signal.throwIfAborted();
    if (progress.isAnswered || !(error instanceof Error)) throw error;
    const why = error instanceof ProbeProblem ? TOO_LATE : reasonOf(error, progress.url);
    return { result: 'failure', message: `Get "${progress.url.href}": ${why}` };
  }
}

const TOO_LATE = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';

/** How far it has come, for messages. */
interface Progress {
  url: URL;
  isAnswered: boolean;
}

class TooManyRedirects extends Error {}

const reasonOf = (error: Error, url: URL): string =>
  error instanceof TooManyRedirects ? error.message : socketFailure(error, endpointOf(url));

interface Hop {
  readonly progress: Progress;
  readonly dial: (endpoint: Endpoint) => Dial;
  readonly signal: AbortSignal;
}

async function lastAnswer({ url: first, headers }: HttpRequest, hop: Hop): Promise<IncomingMessage> {
  for (let redirects = 0; ; redirects++) {
    const { url } = hop.progress;
    const answer = await answerTo(url, headers, hop);
    const next = redirectOf(answer, url);
    if (next === undefined || next.hostname !== first.hostname) return answer;
    answer.destroy();
    hop.progress.url = next;
    if (redirects >= MOST_REDIRECTS - 1) throw new TooManyRedirects(`stopped after ${MOST_REDIRECTS} redirects`);
  }
}

function redirectOf({ statusCode = 0, headers: { location = '' } }: IncomingMessage, from: URL): URL | undefined {
  if (!REDIRECTS.has(statusCode) || location === '') return undefined;
  const to = URL.parse(location, from.href);
  return to?.protocol === 'http:' || to?.protocol === 'https:' ? to : undefined;
}

function answerTo(url: URL, headers: readonly HTTPHeader[], { dial, signal }: Hop): Promise<IncomingMessage> {
  const options: RequestOptions = {
    ...dial(endpointOf(url)),
    path: `${url.pathname}${url.search}`,
    headers: sentHeaders(url, headers),
    // A connection of its own, closed afterwards: the answer of a kept one says nothing about who listens now.
    agent: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === 'https:' ? requestHttps({ ...options, ...tlsFor(url) }) : requestHttp(options);
    request.once('response', resolve);
    request.on('error', reject);
    request.end();
  });
}

/** Whose certificate it is does not matter to a probe; who is asked for does. */
const tlsFor = ({ hostname }: URL) => ({
  rejectUnauthorized: false,
  servername: isIP(hostname) === 0 && !hostname.startsWith('[') ? hostname : '',
});

/** The server is named once and the connection is closed, whatever is given; the rest as often as it is given. */
function sentHeaders(url: URL, given: readonly HTTPHeader[]): Record<string, string | string[]> {
  const { host, port } = endpointOf(url);
  const named = given.findLast(({ name }) => name.toLowerCase() === 'host');
  const sent = new Map<string, string[]>();
  for (const { name, value } of given)
    sent.set(name.toLowerCase(), [...(sent.get(name.toLowerCase()) ?? []), value]);
  return {
    ...Object.fromEntries(sent),
    host: named?.value ?? `${host.includes(':') ? `[${host}]` : host}:${port}`,
    connection: 'close',
  };
}

function endpointOf({ hostname, port, protocol }: URL): Endpoint {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

async function bodyOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop destroys the answer and its socket.
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MOST_BODY_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MOST_BODY_BYTES).toString('utf8');
}

/** A failure says nothing of the body: what a program prints there is not meant for everybody who reads events. */
function outcomeOf(status: number, body: string): ProbeOutcome {
  if (status < 200 || status >= 400) {
    return { result: 'failure', message: `HTTP probe failed with statuscode: ${status}` };
  }
  if (status < 300) return { result: 'success', message: body };
  return { result: 'warning', message: `Probe terminated redirects, Response body: ${body}` };
}

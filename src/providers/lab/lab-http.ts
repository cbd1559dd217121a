import type { z } from 'zod';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { refusalError, transportError } from './lab-errors.ts';

export interface LabRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

interface Expectation<T> {
  readonly token?: string;
  readonly schema: z.ZodType<T>;
  readonly signal: AbortSignal;
}

/** No answer of the cloud is longer: a page holds a hundred objects. */
const LONGEST_ANSWER = 16 * 1024 * 1024;

/** One request and its checked answer. Throws a ProviderError, or the reason of the signal. */
export async function exchange<T>(endpoint: string, request: LabRequest, expected: Expectation<T>): Promise<T> {
  const { method, path } = request;
  const name = `${method} ${path}`;
  const { status, retryAfter, text } = await answerTo(endpoint, request, expected);
  const body = jsonIn(text);
  if (status >= 300) throw refusalError({ request: name, status, retryAfter, body });
  const parsed = expected.schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') ?? '';
  const problem = `the answer is not what the lab API promises${where === '' ? '' : `: look at ${where}`}`;
  throw new ProviderError(method === 'GET' ? 'unknown' : 'uncertain', `${name}: ${problem}`);
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

async function answerTo(
  endpoint: string,
  request: LabRequest,
  { token, signal }: Pick<Expectation<unknown>, 'token' | 'signal'>,
): Promise<Answer> {
  const { method, path, body } = request;
  const query = request.query?.toString() ?? '';
  try {
    const response = await fetch(`${endpoint}${path}${query === '' ? '' : `?${query}`}`, {
      method,
      signal,
      // The token is for this cloud and nobody whom it may point at.
      redirect: 'error',
      headers: headersOf(request, token),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await boundedText(response);
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text };
  } catch (error) {
    signal.throwIfAborted();
    throw transportError(error, method, `${method} ${path}`);
  }
}

const headersOf = (
  { body, idempotencyKey }: LabRequest,
  token: string | undefined,
): Readonly<Record<string, string>> => ({
  accept: 'application/json',
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
});

async function boundedText({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.length;
    if (length > LONGEST_ANSWER) throw new Error(`the answer is longer than ${LONGEST_ANSWER} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import type { StatusCause, StatusDetails } from '../../api/status.ts';
import { redactedText } from '../../base/redaction.ts';
import { parseExact } from '../../object/exact-json.ts';
import { isJsonObject, type Json } from '../../object/json.ts';
import { isRecord } from '../../object/record.ts';
import type { TransportResponse } from '../transport/transport.ts';
import { ApiError } from './api-error.ts';

/** What an error says about the request: never a query value, never a body (A3, S35). */
export interface RequestName {
  readonly method?: string;
  /** Without the query. */
  readonly path?: string;
}

type Headers = TransportResponse['headers'];

// Some load balancers say a day; nobody should stand still for that long (reliability T2).
const LONGEST_RETRY_AFTER_MS = 60_000;
const SHOWN_TEXT = 200;

const REASONS: ReadonlyMap<number, string> = new Map([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [410, 'Gone'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [502, 'BadGateway'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
]);

/** The JSON of an answer; undefined for an empty body. A body that is no JSON is an ApiError without its text. */
export function decodedBody(bytes: Uint8Array, status: number, request: RequestName): Json | undefined {
  if (bytes.length === 0) return undefined;
  try {
    return parseExact(textOf(bytes));
  } catch {
    throw new ApiError({
      code: status,
      reason: 'UndecodableAnswer',
      message: `${nameOf(request)} was answered with ${status} and a body that is no JSON; is a proxy in between?`,
      ...request,
    });
  }
}

/** The failure that an answer tells of: a Status, or whatever a proxy wrote instead of one. */
export function failureOf(
  { status, headers }: Pick<TransportResponse, 'status' | 'headers'>,
  bytes: Uint8Array,
  request: RequestName,
  now: Date,
): ApiError {
  const retryAfterMs = retryAfterOf(headers, now);
  const body = bodyOf(bytes);
  if (isRecord(body) && body['kind'] === 'Status') return statusError(body, request, { status, retryAfterMs });
  return new ApiError({
    code: status,
    // Without a Status nobody has looked for the object: a 404 says that the path leads nowhere.
    reason: status === 404 ? 'NoMatch' : reasonOf(status, request),
    message: `${nameOf(request)} was answered with ${status}${shownText(bytes)}`,
    ...request,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

interface AnswerFacts {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
}

/** The error of a Status object, from an answer or from an ERROR event. */
export function statusError(
  status: Readonly<Record<string, unknown>>,
  request: RequestName,
  { status: httpCode = 500, retryAfterMs }: AnswerFacts = {},
): ApiError {
  const code = typeof status['code'] === 'number' && status['code'] > 0 ? status['code'] : httpCode;
  const details = detailsOf(status['details']);
  const told = textIn(status, 'reason') ?? reasonOf(code, request);
  const waitMs = retryAfterMs ?? (details.retryAfterSeconds ?? 0) * 1000;
  return new ApiError({
    code,
    // The server itself says NotFound for kinds that it does not serve; an object that is missing has a name.
    reason: code === 404 && details.name === undefined ? 'NoMatch' : told,
    message: textIn(status, 'message') ?? `${nameOf(request)} failed with ${code} ${told}`,
    details,
    ...request,
    ...(waitMs > 0 && { retryAfterMs: Math.min(waitMs, LONGEST_RETRY_AFTER_MS) }),
  });
}

const nameOf = ({ method = 'the request', path = '' }: RequestName): string => `${method} ${path}`.trim();

function reasonOf(code: number, { method }: RequestName): string {
  if (code === 409) return method === 'POST' ? 'AlreadyExists' : 'Conflict';
  return REASONS.get(code) ?? (code >= 500 ? 'InternalError' : 'Unknown');
}

function detailsOf(value: unknown): StatusDetails {
  if (!isRecord(value)) return {};
  const { retryAfterSeconds, causes } = value;
  return {
    ...textMembers(value, ['name', 'group', 'kind', 'uid']),
    ...(Array.isArray(causes) && { causes: causes.filter(isRecord).map(causeOf) }),
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
  };
}

const causeOf = (cause: Readonly<Record<string, unknown>>): StatusCause =>
  textMembers(cause, ['reason', 'message', 'field']);

const textMembers = (value: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const text = textIn(value, name);
      return text === undefined ? [] : [[name, text]];
    }),
  );

function textIn(value: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const text = value[name];
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Seconds or a date (RFC 9110); at most a minute. */
function retryAfterOf(headers: Headers, now: Date): number | undefined {
  const header = headers['retry-after'];
  const text = (typeof header === 'string' ? header : (header?.[0] ?? '')).trim();
  if (text === '') return undefined;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, waitMs), LONGEST_RETRY_AFTER_MS);
}

function bodyOf(bytes: Uint8Array): Json | undefined {
  try {
    const value = parseExact(textOf(bytes));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `: Bad Gateway nginx`: what is left of a page without its tags, as far as it may be shown. */
function shownText(bytes: Uint8Array): string {
  const text = textOf(bytes.subarray(0, 4096))
    .replaceAll(/<(script|style)\b.*?<\/\1>/gis, ' ')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (text === '' || text.startsWith('{')) return '';
  return `: ${redactedText(text.length > SHOWN_TEXT ? `${text.slice(0, SHOWN_TEXT)}…` : text)}`;
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

import type { JsonObject } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';
import type { Representation } from '../negotiation/accept.ts';
import type { ApiResponse } from '../request.ts';
import type { StatusError } from '../status.ts';

const NEWLINE = Buffer.from('\n');
const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' };

const YAML_HEADERS = { ...JSON_HEADERS, 'content-type': 'application/yaml' };

/** An answer whose JSON is ready as bytes. */
export const jsonAnswer = (status: number, body: readonly Uint8Array[]): ApiResponse => ({
  status,
  headers: JSON_HEADERS,
  body: [...body, NEWLINE],
});

/** An answer made of an object, in the media type asked for. */
export function objectAnswer(status: number, object: JsonObject, as: Representation): ApiResponse {
  if (as.isPretty && as.mediaType === 'json') {
    return { status, headers: JSON_HEADERS, body: [Buffer.from(stringifyJson(object, { pretty: true }))] };
  }
  const answer = jsonAnswer(status, [Buffer.from(stringifyJson(object))]);
  // The last step of serving turns it into YAML.
  return as.mediaType === 'yaml' ? { ...answer, headers: YAML_HEADERS } : answer;
}

/** A failure, always JSON unless YAML was asked for (H9: the wait is also a header). */
export function statusAnswer(error: StatusError, as: Representation): ApiResponse {
  const answer = objectAnswer(error.code, error.body(), as);
  const wait = error.details?.retryAfterSeconds ?? 0;
  return wait > 0 ? { ...answer, headers: { ...answer.headers, 'retry-after': String(wait) } } : answer;
}

export const textAnswer = (status: number, text: string): ApiResponse => ({
  status,
  headers: {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
  },
  body: [Buffer.from(text)],
});

/** U4: what Go's mux says about a path it does not know. */
export const pageNotFound = (): ApiResponse => textAnswer(404, '404 page not found\n');

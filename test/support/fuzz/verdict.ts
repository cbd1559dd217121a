import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import type { Outcome } from './attacker.ts';
import type { FuzzRequest } from './request.ts';

/** Answers to paths nobody knows; the documents of OpenAPI answer with nothing. */
const PLAIN_TEXTS = ['', '404 page not found\n'];

/** What is wrong with an answer; undefined when it is as it must be (reliability/P9, P10). */
export function problemOf(request: FuzzRequest, outcome: Outcome): string | undefined {
  if (outcome.problem !== undefined) return outcome.problem;
  if (request.raw !== undefined) return connectionProblem(outcome);
  if (outcome.status === 0) return 'the connection was closed without an answer';
  if (outcome.status >= 500) return serverProblem(request, outcome);
  return hasNoBody(request, outcome) ? undefined : bodyProblem(outcome);
}

/** Upstream says as little about an expectation that it does not know, and about forms of its OpenAPI document. */
const hasNoBody = ({ method, path }: FuzzRequest, { status, body }: Outcome): boolean =>
  method === 'HEAD' ||
  (body.length === 0 && (status === 417 || (status === 406 && path.startsWith('/openapi/v2'))));

const bodyProblem = (outcome: Outcome): string | undefined =>
  outcome.status < 400 ? successProblem(outcome) : statusProblem(outcome);

/**
 * Upstream blames itself, too, for a strategic merge patch that contradicts its own directives (a Status without a
 * reason), and for a revision that does not come. The suite against the real server compares them.
 */
function serverProblem({ attack }: FuzzRequest, { status, body }: Outcome): string | undefined {
  const text = body.toString('utf8');
  const isUpstreamToo =
    (status === 500 && attack.startsWith('strategic') && !text.includes('"reason":')) ||
    (status === 504 && text.includes('"ResourceVersionTooLarge"'));
  return isUpstreamToo ? undefined : `${status}: ${text.slice(0, 300)}`;
}

/** A connection that talks nonsense may be closed; what it gets before must not blame the server. */
function connectionProblem({ body, status }: Outcome): string | undefined {
  if (status >= 500) return body.toString('latin1').slice(0, 300);
  const answers = body.toString('latin1').matchAll(/^HTTP\/1\.1 (5\d\d).*$/gm);
  for (const [line] of answers) return line;
  return undefined;
}

function header({ headers }: Outcome, wanted: string): string {
  return headers.find(([name]) => name === wanted)?.[1] ?? '';
}

function textOf(outcome: Outcome): string {
  const body = header(outcome, 'content-encoding') === 'gzip' ? gunzipSync(outcome.body) : outcome.body;
  return body.toString('utf8');
}

function successProblem(outcome: Outcome): string | undefined {
  const type = header(outcome, 'content-type');
  const text = textOf(outcome);
  // A watch is a sequence of documents.
  const documents = text.split('\n').filter((line) => line !== '');
  const isJson = type.startsWith('application/json');
  if (!isJson || isDocument(text) || documents.every(isDocument)) return undefined;
  return `${outcome.status} with ${type}, but the body is ${text.slice(0, 200)}`;
}

function isDocument(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function statusProblem(outcome: Outcome): string | undefined {
  const type = header(outcome, 'content-type');
  const text = textOf(outcome);
  if (outcome.status === 404 && PLAIN_TEXTS.includes(text)) return undefined;
  if (isStatus(documentIn(text, type), outcome.status)) return undefined;
  return `${outcome.status} as ${type} is not a Status: ${text.slice(0, 200)}`;
}

/** Undefined for what cannot be read: that is one more finding, not the end of the campaign. */
function documentIn(text: string, type: string): Readonly<Record<string, unknown>> | undefined {
  try {
    if (type.startsWith('application/yaml')) return parse(text);
    return type.startsWith('application/json') ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** A failure that says why, with the code of the answer. */
const isStatus = (found: Readonly<Record<string, unknown>> | undefined, wanted: number): boolean =>
  found?.['kind'] === 'Status' &&
  found['apiVersion'] === 'v1' &&
  found['status'] === 'Failure' &&
  typeof found['message'] === 'string' &&
  found['code'] === wanted;

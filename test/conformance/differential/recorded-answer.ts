import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import type { RawAnswer } from '../../support/api-client.ts';
import { valuesAt } from './answer-path.ts';
import type { Step } from './case-file.ts';

/** One answer of one server, in a form that can be masked and compared. */
export interface Recorded {
  /** What was asked, for the report. */
  readonly label: string;
  readonly step: Step;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** Why the case could not go on, or what `expect` did not find. */
  readonly failure?: string | undefined;
}

/** Headers whose value matters to a client. */
const VALUES = [
  'content-type',
  'warning',
  'retry-after',
  'location',
  'cache-control',
  'vary',
  'content-encoding',
  'x-content-type-options',
  'www-authenticate',
];
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function readable({ status, headers, body }: RawAnswer): Pick<Recorded, 'status' | 'headers' | 'body'> {
  const first = (wanted: string) => headers.find(([name]) => name === wanted)?.[1] ?? '';
  const type = first('content-type');
  const plain = first('content-encoding') === 'gzip' && body.length > 0 ? gunzipSync(body) : body;
  const text = plain.toString('utf8');
  return { status, headers: { ...headersOf(headers), ...layoutOf(type, text) }, body: bodyOf(type, text) };
}

function headersOf(headers: RawAnswer['headers']): Record<string, unknown> {
  const valuesOf = (name: string) => headers.filter(([other]) => other === name).map(([, value]) => value);
  const found: Record<string, unknown> = {};
  for (const name of VALUES) {
    const values = valuesOf(name);
    // Upstream gathers warnings from several places, and in the order of Go maps.
    if (name === 'warning') values.sort();
    if (values.length > 0) found[name] = values.length === 1 ? values[0] : values;
  }
  if (valuesOf('etag').length > 0) found['etag'] = 'present';
  const [audit] = valuesOf('audit-id');
  if (audit !== undefined) found['audit-id'] = withoutUuid(audit);
  return found;
}

/** The server's own audit id is different each time; one that the client chose comes back. */
const withoutUuid = (audit: string): string => (UUID.test(audit) ? 'a uuid' : audit);

const isJson = (type: string): boolean => type.startsWith('application/json');

/** Whether a JSON body is printed for machines or for people, and how it ends; a stream has a document per line. */
function layoutOf(type: string, text: string): Record<string, unknown> {
  if (!isJson(type) || text === '') return {};
  const end = text.endsWith('\n') ? ' with a line end' : '';
  return { layout: `${/^[{[]\n/.test(text) ? 'pretty' : 'compact'}${end}` };
}

function bodyOf(type: string, text: string): unknown {
  if (type.startsWith('application/yaml')) return parse(text);
  if (type.startsWith('application/vnd.kubernetes.protobuf')) return { protobuf: text !== '' };
  // Upstream serves the index of OpenAPI as text/plain.
  return (isJson(type) && text !== '') || text.startsWith('{') ? parseJson(text) : text;
}

/** Integers beyond 2^53 come out as text, so that no digit is lost. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
  } catch {
    return { 'not JSON': text };
  }
}

const exact = (_key: string, value: unknown, context: { source?: string }): unknown =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
    ? `integer ${context.source}`
    : value;

/** The conditions of `until`, `expect` and `deviation` that do not hold; `http` is the status of the answer. */
export function unmet(
  { status, headers, body }: Pick<Recorded, 'status' | 'headers' | 'body'>,
  conditions: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.entries(conditions).flatMap(([path, wanted]) => {
    const found = foundAt({ status, headers, body }, path);
    return isAsWanted(found, wanted)
      ? []
      : [`${path} is ${JSON.stringify(found) ?? 'absent'}, not ${JSON.stringify(wanted)}`];
  });
}

export function foundAt({ status, headers, body }: Pick<Recorded, 'status' | 'headers' | 'body'>, path: string) {
  if (path === 'http') return status;
  if (path.startsWith('header:')) return headers[path.slice('header:'.length)];
  return valuesAt(body, path)[0];
}

/** `present` and `absent` say what they say, `/text/` is searched for; everything else must be equal. */
function isAsWanted(found: unknown, wanted: unknown): boolean {
  if (wanted === 'present') return found !== undefined;
  if (wanted === 'absent') return found === undefined;
  const pattern = typeof wanted === 'string' ? /^\/(.*)\/$/s.exec(wanted)?.[1] : undefined;
  if (pattern !== undefined) return new RegExp(pattern).test(String(found));
  return isDeepStrictEqual(found, wanted);
}

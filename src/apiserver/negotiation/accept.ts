import { StatusError } from '../status.ts';

export type MediaType = 'json' | 'yaml';
export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** How the answer is to be written. */
export interface Representation {
  readonly mediaType: MediaType;
  readonly transform: Transform | undefined;
  /** Version of the transform: tables and partial objects exist as v1 and v1beta1. */
  readonly transformVersion: 'v1' | 'v1beta1';
  readonly isPretty: boolean;
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
  readonly position: number;
}

const MEDIA_TYPES: Readonly<Record<string, MediaType>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  '*/*': 'json',
  'application/*': 'json',
};
const TRANSFORMS = new Set<string>(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);
const PRODUCED = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
// Nobody needs more; a header of thousands of clauses is an attack (reliability T7.4).
const MOST_CLAUSES = 64;

export const PLAIN_JSON: Representation = {
  mediaType: 'json',
  transform: undefined,
  transformVersion: 'v1',
  isPretty: false,
};

/** How upstream writes what it could not negotiate, and documents that are not API objects. */
export const PRETTY_JSON: Representation = { ...PLAIN_JSON, isPretty: true };

/** What the routes of built-in kinds say they produce. */
export const OBJECT_TYPES: readonly string[] = PRODUCED;
export const LIST_TYPES: readonly string[] = [
  ...PRODUCED,
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];
export const LOG_TYPES: readonly string[] = ['text/plain', ...PRODUCED];
export const VERSION_TYPES: readonly string[] = ['application/json'];

const cache = new Map<string, Representation | undefined>();
const CACHE_LIMIT = 256;

/** The first clause, by quality, that we can write (C1). Throws 406 when there is none (C2). */
export function negotiate(accept: string | undefined, transforms: readonly Transform[]): Representation {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json')
    return PLAIN_JSON;
  const key = `${transforms.join()} ${accept}`;
  let chosen = cache.get(key);
  if (chosen === undefined) {
    chosen = choose(accept, transforms);
    if (cache.size >= CACHE_LIMIT) cache.clear();
    cache.set(key, chosen);
  }
  if (chosen === undefined) {
    throw notAcceptable(`only the following media types are accepted: ${PRODUCED.join(', ')}`);
  }
  return chosen;
}

export const notAcceptable = (message: string): StatusError =>
  new StatusError({ code: 406, reason: 'NotAcceptable', message });

/**
 * C2: the router upstream looks at Accept before the API does, for built-in kinds. It knows neither `application/*` nor
 * parameters.
 */
export function requireProduced(accept: string | undefined, types: readonly string[]): void {
  if (accept === undefined || accept === '' || accept === 'application/json') return;
  const isProduced = accept.split(',', MOST_CLAUSES).some((clause) => {
    const [type = ''] = clause.split(';', 1);
    return type.trim() === '*/*' || types.includes(type.trim());
  });
  if (isProduced) return;
  const message = `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`;
  throw new StatusError({ code: 406, reason: 'NotAcceptable', message, details: {} });
}

function choose(accept: string, transforms: readonly Transform[]): Representation | undefined {
  const clauses = parseAccept(accept);
  for (const { type, parameters } of clauses) {
    const mediaType = MEDIA_TYPES[type];
    if (mediaType === undefined) continue;
    const transform = transformOf(parameters, transforms);
    if (transform === 'unknown') continue;
    const version = parameters.get('v') === 'v1beta1' ? 'v1beta1' : 'v1';
    return { mediaType, transform, transformVersion: version, isPretty: parameters.get('pretty') === '1' };
  }
  return undefined;
}

function transformOf(
  parameters: ReadonlyMap<string, string>,
  allowed: readonly Transform[],
): Transform | undefined | 'unknown' {
  const as = parameters.get('as');
  if (as === undefined) return undefined;
  const isKnown =
    TRANSFORMS.has(as) &&
    parameters.get('g') === 'meta.k8s.io' &&
    (parameters.get('v') === 'v1' || parameters.get('v') === 'v1beta1');
  const found = allowed.find((transform) => transform === as);
  return isKnown && found !== undefined ? found : 'unknown';
}

/** Clauses of an Accept header, best first. */
export function parseAccept(accept: string): readonly Clause[] {
  return accept
    .split(',', MOST_CLAUSES)
    .map((text, position) => parseClause(text, position))
    .sort((a, b) => b.quality - a.quality || a.position - b.position);
}

function parseClause(text: string, position: number): Clause {
  const [type = '', ...pairs] = text.split(';').map((part) => part.trim());
  const parameters = new Map(
    pairs.map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return at < 0 ? [pair, ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
  const quality = Number(parameters.get('q') ?? '1');
  return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 0, position };
}

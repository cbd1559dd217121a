import { StatusError } from '../status.ts';
import { acceptClauses, MOST_CLAUSES } from './accept-clauses.ts';

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

/** By subtype; a wildcard means what we like best. */
const MEDIA_TYPES: ReadonlyMap<string, MediaType> = new Map([
  ['json', 'json'],
  ['yaml', 'yaml'],
  ['*', 'json'],
]);
const TRANSFORMS = new Set<string>(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);
const PRODUCED = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

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
  for (const { type, subtype, parameters } of acceptClauses(accept)) {
    const mediaType = type === 'application' || type === '*' ? MEDIA_TYPES.get(subtype) : undefined;
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

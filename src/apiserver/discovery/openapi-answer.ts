import type { TaggedBody } from './aggregated.ts';
import type { OpenApi } from './openapi.ts';

export interface DocumentAnswer {
  readonly status: 200 | 301 | 304 | 404;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent when there is nothing to send. */
  readonly bytes?: Uint8Array;
}

export interface DocumentRequest {
  /** Below /openapi/v3/: `apis/apps/v1`. */
  readonly path: string;
  /** Of the query. */
  readonly hash: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly now: Date;
}

const REVALIDATED = { 'cache-control': 'no-cache, private' };
const NOTHING: DocumentAnswer = { status: 404, headers: REVALIDATED };

/** How a document of OpenAPI v3 is served: for ever under its own hash, by redirect under an old one (D6). */
export function openApiV3Answer(
  openApi: OpenApi,
  { path, hash, ifNoneMatch, now }: DocumentRequest,
): DocumentAnswer {
  const document = openApi.document(path);
  if (document === undefined) return NOTHING;
  const etag = `"${document.hash}"`;
  const shared = { 'content-type': 'application/json', vary: 'Accept', etag };
  if (hash !== undefined && hash !== '' && hash !== document.hash) {
    const location = `/openapi/v3/${path}?hash=${document.hash}`;
    return { status: 301, headers: { ...shared, ...REVALIDATED, location } };
  }
  const caching = hash === document.hash ? immutable(now) : REVALIDATED;
  if (matches(ifNoneMatch, etag)) return { status: 304, headers: { ...shared, ...caching } };
  return { status: 200, headers: { ...shared, ...caching }, bytes: document.body().bytes };
}

/** A body with an ETag: 304 when the client has it already. */
export function taggedAnswer(
  body: TaggedBody,
  contentType: string,
  ifNoneMatch: string | undefined,
): DocumentAnswer {
  const headers = {
    'content-type': contentType,
    ...REVALIDATED,
    vary: 'Accept',
    etag: body.etag,
  };
  return matches(ifNoneMatch, body.etag) ? { status: 304, headers } : { status: 200, headers, bytes: body.bytes };
}

const matches = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);

function immutable(now: Date): Readonly<Record<string, string>> {
  const expires = new Date(now);
  expires.setUTCFullYear(now.getUTCFullYear() + 1);
  return { 'cache-control': 'public, immutable', expires: expires.toUTCString().replace('GMT', 'UTC') };
}

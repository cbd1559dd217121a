import { documentForm, FORM_TYPES } from '../negotiation/document-form.ts';
import type { TaggedBody } from './aggregated.ts';
import type { OpenApi } from './openapi.ts';

export interface DocumentAnswer {
  readonly status: 200 | 301 | 304 | 404 | 406;
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
  const shared = { vary: 'Accept', etag };
  const typed = { 'content-type': 'application/json', ...shared };
  if (hash !== undefined && hash !== '' && hash !== document.hash) {
    const location = `/openapi/v3/${path}?hash=${document.hash}`;
    return { status: 301, headers: { ...typed, ...REVALIDATED, location } };
  }
  const caching = hash === document.hash ? immutable(now) : REVALIDATED;
  if (matches(ifNoneMatch, etag)) return { status: 304, headers: { ...shared, ...caching } };
  return { status: 200, headers: { ...typed, ...caching }, bytes: document.body().bytes };
}

/** `GET /openapi/v2`: JSON, or the protobuf that kubectl and Helm ask for (D8). Both have the same ETag. */
export function openApiV2Answer(
  openApi: OpenApi,
  { accept, ifNoneMatch }: { readonly accept: string | undefined; readonly ifNoneMatch: string | undefined },
): DocumentAnswer {
  const vary = 'Accept-Encoding, Accept';
  const form = documentForm(accept);
  if (form === undefined) return { status: 406, headers: { ...REVALIDATED, vary } };
  const answer = taggedAnswer(openApi.swagger(form), FORM_TYPES[form], ifNoneMatch);
  return { ...answer, headers: { ...answer.headers, vary } };
}

/** A body with an ETag: 304 when the client has it already, and then it knows the type as well. */
export function taggedAnswer(
  body: TaggedBody,
  contentType: string,
  ifNoneMatch: string | undefined,
): DocumentAnswer {
  const headers = { ...REVALIDATED, vary: 'Accept', etag: body.etag };
  if (matches(ifNoneMatch, body.etag)) return { status: 304, headers };
  return { status: 200, headers: { 'content-type': contentType, ...headers }, bytes: body.bytes };
}

const matches = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch.split(',').some((candidate) => ['*', etag, `W/${etag}`].includes(candidate.trim()));

function immutable(now: Date): Readonly<Record<string, string>> {
  const expires = new Date(now);
  expires.setUTCFullYear(now.getUTCFullYear() + 1);
  return { 'cache-control': 'public, immutable', expires: expires.toUTCString().replace('GMT', 'UTC') };
}

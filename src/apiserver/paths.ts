import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../object/json.ts';
import type { OpenApi } from './discovery/openapi.ts';
import { type DocumentAnswer, openApiV2Answer, openApiV3Answer } from './discovery/openapi-answer.ts';
import { rootPaths } from './discovery/root-paths.ts';
import type { Discovery } from './discovery/serve-discovery.ts';
import type { Health } from './health.ts';
import { negotiate, PLAIN_JSON, PRETTY_JSON, requireProduced, VERSION_TYPES } from './negotiation/accept.ts';
import type { Registry } from './registry/registry.ts';
import type { ApiRequest, ApiResponse } from './request.ts';
import { objectAnswer, textAnswer } from './rest/answers.ts';
import type { PathHandler } from './routing/serve.ts';
import { badRequest, methodNotAllowed } from './status.ts';
import { RevisionCompacted, type Store } from './store/store.ts';

export interface PathServices {
  readonly registry: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly discovery: Discovery;
  readonly openApi: OpenApi;
  readonly health: Health;
  readonly version: JsonObject;
  metricsText(): string;
  /** `/.well-known/openid-configuration` and `/openid/v1/jwks` (D11). */
  openId(path: string): Promise<ApiResponse | undefined>;
}

/** Everything that is served besides resources (U8, §5). */
export function pathHandler(services: PathServices): PathHandler {
  return (request, { path }) => {
    if (path === '/debug/slipway/compact') return compact(services, request);
    // Documents about groups and the version have routes of their own; other handlers do not look at the method.
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead && (path === '/version' || /^\/apis?\/./.test(path))) throw methodNotAllowed();
    return (
      services.health.answer(request, path) ??
      services.discovery.answer(request, path) ??
      documents(services, request, path) ??
      fixed(services, request, path)
    );
  };
}

function fixed(services: PathServices, request: ApiRequest, path: string) {
  switch (path) {
    case '/':
      return objectAnswer(200, rootPaths(services.registry.all()), PRETTY_JSON);
    case '/version':
    case '/version/':
      requireProduced(request.headers['accept'], VERSION_TYPES);
      return objectAnswer(200, services.version, PRETTY_JSON);
    case '/metrics':
      return { ...textAnswer(200, services.metricsText()), headers: { 'content-type': METRICS_TYPE } };
    default:
      return services.openId(path);
  }
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const V3 = '/openapi/v3';

function documents({ openApi, clock }: PathServices, request: ApiRequest, path: string): ApiResponse | undefined {
  const ifNoneMatch = request.headers['if-none-match'];
  if (path === '/openapi/v2') {
    return documentAnswer(openApiV2Answer(openApi, { accept: request.headers['accept'], ifNoneMatch }));
  }
  if (path === V3 || path === `${V3}/`)
    return {
      ...objectAnswer(200, openApi.index(), PLAIN_JSON),
      headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache, private' },
    };
  if (!path.startsWith(`${V3}/`)) return undefined;
  const hash = request.query.get('hash') ?? undefined;
  return documentAnswer(
    openApiV3Answer(openApi, { path: path.slice(V3.length + 1), hash, ifNoneMatch, now: clock.now() }),
  );
}

const documentAnswer = ({ status, headers, bytes }: DocumentAnswer): ApiResponse => ({
  status,
  headers,
  body: bytes === undefined ? [] : [bytes],
});

/** `POST /debug/slipway/compact?revision=N`: forgets history now (only for those who may post to the path). */
async function compact({ store }: PathServices, request: ApiRequest): Promise<ApiResponse> {
  if (request.method !== 'POST') throw methodNotAllowed();
  const text = request.query.get('revision') ?? '';
  const revision = Number(text);
  if (!/^\d{1,15}$/.test(text) || revision > store.revision || revision < 1) {
    throw badRequest(`revision must be a whole number from 1 to ${store.revision}, not ${JSON.stringify(text)}`);
  }
  try {
    await store.compact(revision);
  } catch (error) {
    if (!(error instanceof RevisionCompacted)) throw error;
  }
  return objectAnswer(200, { compactRevision: store.compactRevision }, negotiate(undefined, []));
}

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Json } from '../../object/json.ts';
import { parseJsonBytes, stringifyJson } from '../../object/json-text.ts';
import { negotiate, PRETTY_JSON, type Representation } from '../negotiation/accept.ts';
import type { ApiRequest, ApiResponse, Handle, UserInfo } from '../request.ts';
import { pageNotFound, statusAnswer } from '../rest/answers.ts';
import type { Scope, Services } from '../rest/services.ts';
import { writeYaml } from '../rest/yaml.ts';
import { badRequest, forbiddenObject, internalError, resourceNotServed, StatusError } from '../status.ts';
import { StoreUnavailable } from '../store/store.ts';
import { Warnings } from '../warnings.ts';
import { inTime } from './deadline.ts';
import { forbiddenStatus } from './forbidden.ts';
import { parseRequestInfo, type RequestInfo } from './request-info.ts';
import { type Routes, serveResource } from './verbs.ts';

/** Says who asks; 401 for credentials that are wrong (Z1). Impersonation is its business too (Z8). */
export interface Authenticator {
  authenticate(request: ApiRequest): Promise<UserInfo> | UserInfo;
}

/** Keeps the server from drowning (O1): throws 429, or gives back what to release when the request is done. */
export interface Guard {
  enter(info: RequestInfo, user: UserInfo, request: ApiRequest): Disposable;
}

export interface RequestObserver {
  finished(request: { readonly info: RequestInfo; readonly code: number; readonly seconds: number }): void;
}

/** Paths that are no resources: discovery, health, version … Undefined: no such path. */
export type PathHandler = (
  request: ApiRequest,
  info: RequestInfo,
) => Promise<ApiResponse | undefined> | ApiResponse | undefined;

export interface ServeOptions {
  readonly services: Services;
  readonly routes: Routes;
  readonly authenticator: Authenticator;
  readonly guard: Guard;
  readonly paths: PathHandler;
  readonly observer: RequestObserver;
  /** Told of every answered request. */
  readonly audit?: (served: ServedRequest) => void;
  /** Why an authorized request that comes over the network is not served; undefined: it is. */
  readonly refuse?: (info: RequestInfo) => string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** A request and how it was answered. */
export interface ServedRequest {
  /** Empty when nobody could be made of the credentials. */
  readonly user: string;
  /** What else the credentials say, such as the pod that a token is bound to. */
  readonly extra?: UserInfo['extra'];
  readonly method: string;
  readonly path: string;
  readonly isDryRun: boolean;
  readonly code: number;
}

/** How far one request got. */
interface Progress {
  isAuthorized: boolean;
  user: UserInfo | undefined;
  readonly warnings: Warnings;
}

/** The whole server as one function: authenticate, authorize, route, answer. Never rejects. */
export function createHandle(options: ServeOptions): Handle {
  const { clock, observer } = options;
  return async (request) => {
    const startedMs = clock.monotonicMs();
    const warnings = new Warnings();
    const progress: Progress = { isAuthorized: false, user: undefined, warnings };
    const info = infoOf(request);
    let answer: ApiResponse;
    try {
      if (info === undefined) throw badRequest('the path of the request is not valid percent-encoding');
      const served = serve(options, request, info, progress);
      // Callers in this process have deadlines of their own.
      answer = await (request.isInProcess ? served : inTime(clock, info, served));
    } catch (error) {
      answer = failure(options, request, error);
      if (REFUSED.has(answer.status) && !progress.isAuthorized) answer = withoutSniffing(answer);
    }
    const seconds = (clock.monotonicMs() - startedMs) / 1000;
    if (info !== undefined) observer.finished({ info: countable(options, info), code: answer.status, seconds });
    options.audit?.({
      user: progress.user?.name ?? '',
      ...(progress.user?.extra !== undefined && { extra: progress.user.extra }),
      method: request.method,
      path: request.path,
      isDryRun: request.query.has('dryRun'),
      code: answer.status,
    });
    return finish(options, request, answer, warnings);
  };
}

/** What a client makes up must not become a series of its own: only what is served is counted by name. */
function countable({ services }: ServeOptions, info: RequestInfo): RequestInfo {
  const resource = services.registry.find(info.group, info.version, info.resource);
  if (resource === undefined) return { ...info, group: '', version: '', resource: '', subresource: '' };
  return resource.subresources.has(info.subresource) ? info : { ...info, subresource: '' };
}

function infoOf({ method, path, query }: ApiRequest): RequestInfo | undefined {
  try {
    return parseRequestInfo(method, path.includes('%') ? decodeURIComponent(path) : path, query);
  } catch {
    return undefined;
  }
}

async function serve(
  options: ServeOptions,
  request: ApiRequest,
  info: RequestInfo,
  progress: Progress,
): Promise<ApiResponse> {
  const { services, authenticator, guard } = options;
  const found = authenticator.authenticate(request);
  const user = found instanceof Promise ? await found : found;
  progress.user = user;
  using _entered = guard.enter(info, user, request);
  const { isAllowed } = services.authorizer.authorize({ ...info, user });
  if (!isAllowed) throw forbiddenStatus(info, user);
  progress.isAuthorized = true;
  const why = request.isInProcess ? undefined : options.refuse?.(info);
  if (why !== undefined) throw forbiddenObject(info, info.name, why);
  if (!info.isResourceRequest) return (await options.paths(request, info)) ?? pageNotFound();
  const resource = services.registry.find(info.group, info.version, info.resource);
  if (resource === undefined) {
    if (services.registry.isBuiltinGroup(info.group)) throw resourceNotServed();
    return pageNotFound();
  }
  const scope: Scope = { ...services, request, info, user, resource, warnings: progress.warnings };
  return serveResource(scope, options.routes);
}

/** Whatever was thrown, as a Status. What is not one of ours is a bug: logged, and 500. */
function failure({ log }: ServeOptions, request: ApiRequest, error: unknown): ApiResponse {
  if (error instanceof StatusError) return statusAnswer(error, errorForm(request));
  if (error instanceof StoreUnavailable) return statusAnswer(internalError(error.message), errorForm(request));
  if (!request.signal.aborted)
    log.error({ err: error, method: request.method, path: request.path }, 'Request failed');
  const message = error instanceof Error ? error.message : String(error);
  return statusAnswer(internalError(message), errorForm(request));
}

/** What upstream's authorization and impersonation say carries a header that other answers of the API lack. */
const REFUSED = new Set([400, 403]);
const withoutSniffing = (answer: ApiResponse): ApiResponse => ({
  ...answer,
  headers: { ...answer.headers, 'x-content-type-options': 'nosniff' },
});

/** A Status is never transformed: who accepts only tables or partial objects gets it like one who accepts nothing. */
function errorForm(request: ApiRequest): Representation {
  try {
    return negotiate(request.headers['accept'], []);
  } catch {
    return PRETTY_JSON;
  }
}

// What Go reads as true.
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const PRETTY_AGENTS = ['curl', 'Wget', 'Mozilla/5.0'];

/** H6: people get indented JSON. */
function wantsPretty({ query, headers }: ApiRequest): boolean {
  if (/;\s*pretty=1/.test(headers['accept'] ?? '')) return true;
  const asked = query.get('pretty') ?? '';
  if (asked !== '') return TRUE.has(asked);
  const agent = headers['user-agent'] ?? '';
  return PRETTY_AGENTS.some((start) => agent.startsWith(start));
}

/** Headers every answer has (H5, H10), and indentation for people. */
async function finish(
  { clock }: ServeOptions,
  request: ApiRequest,
  answer: ApiResponse,
  warnings: Warnings,
): Promise<ApiResponse> {
  const texts = warnings.headers();
  const headers = {
    ...answer.headers,
    'audit-id': request.headers['audit-id'] ?? clock.uuid(),
    ...(texts.length > 0 && { warning: texts }),
  };
  const { body } = answer;
  if (typeof body !== 'function' && answer.headers['content-type'] === 'application/yaml') {
    return { ...answer, headers, body: [await writeYaml(parsedJson(body))] };
  }
  if (
    typeof body === 'function' ||
    answer.headers['content-type'] !== 'application/json' ||
    !wantsPretty(request)
  ) {
    return { ...answer, headers };
  }
  return { ...answer, headers, body: [indented(body)] };
}

function indented(body: readonly Uint8Array[]): Uint8Array {
  return Buffer.from(stringifyJson(parsedJson(body), { pretty: true }));
}

/** Our own output, so it is JSON; the parser keeps integers beyond 2^53. */
const parsedJson = (body: readonly Uint8Array[]): Json => parseJsonBytes(Buffer.concat(body)).value;

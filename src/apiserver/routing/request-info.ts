/** What a URL asks for (embedded-apiserver §4): also the attributes authorization is decided on. */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  /** Decoded path. */
  readonly path: string;
  /** `get`, `list`, `watch`, `create` …; for other paths the method in lower case. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  /** Segments after the subresource: only proxies have them. */
  readonly rest: readonly string[];
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

// The only subresources of a namespace; anything else after its name is a resource in it.
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

const nonResource = (path: string, method: string): RequestInfo => ({
  isResourceRequest: false,
  path,
  verb: method.toLowerCase(),
  group: '',
  version: '',
  namespace: '',
  resource: '',
  name: '',
  subresource: '',
  rest: [],
});

interface Prefix {
  readonly group: string;
  readonly version: string;
  readonly segments: readonly string[];
}

const OUTER_SLASHES = /^\/+|\/+$/g;

/**
 * `/api/v1/…` and `/apis/group/version/…`; undefined for every other path. An empty segment counts: between
 * `namespaces` and a resource it means all namespaces, anywhere else there is nothing.
 */
function splitPrefix(path: string): Prefix | undefined {
  const [root, ...segments] = path.replace(OUTER_SLASHES, '').split('/');
  if (root === 'api' && segments.length >= 2) {
    return { group: '', version: segments[0] ?? '', segments: segments.slice(1) };
  }
  if (root === 'apis' && segments.length >= 3) {
    return { group: segments[0] ?? '', version: segments[1] ?? '', segments: segments.slice(2) };
  }
  return undefined;
}

/** Any value but `false` (in any case) and `0` asks for a watch, even none (U1). */
const asksForWatch = (query: URLSearchParams): boolean => {
  const value = query.get('watch');
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
};

export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const prefix = splitPrefix(path);
  // Every other method has no verb, which nobody is granted by name.
  const verb = VERBS[method] ?? '';
  if (prefix === undefined) return nonResource(path, method);
  const isWatchPath = prefix.segments[0] === 'watch' && prefix.segments.length > 1;
  const located = locate(isWatchPath ? prefix.segments.slice(1) : prefix.segments);
  const name = located.name === '' && verb !== 'create' ? nameFromSelector(query) : '';
  return {
    isResourceRequest: true,
    path,
    group: prefix.group,
    version: prefix.version,
    ...located,
    verb: isWatchPath ? 'watch' : verbOf(verb, located.name, query),
    // A list of one name counts as naming it (U2); the engine still sees a list by its verb.
    name: located.name === '' ? name : located.name,
  };
}

function verbOf(verb: string, name: string, query: URLSearchParams): string {
  if (verb === 'get' && name === '') return asksForWatch(query) ? 'watch' : 'list';
  if (verb === 'delete' && name === '') return 'deletecollection';
  return verb;
}

interface Location {
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  readonly rest: readonly string[];
}

function locate(segments: readonly string[]): Location {
  const [first = '', second = '', third] = segments;
  const isInNamespace =
    first === 'namespaces' && third !== undefined && !NAMESPACE_SUBRESOURCES.has(third) && segments.length >= 3;
  const [resource = '', name = '', subresource = '', ...rest] = isInNamespace ? segments.slice(2) : segments;
  const namespace = isInNamespace || first === 'namespaces' ? second : '';
  return { namespace, resource, name, subresource, rest };
}

const EXACT_NAME = /^metadata\.name==?([^,=!]+)$/;

/** `fieldSelector=metadata.name=X` names X. */
function nameFromSelector(query: URLSearchParams): string {
  const requirements = (query.get('fieldSelector') ?? '').split(',');
  const exact = requirements.map((text) => EXACT_NAME.exec(text)?.[1]).find((found) => found !== undefined);
  return exact ?? '';
}

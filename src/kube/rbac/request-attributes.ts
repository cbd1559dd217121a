/** What an authorizer sees of a request. */
export interface RequestAttributes {
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  /** Plural, with the subresource: `deployments/scale`; empty for other paths. */
  readonly resource: string;
  /** Empty: all namespaces, or none. */
  readonly namespace: string;
  /** Empty for lists, creations and collections. */
  readonly name: string;
  /** Without query. */
  readonly path: string;
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
const NAMESPACE_PARTS: ReadonlySet<string> = new Set(['status', 'finalize']);
const OLD_PREFIXES: ReadonlySet<string> = new Set(['watch', 'proxy']);

/** Reads a request as the API server does before it asks its authorizer (B3). Pure. */
export function requestAttributes(method: string, target: string): RequestAttributes {
  const at = target.indexOf('?');
  const path = at < 0 ? target : target.slice(0, at);
  const query = new URLSearchParams(at < 0 ? '' : target.slice(at + 1));
  const parts = path.split('/').filter((part) => part !== '');
  const found = resourceParts(parts);
  if (found === undefined) {
    const verb = method.toLowerCase();
    return { verb, isResourceRequest: false, group: '', resource: '', namespace: '', name: '', path };
  }
  const { group, prefix, rest } = found;
  const named = { ...namedParts(rest), group, path, isResourceRequest: true };
  const verb = prefix ?? VERBS.get(method) ?? '';
  if (named.name !== '') return { ...named, verb };
  if (verb === 'delete') return { ...named, verb: 'deletecollection' };
  if (verb !== 'get' && verb !== 'watch') return { ...named, verb };
  return { ...named, verb: verb === 'watch' || isOn(query.get('watch')) ? 'watch' : 'list', name: nameIn(query) };
}

/** `/api/v1/<rest>` and `/apis/<group>/<version>/<rest>`; undefined for discovery and everything else. */
function resourceParts(parts: readonly string[]) {
  const [root, ...after] = parts;
  if (root !== 'api' && root !== 'apis') return undefined;
  const isCore = root === 'api';
  const rest = after.slice(isCore ? 1 : 2);
  const [first = ''] = rest;
  if (first === '') return undefined;
  const group = isCore ? '' : (after[0] ?? '');
  const isOld = OLD_PREFIXES.has(first) && rest.length > 1;
  return { group, prefix: isOld ? first : undefined, rest: isOld ? rest.slice(1) : rest };
}

function namedParts(rest: readonly string[]): Pick<RequestAttributes, 'resource' | 'namespace' | 'name'> {
  const [first = '', second = '', third = ''] = rest.map(decoded);
  if (first !== 'namespaces' || second === '') return { namespace: '', ...itemParts(rest) };
  // A namespace is in itself, as upstream sees it; its own subresources look like resources in it.
  const isItself = third === '' || NAMESPACE_PARTS.has(third);
  return { namespace: second, ...itemParts(isItself ? rest : rest.slice(2)) };
}

function itemParts(rest: readonly string[]): Pick<RequestAttributes, 'resource' | 'name'> {
  const [resource = '', name = '', subresource = ''] = rest.map(decoded);
  return { resource: subresource === '' ? resource : `${resource}/${subresource}`, name };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Everything that does not say no is a yes, the empty text included. */
const isOn = (value: string | null): boolean => value !== null && value !== '0' && value.toLowerCase() !== 'false';

/** A list of one object by its name is what a rule with names allows. */
function nameIn(query: URLSearchParams): string {
  const selectors = (query.get('fieldSelector') ?? '').split(',');
  const [, name = ''] =
    selectors.map((text) => /^metadata\.name==?([^=].*)$/.exec(text.trim())).find(Boolean) ?? [];
  return name;
}

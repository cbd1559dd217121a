import type { Access } from '../access/scopes.ts';
import { type CloudError, invalidArgument, notFound } from '../cloud-error.ts';
import type { KindCatalogue } from '../resources/kind-catalogue.ts';
import type { DefinedKind, Subresource } from '../resources/resource-kind.ts';

/** What a request is about. */
export type Route =
  | { readonly to: 'tokens' }
  | { readonly to: 'resources' }
  | { readonly to: 'operation'; readonly id: string }
  | { readonly to: 'collection'; readonly kind: DefinedKind; readonly verb: 'list' | 'create' }
  | { readonly to: 'item'; readonly kind: DefinedKind; readonly id: string; readonly verb: ItemVerb }
  | { readonly to: 'subresource'; readonly kind: DefinedKind; readonly id: string; readonly sub: Sub }
  | { readonly to: 'lab'; readonly name: string; readonly rest: readonly string[] };

export type ItemVerb = 'get' | 'update' | 'delete' | 'act';

interface Sub {
  readonly declared: Subresource<object>;
  /** As it was sent. */
  readonly rest: string;
}

/** The way to what is asked for. The path is as it was sent: what comes after a subresource may be anything. */
export function routeOf(method: string, path: string, kinds: KindCatalogue): Route {
  const [root, ...encoded] = path.replace(/^\//, '').split('/');
  if (root === 'lab') return { to: 'lab', name: encoded[0] ?? '', rest: encoded.slice(1).map(decoded) };
  if (root !== 'v1') throw notFound(`path ${path}; what there is begins with /v1/`);
  const [first = '', id, ...more] = encoded;
  const own = ownRoute(method, first, id, more.length);
  if (own !== undefined) return own;
  const kind = kinds.get(first);
  if (kind === undefined) throw unknownKind(first, kinds);
  if (id === undefined || id === '') return collection(method, kind);
  return item(method, kind, decoded(id), more);
}

function ownRoute(method: string, first: string, id: string | undefined, more: number): Route | undefined {
  if (first === 'tokens' && id === undefined) return allowed(method, ['POST'], { to: 'tokens' });
  if (first === 'resources' && id === undefined) return allowed(method, ['GET'], { to: 'resources' });
  if (first === 'operations' && id !== undefined && more === 0)
    return allowed(method, ['GET'], { to: 'operation', id: decoded(id) });
  return undefined;
}

function collection(method: string, kind: DefinedKind): Route {
  const verb = method === 'POST' ? 'create' : 'list';
  const methods = kind.createSchema === undefined ? ['GET'] : ['GET', 'POST'];
  return allowed(method, methods, { to: 'collection', kind, verb });
}

const ITEM_VERBS: ReadonlyMap<string, ItemVerb> = new Map([
  ['GET', 'get'],
  ['PATCH', 'update'],
  ['DELETE', 'delete'],
]);

function item(method: string, kind: DefinedKind, id: string, more: readonly string[]): Route {
  const [name, ...rest] = more;
  if (name === undefined) {
    const verb = ITEM_VERBS.get(method) ?? 'get';
    return allowed(method, [...ITEM_VERBS.keys()], { to: 'item', kind, id, verb });
  }
  if (name === 'actions' && rest.length === 0)
    return allowed(method, ['POST'], { to: 'item', kind, id, verb: 'act' });
  const subresources = kind.subresources ?? {};
  const declared = Object.hasOwn(subresources, name) ? subresources[name] : undefined;
  if (declared === undefined || (rest.length > 0 && declared.hasRest !== true))
    throw notFound(`path /v1/${kind.plural}/${id}/${more.join('/')}`);
  const sub = { declared, rest: rest.join('/') };
  return allowed(method, declared.methods, { to: 'subresource', kind, id, sub });
}

function allowed(method: string, methods: readonly string[], route: Route): Route {
  if (methods.includes(method)) return route;
  throw invalidArgument('method', `${method} is not possible here; what is: ${methods.join(', ')}`);
}

function unknownKind(name: string, kinds: KindCatalogue): CloudError {
  const known = kinds.all.map(({ plural }) => plural).toSorted();
  return notFound(`kind "${name}"; known are ${known.join(', ')}`);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidArgument('path', `path: "${segment}" cannot be decoded`);
  }
}

/** What a token has to allow for it: the kind, and what is done to it. */
export function accessOf(route: Route, method: string): { readonly kind: string; readonly access: Access } {
  if (route.to === 'lab') return { kind: 'lab', access: 'admin' };
  const isRead = method === 'GET' || method === 'HEAD';
  if (!('kind' in route)) return { kind: route.to, access: isRead ? 'read' : 'write' };
  if (isRead) return { kind: route.kind.plural, access: 'read' };
  return { kind: route.kind.plural, access: route.kind.writeScope ?? 'write' };
}

import { isCustomResource } from '../crd/custom-resource.ts';
import { LIST_TYPES, LOG_TYPES, OBJECT_TYPES, requireProduced } from '../negotiation/accept.ts';
import type { ApiResponse } from '../request.ts';
import { pageNotFound } from '../rest/answers.ts';
import { create } from '../rest/create.ts';
import { deleteOne } from '../rest/delete.ts';
import { deleteCollection } from '../rest/delete-collection.ts';
import { get } from '../rest/get.ts';
import { list } from '../rest/list.ts';
import { patch } from '../rest/patch.ts';
import { put } from '../rest/put.ts';
import type { Scope } from '../rest/services.ts';
import { badRequest, methodNotAllowed, notFound, qualified, resourceNotServed, StatusError } from '../status.ts';
import type { Watches } from '../watching/watch.ts';

type Verb = (scope: Scope) => Promise<ApiResponse>;

/** Subresources that are no view of the object: `pods/binding`, `serviceaccounts/token` … by `group/plural/name`. */
export type SubresourceHandlers = ReadonlyMap<string, Verb>;

export interface Routes {
  readonly watches: Watches;
  readonly subresources: SubresourceHandlers;
  /** Kinds that are answered and never stored: reviews, by `group/plural`. */
  readonly virtual: ReadonlyMap<string, Verb>;
}

const VERBS: Readonly<Record<string, Verb>> = {
  get,
  list,
  create,
  update: put,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
};

/** Finds what a resource URL asks for and does it (U3–U6). */
export function serveResource(scope: Scope, routes: Routes): Promise<ApiResponse> {
  const { resource, info, request } = scope;
  if (request.method === 'HEAD' && !resource.isCustom) throw methodNotAllowed();
  if (isCustomResource(resource)) scope.warnings.add(resource.deprecationWarning ?? '');
  if (!isPlaced(scope)) return Promise.resolve(misplaced(scope));
  // Beyond an empty segment there is nothing; without this, a DELETE of `configmaps///x` would empty the collection.
  if (!resource.isCustom && info.subresource === '' && info.rest.length > 0) throw resourceNotServed();
  const virtual = routes.virtual.get(`${resource.group}/${resource.plural}`);
  if (virtual !== undefined) return serveVirtual(scope, virtual);
  if (info.subresource !== '') return serveSubresource(scope, routes);
  if (info.verb === 'watch') {
    enterRoute(scope);
    return routes.watches.answer(scope);
  }
  return serveVerb(scope);
}

/** Warnings of core resources that should no longer be used. */
const DEPRECATED: Readonly<Record<string, string>> = {
  endpoints: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  componentstatuses: 'v1 ComponentStatus is deprecated in v1.19+',
};

/** What happens upstream once a route of a built-in kind was found, before the API sees the request. */
function enterRoute({ resource, info, request, warnings }: Scope): void {
  if (resource.isCustom) return;
  const isList = info.verb === 'list' || info.verb === 'watch';
  const objectTypes = info.subresource === 'log' ? LOG_TYPES : OBJECT_TYPES;
  requireProduced(request.headers['accept'], isList ? LIST_TYPES : objectTypes);
  if (resource.group === '') warnings.add(DEPRECATED[resource.plural] ?? '');
}

function serveVirtual(scope: Scope, handler: Verb): Promise<ApiResponse> {
  if (scope.info.verb !== 'create') throw methodNotAllowed();
  enterRoute(scope);
  return handler(scope);
}

function serveVerb(scope: Scope): Promise<ApiResponse> {
  const { resource, info } = scope;
  // POST to the name of a custom resource creates it (U5).
  if (info.verb === 'create' && info.name !== '' && !resource.isCustom) throw methodNotAllowed();
  const verb = VERBS[info.verb];
  if (verb === undefined || !resource.verbs.includes(info.verb)) throw notSupported(scope);
  if (info.name === '' && NAMED.has(info.verb)) {
    throw resource.isCustom ? badRequest('name must be provided') : methodNotAllowed();
  }
  enterRoute(scope);
  return verb(scope);
}

/** Verbs that a collection does not have. */
const NAMED = new Set(['update', 'patch']);

/** Whether the namespace is where the resource wants it. */
function isPlaced({ resource, info }: Scope): boolean {
  if (resource.plural === 'namespaces' && resource.group === '') return true;
  if (!resource.isNamespaced) return info.namespace === '';
  return info.namespace !== '' || info.verb === 'list' || info.verb === 'watch';
}

function misplaced({ resource, info }: Scope): ApiResponse {
  if (resource.isCustom) return pageNotFound();
  // The collection across all namespaces is there, for reading.
  const isCollection = info.name === '' || info.verb === 'deletecollection';
  throw resource.isNamespaced && isCollection ? methodNotAllowed() : resourceNotServed();
}

function serveSubresource(scope: Scope, routes: Routes): Promise<ApiResponse> {
  const { resource, info } = scope;
  const subresource = resource.subresources.get(info.subresource);
  if (subresource === undefined) {
    throw resource.isCustom
      ? notFound({ group: resource.group, resource: resource.plural }, info.name)
      : resourceNotServed();
  }
  if (!subresource.verbs.includes(info.verb)) throw notSupported(scope);
  enterRoute(scope);
  const handler = routes.subresources.get(`${resource.group}/${resource.plural}/${info.subresource}`);
  if (handler !== undefined) return handler(scope);
  const common = routes.subresources.get(`*/${subresource.type === 'scale' ? 'scale' : info.subresource}`);
  if (common !== undefined) return common(scope);
  const verb = VERBS[info.verb];
  if (verb === undefined || subresource.type === 'custom') throw notSupported(scope);
  return verb(scope);
}

/** U5: custom resources name the verb and the kind, built-ins do not. */
function notSupported({ resource, info }: Scope): StatusError {
  if (!resource.isCustom) return methodNotAllowed();
  return new StatusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: `${info.verb} is not supported on resources of kind "${qualified(resource.plural, resource.group)}"`,
    details: { group: resource.group, kind: resource.plural },
  });
}

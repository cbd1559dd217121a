import type { ApiResponse } from '../request.ts';
import { get } from '../rest/get.ts';
import { patch } from '../rest/patch.ts';
import { put } from '../rest/put.ts';
import type { Scope } from '../rest/services.ts';
import { methodNotAllowed, StatusError } from '../status.ts';
import { bindNamed, bindPod } from './binding.ts';
import { evictPod } from './eviction.ts';
import { type NodeConnector, podLog } from './pod-log.ts';
import { scale } from './scale.ts';

type Verb = (scope: Scope) => Promise<ApiResponse>;

const VIEWS: Readonly<Record<string, Verb>> = { get, update: put, patch };

/** A subresource that is the object itself, written under rules of its own (its strategy knows them). */
const view: Verb = (scope) => {
  const verb = VIEWS[scope.info.verb];
  if (verb === undefined) throw methodNotAllowed();
  return verb(scope);
};

/** A connection into a container or to an address in the cluster. */
const notImplemented: Verb = ({ info, resource }) => {
  throw new StatusError({
    code: 501,
    reason: 'NotImplemented',
    message: `${resource.plural}/${info.subresource} is not available: this server opens no connections into a cluster. In a lab, the address of a pod or service leads to the real process`,
    details: { name: info.name, kind: resource.plural },
  });
};

/** Subresources with code of their own, by `group/plural/name`, or by `*` and the name for all kinds. */
export const subresourceHandlers = (
  others: ReadonlyMap<string, Verb>,
  nodes?: NodeConnector,
): ReadonlyMap<string, Verb> =>
  new Map<string, Verb>([
    ['*/scale', scale],
    ['/namespaces/finalize', view],
    ['/pods/ephemeralcontainers', view],
    ['/pods/resize', view],
    ['/pods/binding', bindPod],
    ['/pods/eviction', evictPod],
    ['/pods/log', podLog(nodes)],
    ['/pods/attach', notImplemented],
    ['/pods/exec', notImplemented],
    ['/pods/portforward', notImplemented],
    ['/pods/proxy', notImplemented],
    ['/services/proxy', notImplemented],
    ['/nodes/proxy', notImplemented],
    ['certificates.k8s.io/certificatesigningrequests/approval', view],
    ...others,
  ]);

/** Kinds that are subresources by another name, answered and never stored. */
export const virtualSubresources: ReadonlyMap<string, Verb> = new Map([['/bindings', bindNamed]]);

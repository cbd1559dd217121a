import type { Transport } from '../transport/transport.ts';
import { needsByNamespace } from './component-roles.ts';
import type { Need } from './need.ts';
import { type RequestAttributes, requestAttributes } from './request-attributes.ts';

/** A request as it was made, with the answer. */
export interface ObservedRequest extends RequestAttributes {
  /** 0 when there was no answer. */
  readonly status: number;
}

/**
 * The same transport, telling `record` of every request when its answer begins (B3). A patch or an update that made
 * the object counts as a creation too, because the server asks for that right as well. `record` must not throw.
 */
export function audited(transport: Transport, record: (request: ObservedRequest) => void): Transport {
  return async (request) => {
    const attributes = requestAttributes(request.method, request.target);
    try {
      const response = await transport(request);
      record({ ...attributes, status: response.status });
      const hasMade = response.status === 201 && (attributes.verb === 'patch' || attributes.verb === 'update');
      if (hasMade) record({ ...attributes, verb: 'create', status: response.status });
      return response;
    } catch (error) {
      record({ ...attributes, status: 0 });
      throw error;
    }
  };
}

const MOST_OBSERVED = 10_000;

/** Distinct requests of a run: one entry per verb, resource, namespace and name, the last answer counts. */
export class AuditLog {
  readonly #seen = new Map<string, ObservedRequest>();
  #isTruncated = false;

  /** Bound to the log: may be handed over as it is. */
  readonly record = (request: ObservedRequest): void => {
    const { verb, group, resource, namespace, name, path, isResourceRequest } = request;
    const key = JSON.stringify([verb, group, resource, namespace, name, isResourceRequest ? '' : path]);
    if (!this.#seen.has(key) && this.#seen.size >= MOST_OBSERVED) {
      this.#isTruncated = true;
      return;
    }
    this.#seen.set(key, request);
  };

  /** More than 10,000 distinct requests were made: a comparison may call a rule unused that is not. */
  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  get requests(): readonly ObservedRequest[] {
    return [...this.#seen.values()];
  }
}

export interface UnusedNeed {
  readonly need: Need;
  readonly verb: string;
}

export interface AuditDifference {
  /** Requests that the generated roles do not allow. */
  readonly uncovered: readonly ObservedRequest[];
  /** Verbs of needs that no request used. */
  readonly unused: readonly UnusedNeed[];
}

export interface AuditOptions {
  readonly needs: readonly Need[];
  /** As the roles were made for (B5). */
  readonly namespaces?: readonly string[];
}

/** What was asked for without a need, and what is needed without having been asked for (B3, reliability P62). */
export function compareWithRules(observed: readonly ObservedRequest[], options: AuditOptions): AuditDifference {
  const places = [...needsByNamespace(options)];
  const covers = (request: ObservedRequest): boolean =>
    places.some(
      ([where, needs]) =>
        (where === '' || where === request.namespace) && needs.some((need) => allows(need, request)),
    );
  const uncovered = observed.filter((request) => !isEverybodys(request) && !covers(request));
  const isUsed = (need: Need, verb: string): boolean =>
    observed.some((request) => request.verb === verb && allows(need, request) && isIn(need, request));
  const unused = options.needs.flatMap((need) =>
    need.verbs.filter((verb) => !isUsed(need, verb)).map((verb) => ({ need, verb })),
  );
  return { uncovered, unused };
}

function allows({ group, resource, verbs, names }: Need, asked: ObservedRequest): boolean {
  if (!asked.isResourceRequest || asked.group !== group || asked.resource !== resource) return false;
  const verb = verbs.find((item) => item === asked.verb);
  if (verb === undefined) return false;
  return names === undefined || verb === 'create' || names.includes(asked.name);
}

const isIn = ({ namespace, scope }: Need, asked: ObservedRequest): boolean =>
  namespace === undefined || scope === 'Cluster' || namespace === asked.namespace;

const SELF_REVIEWS: ReadonlySet<string> = new Set([
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authentication.k8s.io/selfsubjectreviews',
]);
const OPEN_PATH = /^\/(?:(?:api|apis|openapi|livez|readyz|healthz|version)(?:\/.*)?)?$/;

/** What every cluster lets every user do who proved who he is: discovery, health, questions about himself. */
function isEverybodys({ isResourceRequest, verb, group, resource, path }: ObservedRequest): boolean {
  if (isResourceRequest) return verb === 'create' && SELF_REVIEWS.has(`${group}/${resource}`);
  return (verb === 'get' || verb === 'head') && OPEN_PATH.test(path) && path !== '/';
}

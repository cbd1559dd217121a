import type { JsonObject } from '../../object/json.ts';
import { negotiate, OBJECT_TYPES, requireProduced } from '../negotiation/accept.ts';
import { acceptClauses } from '../negotiation/accept-clauses.ts';
import type { Registry } from '../registry/registry.ts';
import type { ApiRequest, ApiResponse } from '../request.ts';
import { objectAnswer } from '../rest/answers.ts';
import { resourceNotServed } from '../status.ts';
import { AGGREGATED_CONTENT_TYPE, aggregatedDiscovery, type TaggedBody } from './aggregated.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy.ts';

/** Answers `/api`, `/apis` and what is below without naming a resource (D1–D5). Documents are made once per change. */
export class Discovery {
  readonly #registry: Registry;
  readonly #serverAddress: () => string;
  readonly #aggregated = new Map<string, TaggedBody>();
  #generation = 0;

  constructor(registry: Registry, serverAddress: () => string) {
    this.#registry = registry;
    this.#serverAddress = serverAddress;
  }

  answer(request: ApiRequest, path: string): ApiResponse | undefined {
    const [root, ...segments] = path.split('/').filter((segment) => segment !== '');
    if (root === 'api' && segments.length <= 1) return this.#core(request, segments[0]);
    if (root === 'apis' && segments.length <= 2) return this.#groups(request, segments[0], segments[1]);
    return undefined;
  }

  #core(request: ApiRequest, version: string | undefined): ApiResponse {
    if (version === undefined) {
      const aggregated = this.#aggregate(request, 'core');
      if (aggregated !== undefined) return aggregated;
      requireProduced(request.headers['accept'], OBJECT_TYPES);
      return this.#object(request, apiVersions(this.#serverAddress()));
    }
    const list = apiResourceList(this.#registry.all(), '', version);
    if (list === undefined) throw resourceNotServed();
    requireProduced(request.headers['accept'], OBJECT_TYPES);
    return this.#object(request, list);
  }

  #groups(request: ApiRequest, group: string | undefined, version: string | undefined): ApiResponse | undefined {
    const resources = this.#registry.all();
    if (group === undefined) {
      return this.#aggregate(request, 'groups') ?? this.#object(request, apiGroupList(resources));
    }
    const body = version === undefined ? apiGroup(resources, group) : apiResourceList(resources, group, version);
    const isBuiltin = this.#registry.isBuiltinGroup(group);
    if (body !== undefined) {
      // Groups, and what custom resources bring, are not the router's business.
      if (version !== undefined && isBuiltin) requireProduced(request.headers['accept'], OBJECT_TYPES);
      return this.#object(request, body);
    }
    if (isBuiltin) throw resourceNotServed();
    return undefined;
  }

  #object(request: ApiRequest, body: JsonObject): ApiResponse {
    const as = negotiate(request.headers['accept'], []);
    return objectAnswer(200, body, as);
  }

  #aggregate(request: ApiRequest, part: 'core' | 'groups'): ApiResponse | undefined {
    if (!asksForAggregated(request.headers['accept'] ?? '')) return undefined;
    if (this.#generation !== this.#registry.generation) this.#aggregated.clear();
    this.#generation = this.#registry.generation;
    const made = this.#aggregated.get(part) ?? aggregatedDiscovery(this.#registry.all(), part);
    this.#aggregated.set(part, made);
    const headers = {
      'content-type': AGGREGATED_CONTENT_TYPE,
      vary: 'Accept',
      'cache-control': 'public',
      etag: made.etag,
    };
    if (request.headers['if-none-match'] === made.etag) return { status: 304, headers, body: [] };
    return { status: 200, headers, body: [made.bytes] };
  }
}

/** Whether the first clause that we can answer asks for aggregated discovery. */
function asksForAggregated(accept: string): boolean {
  for (const { type, subtype, parameters } of acceptClauses(accept)) {
    if (!['application/json', '*/*'].includes(`${type}/${subtype}`)) continue;
    if (!parameters.has('as')) return false;
    const isAggregated =
      parameters.get('g') === 'apidiscovery.k8s.io' &&
      parameters.get('v') === 'v2' &&
      parameters.get('as') === 'APIGroupDiscoveryList';
    if (isAggregated) return true;
  }
  return false;
}

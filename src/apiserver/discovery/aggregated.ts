import { createHash } from 'node:crypto';
import type { JsonObject } from '../../object/json.ts';
import type { Resource, Subresource } from '../registry/resource.ts';
import { type ServedGroup, servedGroups } from './groups.ts';

/** A body with the strong ETag of its bytes (D4). */
export interface TaggedBody {
  readonly bytes: Buffer;
  /** With its quotes. */
  readonly etag: string;
}

/** `GET /api` or `GET /apis` as APIGroupDiscoveryList: `core` is /api. */
export function aggregatedDiscovery(resources: readonly Resource[], part: 'core' | 'groups'): TaggedBody {
  const groups = servedGroups(resources).filter(({ name }) => (name === '') === (part === 'core'));
  const body: JsonObject = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(groupBody),
  };
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  return { bytes, etag: `"${contentHash(bytes)}"` };
}

/** The hash upstream uses for ETags and OpenAPI addresses. */
export const contentHash = (content: string | Uint8Array): string =>
  createHash('sha512').update(content).digest('hex').toUpperCase();

export const AGGREGATED_CONTENT_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const groupBody = ({ name, versions }: ServedGroup): JsonObject => ({
  metadata: name === '' ? {} : { name },
  versions: versions.map(({ version, resources }) => ({
    version,
    resources: resources.map(resourceBody),
    freshness: 'Current',
  })),
});

function resourceBody(resource: Resource): JsonObject {
  const { plural, singular, isNamespaced, verbs, shortNames, categories, subresources } = resource;
  return {
    resource: plural,
    responseKind: responseKind(resource, resource),
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: [...verbs],
    ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
    ...(categories.length > 0 && { categories: [...categories] }),
    ...(subresources.size > 0 && {
      subresources: [...subresources.values()].map((sub) => ({
        subresource: sub.name,
        responseKind: responseKind(resource, sub),
        verbs: [...sub.verbs],
      })),
    }),
  };
}

/** Upstream leaves group and version empty when they are those of the list, but only for built-in resources. */
function responseKind(resource: Resource, { group, version, kind }: Resource | Subresource): JsonObject {
  const isImplied = !resource.isCustom && group === resource.group && version === resource.version;
  return isImplied ? { group: '', version: '', kind } : { group, version, kind };
}

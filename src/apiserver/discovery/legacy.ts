import { createHash } from 'node:crypto';
import type { JsonObject } from '../../object/json.ts';
import { apiVersionOf, type Resource, type Subresource } from '../registry/resource.ts';
import { resourcesOf, type ServedGroup, servedGroups } from './groups.ts';

/** `GET /api` (D1). `serverAddress` is host and port. */
export const apiVersions = (serverAddress: string): JsonObject => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
});

/** `GET /apis` (D2): the core group has a list of its own. */
export const apiGroupList = (resources: readonly Resource[]): JsonObject => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: servedGroups(resources)
    .filter(({ name }) => name !== '')
    .map(groupBody),
});

/** `GET /apis/<group>`; undefined when nothing of the group is served. */
export function apiGroup(resources: readonly Resource[], name: string): JsonObject | undefined {
  const [group] = servedGroups(resources.filter((resource) => resource.group === name));
  if (group === undefined || name === '') return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupBody(group) };
}

function groupBody({ name, versions }: ServedGroup): JsonObject {
  const list = versions.map(({ version }): JsonObject => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: list, preferredVersion: { ...list[0] } };
}

/** `GET /api/v1`, `GET /apis/<group>/<version>`; undefined when nothing of it is served. */
export function apiResourceList(
  resources: readonly Resource[],
  group: string,
  version: string,
): JsonObject | undefined {
  const own = resourcesOf(resources, group, version);
  if (own.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    // Upstream leaves it out for the core group.
    ...(group !== '' && { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources: own.flatMap((resource) => [
      resourceBody(resource),
      ...[...resource.subresources.values()].map((sub) => subresourceBody(resource, sub)),
    ]),
  };
}

function resourceBody(resource: Resource): JsonObject {
  const { plural, singular, isNamespaced, kind, verbs, shortNames, categories } = resource;
  return {
    name: plural,
    singularName: singular,
    namespaced: isNamespaced,
    kind,
    verbs: [...verbs],
    ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
    ...(categories.length > 0 && { categories: [...categories] }),
    ...(verbs.includes('watch') && {
      storageVersionHash: resource.storageVersionHash ?? hashOf(resource),
    }),
  };
}

function subresourceBody(resource: Resource, sub: Subresource): JsonObject {
  const isOwn = sub.group === resource.group && sub.version === resource.version;
  return {
    name: `${resource.plural}/${sub.name}`,
    singularName: '',
    namespaced: resource.isNamespaced,
    ...(!isOwn && { group: sub.group, version: sub.version }),
    kind: sub.kind,
    verbs: [...sub.verbs],
  };
}

/** Tells clients whether two resources are stored in the same form. */
function hashOf({ group, storageGroup, storageVersion, kind }: Resource): string {
  const digest = createHash('sha256')
    .update(`${storageGroup ?? group}/${storageVersion}/${kind}`)
    .digest();
  return digest.subarray(0, 8).toString('base64');
}

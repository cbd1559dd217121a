import type { Schema } from '../../api/schema/structural.ts';
import type {
  Columns,
  Resource,
  ScalePaths,
  Strategy,
  Subresource,
  SubresourceKind,
} from '../registry/resource.ts';
import { builtinSchema } from './builtin-schema.ts';
import { readTable } from './table.ts';

interface SubresourceRow {
  readonly name: string;
  readonly kind?: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs?: readonly string[];
}

interface ResourceRow {
  readonly name: string;
  readonly kind: string;
  readonly singular: string;
  readonly namespaced?: boolean;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly isStored?: false;
  /** Of a stored version that is not served; otherwise it follows from what is. */
  readonly storageVersionHash?: string;
  readonly storedAs?: { readonly group: string; readonly version: string };
  readonly subresources?: readonly SubresourceRow[];
}

interface GroupVersionRow {
  readonly group: string;
  readonly version: string;
  readonly package: string;
  readonly resources: readonly ResourceRow[];
}

/** A resource of Kubernetes itself, without what is code: strategy and columns. */
export interface BuiltinResource extends Omit<Resource, 'strategy' | 'columns'> {
  /** The type in schemas and protobuf: `apps.v1.Deployment`. */
  readonly typeName: string;
  /** False for reviews and bindings, which are answered and forgotten. */
  readonly isStored: boolean;
}

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

/** What kinds with replicas have in common. Their selector is an object, which a Scale shows as text. */
const REPLICAS: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
};

let resources: readonly BuiltinResource[] | undefined;
let packages: ReadonlyMap<string, string> | undefined;

/** All built-in resources, in upstream's order of groups; schemas are made when they are looked at. */
export function builtinResources(): readonly BuiltinResource[] {
  resources ??= Object.values(readTable<GroupVersionRow>('resources').entries).flatMap((gv) =>
    gv.resources.map((row) => builtinResource(gv, row)),
  );
  return resources;
}

/** The Kubernetes version the tables were made from: `v1.36.3`. */
export const kubernetesVersion = (): string => readTable('resources').kubernetes;

/** The package of a built-in group version in schemas and protobuf: `core.v1`; undefined when it is not built in. */
export function builtinPackage(group: string, version: string): string | undefined {
  packages ??= new Map(
    Object.values(readTable<GroupVersionRow>('resources').entries).map((gv) => [
      `${gv.group}/${gv.version}`,
      gv.package,
    ]),
  );
  return packages.get(`${group}/${version}`);
}

/** Adds what is code. Use this instead of a spread, which would make the schema of every resource at once. */
export function completeResource(builtin: BuiltinResource, strategy: Strategy, columns: Columns): Resource {
  const descriptors = Object.getOwnPropertyDescriptors(builtin);
  return Object.defineProperties(
    {},
    {
      ...descriptors,
      strategy: { value: strategy, enumerable: true },
      columns: { value: columns, enumerable: true },
    },
  ) as Resource;
}

function builtinResource(gv: GroupVersionRow, row: ResourceRow): BuiltinResource {
  const { group, version } = gv;
  const stored = row.storedAs ?? gv;
  const typeName = `${gv.package}.${row.kind}`;
  const subresources = (row.subresources ?? []).map((sub) => subresource(gv, row, sub));
  return {
    group,
    version,
    kind: row.kind,
    listKind: `${row.kind}List`,
    plural: row.name,
    singular: row.singular,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    isNamespaced: row.namespaced ?? false,
    isCustom: false,
    verbs: row.verbs ?? ALL_VERBS,
    subresources: new Map(subresources.map((sub) => [sub.name, sub])),
    prefix: `/registry/${stored.group === '' ? 'core' : stored.group}/${row.name}/`,
    storageVersion: stored.version,
    ...(stored.group !== group && { storageGroup: stored.group }),
    ...(row.storageVersionHash !== undefined && { storageVersionHash: row.storageVersionHash }),
    typeName,
    isStored: row.isStored ?? true,
    get schema(): Schema {
      return builtinSchema(typeName);
    },
    ...(subresources.some(({ type }) => type === 'scale') && { scale: REPLICAS }),
  };
}

function subresource(gv: GroupVersionRow, row: ResourceRow, sub: SubresourceRow): Subresource {
  return {
    name: sub.name,
    kind: sub.kind ?? row.kind,
    group: sub.group ?? gv.group,
    version: sub.version ?? gv.version,
    verbs: sub.verbs ?? SUBRESOURCE_VERBS,
    type: subresourceType(sub.name),
  };
}

const subresourceType = (name: string): SubresourceKind =>
  name === 'status' || name === 'scale' ? name : 'custom';

import type { Json, JsonObject } from '../json.ts';
import type { KubeObject, Scope } from '../object.ts';
import { sortedJson } from './from-zod.ts';
import type { Schema, ValidationRule } from './structural.ts';

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  readonly format?: string;
  /** 0: always shown; above: only with `-o wide`. */
  readonly priority?: number;
}

/** How the objects of one version become those of another. */
export type Conversion =
  | { readonly strategy: 'None' }
  | {
      readonly strategy: 'Webhook';
      readonly webhook: {
        readonly conversionReviewVersions: readonly string[];
        readonly clientConfig: {
          readonly url?: string;
          readonly caBundle?: string;
          readonly service?: {
            readonly name: string;
            readonly namespace: string;
            readonly path?: string;
            readonly port?: number;
          };
        };
      };
    };

/** What a definition says apart from its schema. */
export interface KindNames {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: Scope;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  /** Default: the kind and `List`. */
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Of the CustomResourceDefinition itself; some projects find each other by them. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What a definition says about its version. */
export interface KindVersion {
  readonly subresources?: { readonly status?: boolean; readonly scale?: ScalePaths };
  readonly columns?: readonly Column[];
  /** Fields that a field selector may name: `.spec.color`. */
  readonly selectableFields?: readonly string[];
  /** False: only kept, not served. */
  readonly isServed?: boolean;
  /** The version is deprecated; clients that use it are told this. */
  readonly deprecationWarning?: string;
}

export interface CrdVersion extends KindVersion {
  readonly name: string;
  readonly schema: Schema;
}

/** A CustomResourceDefinition with the versions given, the first of which is stored. The same input gives the same text (K7). */
export function crdOf(
  names: KindNames,
  versions: readonly CrdVersion[],
  conversion?: Conversion,
): JsonObject & KubeObject {
  const { group, kind, plural, scope, singular = kind.toLowerCase(), listKind = `${kind}List` } = names;
  const { shortNames, categories, labels, annotations } = names;
  return sortedObject({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...given({ labels, annotations }) },
    spec: {
      group,
      scope,
      names: { kind, plural, singular, listKind, ...given({ shortNames, categories }) },
      versions: versions.map((version, at) => versionOf(version, at === 0)),
      ...given({ conversion }),
    },
  });
}

function versionOf(version: CrdVersion, isStored: boolean): object {
  const { name, schema, subresources = {}, columns, selectableFields, deprecationWarning } = version;
  const { status, scale } = subresources;
  const subresource = { ...(status === true && { status: {} }), ...given({ scale }) };
  return {
    name,
    served: version.isServed ?? true,
    storage: isStored,
    schema: { openAPIV3Schema: schema },
    ...(Object.keys(subresource).length > 0 && { subresources: subresource }),
    ...given({ additionalPrinterColumns: columns }),
    ...given({ selectableFields: selectableFields?.map((jsonPath) => ({ jsonPath })) }),
    ...(deprecationWarning !== undefined && { deprecated: true, deprecationWarning }),
  };
}

/** The members that say something: an empty list or map is left out, as the server would not keep it. */
const given = (members: Readonly<Record<string, object | undefined>>): object =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && Object.keys(value).length > 0),
  );

// Definitions are made of JSON values only, which their types say less generally.
const sortedObject = <T extends object>(value: T): JsonObject & T => sortedJson(value as Json) as JsonObject & T;

/** The schema of a whole object from those of its parts. */
export interface RootParts {
  readonly description?: string;
  readonly fields: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly rules?: readonly ValidationRule[];
}

export function rootSchema({ description, fields, required, rules = [] }: RootParts): Schema {
  return sortedObject({
    type: 'object',
    ...(description !== undefined && { description }),
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...fields,
    },
    ...(required.length > 0 && { required: [...required].toSorted() }),
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
  }) as Schema;
}

import type { Schema } from '../../api/schema/structural.ts';
import type { FieldError } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';

/** What a strategy may know about the write it takes part in. */
export interface WriteContext {
  readonly now: Date;
  readonly isDryRun: boolean;
  /** `status`, `approval` …; empty for the main resource. */
  readonly subresource: string;
  readonly user: { readonly name: string; readonly groups: readonly string[] };
}

/**
 * What differs between kinds; everything else is the engine's. Functions that prepare change the object in place, which
 * is the engine's own copy; those that validate are pure. Metadata rules common to all kinds are not their business.
 */
export interface Strategy {
  /** Fills in defaults on create, on update and, for custom resources, on read (X10). */
  setDefaults?(object: JsonObject): void;
  /** Drops or sets what a client may not choose: status, allocated values. After decoding, before admission. */
  prepareForCreate?(object: JsonObject, context: WriteContext): void;
  /** The same on update, also of subresources (`context.subresource`); `old` is the stored object. */
  prepareForUpdate?(object: JsonObject, old: JsonObject, context: WriteContext): void;
  /** Last changes after admission and before validation, such as an allocated cluster IP. Not called on dry run twice. */
  allocate?(object: JsonObject, old: JsonObject | undefined, context: WriteContext): void;
  /** Gives back what `allocate` took, when the object is gone or was not stored. */
  release?(object: JsonObject): void;
  /** Called once an update is stored: gives back what the old object had and the new one does not. */
  settle?(object: JsonObject, old: JsonObject): void;
  validate?(object: JsonObject, context: WriteContext): readonly FieldError[];
  validateUpdate?(object: JsonObject, old: JsonObject, context: WriteContext): readonly FieldError[];
  /** Texts for Warning headers. */
  warnings?(object: JsonObject, old: JsonObject | undefined): readonly string[];
  /** Values for field selectors beyond metadata.name and metadata.namespace; also names the known ones. */
  readonly selectableFields?: Readonly<Record<string, (object: JsonObject) => string>>;
  /** Whether metadata.generation counts changes outside metadata and status (M8). */
  readonly tracksGeneration: boolean;
  /** The part of metadata that metadata.generation counts as well. */
  readonly countedMetadata?: 'annotations' | 'labels';
  /** PUT creates a missing object (W7). */
  readonly createsOnUpdate?: boolean;
  /** PUT and PATCH need no resourceVersion (W8); false: PUT without one is refused. */
  readonly allowsUnconditionalUpdate: boolean;
  /** DELETE answers with the object instead of a Status (DE2). */
  readonly returnsDeletedObject?: boolean;
  /** What a delete without policy means (DE4). */
  readonly defaultPropagation?: 'Background' | 'Orphan';
  /** Events take no part in garbage collection. */
  readonly isCollected?: boolean;
  /** Seconds a delete waits (DE5): `asked` is from the options; undefined means "delete at once". */
  gracePeriod?(object: JsonObject, asked: number | undefined): number | undefined;
  /** What a first delete changes besides metadata: a phase, a finalizer. In place. */
  beginDeletion?(object: JsonObject, now: Date): void;
  /** Whether the object stays although no finalizer in its metadata holds it (spec.finalizers of a Namespace). */
  isHeld?(object: JsonObject): boolean;
  /** The rule object names follow (M3). Default: DNS-1123 subdomain. */
  readonly nameRule?: 'subdomain' | 'label' | 'path-segment';
  /** Top-level fields that writes to this endpoint never own (S2), by subresource ('' = main): `['status']`. */
  readonly resetFields?: Readonly<Record<string, readonly string[]>>;
}

/** A subresource that is a view of the object itself. Others (binding, token …) have handlers of their own. */
export type SubresourceKind = 'status' | 'scale' | 'custom';

export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
  readonly type: SubresourceKind;
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** One column of a Table; `value` gives the cell of one object. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** Above 0: only with `-o wide`. */
  readonly priority: number;
}

export interface Columns {
  readonly definitions: readonly Column[];
  /** The cells of one object, in the order of `definitions`. */
  cells(object: JsonObject, now: Date): readonly (string | number | boolean | null)[];
  /** The `conditions` of a row: pods that have ended say so. */
  rowConditions?(object: JsonObject): readonly JsonObject[];
}

/** One resource in one version as it is served: what the URL, discovery and OpenAPI know about it. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly isCustom: boolean;
  readonly verbs: readonly string[];
  readonly subresources: ReadonlyMap<string, Subresource>;
  /** Where its objects are kept: `/registry/apps/deployments/`. Versions of one resource share it. */
  readonly prefix: string;
  /** The version objects are stored in. */
  readonly storageVersion: string;
  /** The group objects are stored in, when it is another one: events.k8s.io Events are core Events (G12). */
  readonly storageGroup?: string;
  /** What discovery shows, when it is not that of the storage version. */
  readonly storageVersionHash?: string;
  /** The whole object, with apiVersion, kind and metadata. */
  readonly schema: Schema;
  /** Built-ins only: the Go type behind it, `apps.v1.Deployment`. */
  readonly typeName?: string;
  readonly strategy: Strategy;
  readonly columns: Columns;
  readonly scale?: ScalePaths;
}

export const apiVersionOf = ({ group, version }: { readonly group: string; readonly version: string }): string =>
  group === '' ? version : `${group}/${version}`;

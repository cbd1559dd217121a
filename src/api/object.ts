/** Every value and every part of it for reading only: what the cache hands out is frozen. */
export type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** The same for writing: the type of a copy that its holder may change. */
export type Mutable<T> = T extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Mutable<T[Key]> }
    : T;

/**
 * Everything optional, at every depth: what one field manager says about an object. Lists are said as a whole. What is
 * undefined is not said.
 */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> | undefined }
    : T;

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

/** Metadata of an object. Times are RFC 3339 text, never `Date` (K10). */
export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
  readonly selfLink?: string;
}

/** An object of any kind: plain JSON. Fields that a type does not name are kept, always. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface ObjectList<T extends KubeObject = KubeObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** A condition as metav1 spells it. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export type Scope = 'Namespaced' | 'Cluster';

/**
 * What the client needs to know about a kind. `T` is the type of its objects as the server returns them, `Input` as
 * they are created (defaults may be missing); a plain `Kind` takes every kind. Definitions: `schema/define-kind.ts` for own kinds, `generated/` for
 * built-in ones, `unstructured()` for kinds known only at run time.
 */
export interface Kind<T extends KubeObject = KubeObject, Input = KubeObject extends T ? unknown : T> {
  /** Empty for core. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: Scope;
  /** The loop writes failures to `status.conditions` of kinds that say so. */
  readonly hasConditions?: boolean;
  /** Only for the type checker: never set. */
  readonly objectType?: T;
  readonly inputType?: Input;
}

/** `v1`, `apps/v1`. */
export const apiVersionOf = ({ group, version }: Pick<Kind, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

/** `deployments.apps`, `pods`: one text per resource, whatever the version. */
export const resourceOf = ({ group, plural }: Pick<Kind, 'group' | 'plural'>): string =>
  group === '' ? plural : `${plural}.${group}`;

export interface ObjectKey {
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
}

export const keyOf = ({ metadata: { namespace, name } }: KubeObject): ObjectKey =>
  namespace === undefined || namespace === '' ? { name } : { namespace, name };

/** `namespace/name`, or `name`: neither may hold a slash, so nothing is lost. */
export const keyText = ({ namespace, name }: ObjectKey): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

export function keyFromText(text: string): ObjectKey {
  const at = text.indexOf('/');
  return at < 0 ? { name: text } : { namespace: text.slice(0, at), name: text.slice(at + 1) };
}

/** What a field manager applies: the identity, and any part of the rest. */
export type ApplyOf<T extends KubeObject> = Omit<DeepPartial<T>, 'apiVersion' | 'kind' | 'metadata'> & {
  readonly metadata: DeepPartial<ObjectMeta> & { readonly name: string };
};

/** An object as it is created: the client knows the kind, and what the server fills in may be missing. */
export type CreateOf<T extends KubeObject, Filled extends keyof T = never> = Omit<
  T,
  'apiVersion' | 'kind' | Filled
> &
  Partial<Pick<T, 'apiVersion' | 'kind' | Filled>>;

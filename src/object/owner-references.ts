import { apiVersionOf, type Kind, type KubeObject, keyOf, keyText, type OwnerReference } from '../api/object.ts';
import { terminalError } from '../base/errors.ts';

/** What `kind` of an owner is: it says so itself, unless it came from a typed list of somebody else. */
type OwnerKind = Pick<Kind, 'group' | 'version' | 'kind'>;

/** `metadata: { name, ...ownedBy(owner) }`: the owner controls the object, and goes only after it. */
export const ownedBy = (owner: KubeObject, kind?: OwnerKind): { readonly ownerReferences: OwnerReference[] } => ({
  ownerReferences: [{ ...referenceTo(owner, kind), controller: true, blockOwnerDeletion: true }],
});

/** A plain reference. Throws for an owner that was never stored: without a uid nothing would be owned. */
function referenceTo({ apiVersion, kind, metadata }: KubeObject, ownerKind?: OwnerKind): OwnerReference {
  const { name, uid = '' } = metadata;
  const type =
    ownerKind === undefined ? { apiVersion, kind } : { apiVersion: apiVersionOf(ownerKind), kind: ownerKind.kind };
  if (uid === '' || name === '') throw ownerError('OwnerUnstored', `${type.kind} "${name}" has no uid yet`);
  return { ...type, name, uid };
}

/**
 * The object with `owner` as its controller. A reference to the same owner (group, kind and name) is brought up to date.
 * Throws AlreadyOwned when another one controls it, CrossNamespaceOwner when the owner lives elsewhere.
 */
export function setControllerReference<T extends KubeObject>(owner: KubeObject, object: T, kind?: OwnerKind): T {
  const reference = { ...referenceTo(owner, kind), controller: true, blockOwnerDeletion: true };
  checkNamespaces(owner, object);
  const current = controllerReferenceOf(object);
  if (current !== undefined && !isSameOwner(current, reference)) {
    const who = `${current.kind} ${current.name}`;
    throw ownerError('AlreadyOwned', `${nameOf(object)} is controlled by ${who} already, not by ${nameOf(owner)}`);
  }
  return withReference(object, reference);
}

export interface OwnerReferenceOptions {
  readonly kind?: OwnerKind;
  /** The owner goes only after the object, when it is deleted in the foreground. */
  readonly blockOwnerDeletion?: boolean;
}

/** The object with `owner` as one of its owners; whether it controls the object is left as it is. */
export function setOwnerReference<T extends KubeObject>(
  owner: KubeObject,
  object: T,
  { kind, blockOwnerDeletion }: OwnerReferenceOptions = {},
): T {
  const reference = referenceTo(owner, kind);
  checkNamespaces(owner, object);
  const { controller } = references(object).find((old) => isSameOwner(old, reference)) ?? {};
  return withReference(object, {
    ...reference,
    ...(controller !== undefined && { controller }),
    ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }),
  });
}

/** The object without references to `owner`; the same object when there is none. */
export function removeOwnerReference<T extends KubeObject>(owner: KubeObject, object: T): T {
  const kept = references(object).filter((reference) => !isSameOwner(reference, { ...owner, ...owner.metadata }));
  if (kept.length === references(object).length) return object;
  const { ownerReferences: _removed, ...metadata } = object.metadata;
  return { ...object, metadata: kept.length === 0 ? metadata : { ...metadata, ownerReferences: kept } };
}

export const controllerReferenceOf = (object: KubeObject): OwnerReference | undefined =>
  references(object).find(({ controller }) => controller === true);

export const hasControllerReference = (object: KubeObject): boolean => controllerReferenceOf(object) !== undefined;

/** By uid: an owner that was deleted and created again owns nothing. */
export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean =>
  owner.metadata.uid !== undefined && controllerReferenceOf(object)?.uid === owner.metadata.uid;

const references = ({ metadata: { ownerReferences = [] } }: KubeObject): readonly OwnerReference[] =>
  ownerReferences;

type OwnerName = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>;

const isSameOwner = (a: OwnerName, b: OwnerName): boolean =>
  a.kind === b.kind && a.name === b.name && groupOf(a.apiVersion) === groupOf(b.apiVersion);

const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

function withReference<T extends KubeObject>(object: T, reference: OwnerReference): T {
  const old = references(object);
  const at = old.findIndex((item) => isSameOwner(item, reference));
  const ownerReferences = at < 0 ? [...old, reference] : old.with(at, reference);
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

/** The garbage collector would delete the object at once: it looks for the owner in the object's namespace. */
function checkNamespaces(owner: KubeObject, object: KubeObject): void {
  const { namespace: ownerNamespace = '' } = owner.metadata;
  const { namespace = '' } = object.metadata;
  if (ownerNamespace === '' || ownerNamespace === namespace) return;
  const where = namespace === '' ? 'has no namespace' : `is in namespace ${namespace}`;
  const why = `${nameOf(owner)} cannot own ${nameOf(object)}, which ${where}`;
  throw ownerError('CrossNamespaceOwner', `${why}; an owner is in the same namespace, or in none`);
}

const nameOf = (object: KubeObject): string => `${object.kind} ${keyText(keyOf(object))}`;

const ownerError = (reason: string, message: string): Error => terminalError(reason, message);

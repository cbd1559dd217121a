import type { KubeObject } from '../../api/object.ts';
import { fieldAt } from '../../api/unstructured.ts';
import { isRecord } from '../../object/record.ts';

type Path = readonly (string | number)[];

/** The text at a path; empty where there is none, because fields that say nothing are left out as often as empty. */
export function textAt(object: KubeObject, ...path: Path): string {
  const value = fieldAt(object, ...path);
  return typeof value === 'string' ? value : '';
}

export function numberAt(object: KubeObject, ...path: Path): number | undefined {
  const value = fieldAt(object, ...path);
  return typeof value === 'number' ? value : undefined;
}

export const isTrueAt = (object: KubeObject, ...path: Path): boolean => fieldAt(object, ...path) === true;

export function recordsAt(object: KubeObject, ...path: Path): readonly Readonly<Record<string, unknown>>[] {
  const value: unknown = fieldAt(object, ...path);
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** An object that is named in another one. */
export interface Reference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** The reference at a path, in the spelling of the v1beta2 contract (`apiGroup`) or of the one before (`apiVersion`). */
export function referenceAt(object: KubeObject, ...path: Path): Reference | undefined {
  const value: unknown = fieldAt(object, ...path);
  if (!isRecord(value)) return undefined;
  const { apiGroup, apiVersion, kind, name } = value;
  if (typeof kind !== 'string' || typeof name !== 'string' || kind === '' || name === '') return undefined;
  return { group: typeof apiGroup === 'string' ? apiGroup : groupIn(apiVersion), kind, name };
}

/** The group in `group/version`; empty for core. */
export const groupIn = (apiVersion: unknown): string =>
  typeof apiVersion === 'string' && apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

export const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? '';

export const isBeingDeleted = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** Whether an owner reference names the object; the uid decides, since names come again. */
export const isOwnedBy = ({ metadata }: KubeObject, owner: KubeObject): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);

import type { Clock } from '../../base/clock.ts';
import type { FieldError } from '../../object/field-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { builtInFinalizerErrors, uniqueOwnerReferences } from '../../object/metadata.ts';
import { type NameRule, nameRules } from '../../object/names.ts';
import type { Resource, Strategy } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import type { GroupKind } from '../status.ts';

/** RFC 3339 in whole seconds, as every Kubernetes Time. */
export const timestamp = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

export const finalizersOf = (metadata: JsonObject): readonly string[] =>
  Array.isArray(metadata['finalizers']) ? metadata['finalizers'].map(textOf) : [];

const WIPED_ON_CREATE = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'resourceVersion',
];

/** Removes what a client may not choose (M1). */
export function wipeOnCreate(metadata: JsonObject): void {
  for (const name of WIPED_ON_CREATE) delete metadata[name];
}

/** Metadata a new object gets from the server. */
export function fillOnCreate(object: JsonObject, clock: Clock, tracksGeneration: boolean): void {
  const metadata = metadataOf(object);
  metadata['uid'] = clock.uuid();
  metadata['creationTimestamp'] = timestamp(clock.now());
  if (tracksGeneration) metadata['generation'] = 1;
}

/** Keeps on update what only the server may change (M7). `updated` is our own copy. */
export function keepOnUpdate(updated: JsonObject, old: JsonObject): void {
  const metadata = metadataOf(updated);
  const before = isJsonObject(old['metadata']) ? old['metadata'] : {};
  keep(metadata, before, 'creationTimestamp');
  if (before['deletionTimestamp'] !== undefined) keep(metadata, before, 'deletionTimestamp');
  if (metadata['deletionGracePeriodSeconds'] === undefined) keep(metadata, before, 'deletionGracePeriodSeconds');
  keep(metadata, before, 'generation');
  keep(metadata, before, 'selfLink');
  if (textOf(metadata['uid']) === '') keep(metadata, before, 'uid');
  if (textOf(metadata['name']) === '') keep(metadata, before, 'name');
  if (textOf(metadata['namespace']) === '') keep(metadata, before, 'namespace');
}

function keep(metadata: JsonObject, before: JsonObject, name: string): void {
  const value = before[name];
  if (value === undefined) delete metadata[name];
  else metadata[name] = value;
}

/** Whether a kind keeps an object by something else than metadata.finalizers. */
export const isHeldBy = (strategy: Strategy, object: JsonObject): boolean => strategy.isHeld?.(object) === true;

/** Whether an object that is being deleted may go now (W11). */
export function isReadyToGo(object: JsonObject, strategy: Strategy): boolean {
  const metadata = metadataOf(object);
  return (
    metadata['deletionTimestamp'] !== undefined &&
    finalizersOf(metadata).length === 0 &&
    (metadata['deletionGracePeriodSeconds'] ?? 0) === 0 &&
    !isHeldBy(strategy, object)
  );
}

/** Owner references that appear twice are kept once (M5); the text is upstream's warning, empty when there is nothing to say. */
export function dedupeOwners(object: JsonObject, isAfterAdmission = false): string {
  const metadata = metadataOf(object);
  const references = metadata['ownerReferences'];
  if (!Array.isArray(references) || references.length < 2) return '';
  const { owners, warning = '' } = uniqueOwnerReferences(references, isAfterAdmission);
  if (warning !== '') metadata['ownerReferences'] = owners;
  return warning;
}

const RULES: Readonly<Record<NonNullable<Strategy['nameRule']>, NameRule>> = {
  subdomain: nameRules.dnsSubdomain,
  label: nameRules.dnsLabel,
  'path-segment': nameRules.pathSegment,
};

export const nameRuleOf = ({ nameRule = 'subdomain' }: Strategy): NameRule => RULES[nameRule];

/** Built-in kinds ask more of the names of finalizers; custom resources and their definitions do not. */
export const finalizerNameErrors = ({ group, isCustom }: Resource, metadata: JsonObject): readonly FieldError[] =>
  isCustom || group === 'apiextensions.k8s.io' ? [] : builtInFinalizerErrors(metadata);

/** What a Status about a wrong object calls it: the kind as it is stored, for that is what was looked at (G12). */
export const kindOf = ({ group, storageGroup = group, kind }: Resource): GroupKind => ({
  group: storageGroup,
  kind,
});

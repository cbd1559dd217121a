import { childPath, type FieldError, forbidden, invalid, keyPath, required, tooLong } from './field-error.ts';
import { getKey, isJsonObject, type Json, type JsonObject, jsonEqual } from './json.ts';
import { byteLength, labelValueProblems, type NameRule, nameRules, qualifiedNameProblems } from './names.ts';
import { goJson } from './validation/go-text.ts';

export interface MetaRules {
  readonly nameRule: NameRule;
  readonly isNamespaced: boolean;
  readonly path?: string;
}

const IMMUTABLE = 'field is immutable';
const MOST_ANNOTATION_BYTES = 262_144;
// A Status does not list as many; who sends more must not keep others waiting (reliability P9).
const MOST_ERRORS = 20_000;

/** What is wrong with the metadata of a new object (M3 to M6). The types of the fields are checked before. */
export function validateObjectMeta(meta: JsonObject, rules: MetaRules): FieldError[] {
  const { nameRule, path = 'metadata' } = rules;
  const name = textOf(meta, 'name');
  const base = textOf(meta, 'generateName');
  const namePath = childPath(path, 'name');
  const basePath = childPath(path, 'generateName');
  return [
    ...(base === '' ? [] : nameRule(base, true).map((problem) => invalid(basePath, base, problem))),
    ...(name === ''
      ? [required(namePath, 'name or generateName is required')]
      : nameRule(name, false).map((problem) => invalid(namePath, name, problem))),
    ...namespaceErrors(textOf(meta, 'namespace'), rules.isNamespaced, childPath(path, 'namespace')),
    ...generationErrors(meta, childPath(path, 'generation')),
    ...labelErrors(getKey(meta, 'labels'), childPath(path, 'labels')),
    ...annotationErrors(getKey(meta, 'annotations'), childPath(path, 'annotations')),
    ...ownerErrors(itemsOf(meta, 'ownerReferences'), childPath(path, 'ownerReferences')),
    ...finalizerErrors(finalizersOf(meta), childPath(path, 'finalizers')),
  ];
}

/** What is wrong with a change of metadata (M7). What the server restores by itself must be restored before. */
export function validateObjectMetaUpdate(meta: JsonObject, old: JsonObject, path = 'metadata'): FieldError[] {
  const resourceVersion = textOf(meta, 'resourceVersion');
  const generation = getKey(meta, 'generation') ?? 0;
  return [
    ...newFinalizerErrors(meta, old, childPath(path, 'finalizers')),
    ...(resourceVersion === ''
      ? [invalid(childPath(path, 'resourceVersion'), '', 'must be specified for an update')]
      : []),
    ...(Number(generation) < Number(getKey(old, 'generation') ?? 0)
      ? [invalid(childPath(path, 'generation'), generation, 'must not be decremented')]
      : []),
    ...IMMUTABLE_FIELDS.flatMap(({ key, absent }) => immutableErrors(meta, old, key, { absent, path })),
    ...labelErrors(getKey(meta, 'labels'), childPath(path, 'labels')),
    ...annotationErrors(getKey(meta, 'annotations'), childPath(path, 'annotations')),
    ...ownerErrors(itemsOf(meta, 'ownerReferences'), childPath(path, 'ownerReferences')),
  ];
}

/** `absent` is what upstream prints for a field that is not there. */
const IMMUTABLE_FIELDS: readonly { readonly key: string; readonly absent: Json }[] = [
  { key: 'name', absent: '' },
  { key: 'namespace', absent: '' },
  { key: 'uid', absent: '' },
  { key: 'creationTimestamp', absent: null },
  { key: 'deletionTimestamp', absent: null },
  { key: 'deletionGracePeriodSeconds', absent: null },
];

function immutableErrors(
  meta: JsonObject,
  old: JsonObject,
  key: string,
  { absent, path }: { absent: Json; path: string },
): FieldError[] {
  const value = getKey(meta, key) ?? absent;
  if (jsonEqual(value, getKey(old, key) ?? absent)) return [];
  return [invalid(childPath(path, key), value, IMMUTABLE)];
}

function textOf(meta: JsonObject, key: string): string {
  const value = getKey(meta, key);
  return typeof value === 'string' ? value : '';
}

const itemsOf = (meta: JsonObject, key: string): Json[] => {
  const value = getKey(meta, key);
  return Array.isArray(value) ? value : [];
};

const finalizersOf = (meta: JsonObject): string[] =>
  itemsOf(meta, 'finalizers').filter((item) => typeof item === 'string');

function namespaceErrors(namespace: string, isNamespaced: boolean, path: string): FieldError[] {
  if (!isNamespaced) return namespace === '' ? [] : [forbidden(path, 'not allowed on this type')];
  if (namespace === '') return [required(path)];
  return nameRules.dnsLabel(namespace, false).map((problem) => invalid(path, namespace, problem));
}

function generationErrors(meta: JsonObject, path: string): FieldError[] {
  const generation = getKey(meta, 'generation') ?? 0;
  return Number(generation) < 0 ? [invalid(path, generation, 'must be greater than or equal to 0')] : [];
}

export function labelErrors(labels: Json | undefined, path: string): FieldError[] {
  if (!isJsonObject(labels)) return [];
  const errors: FieldError[] = [];
  for (const key of Object.keys(labels)) {
    const value = textOf(labels, key);
    for (const problem of qualifiedNameProblems(key)) errors.push(invalid(path, key, problem));
    for (const problem of labelValueProblems(value)) errors.push(invalid(path, value, problem));
    if (errors.length > MOST_ERRORS) break;
  }
  return errors;
}

export function annotationErrors(annotations: Json | undefined, path: string): FieldError[] {
  if (!isJsonObject(annotations)) return [];
  let bytes = 0;
  const errors: FieldError[] = [];
  for (const key of Object.keys(annotations)) {
    bytes += byteLength(key) + byteLength(textOf(annotations, key));
    for (const problem of qualifiedNameProblems(key.toLowerCase())) errors.push(invalid(path, key, problem));
    if (errors.length > MOST_ERRORS) return errors;
  }
  if (bytes > MOST_ANNOTATION_BYTES) errors.push(tooLong(path, MOST_ANNOTATION_BYTES));
  return errors;
}

function ownerErrors(owners: readonly Json[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller: string | undefined;
  let shown: string | undefined;
  for (const owner of owners.filter(isJsonObject)) {
    errors.push(...oneOwnerErrors(owner, path));
    if (errors.length > MOST_ERRORS) break;
    if (getKey(owner, 'controller') !== true) continue;
    const name = `${textOf(owner, 'kind')}/${textOf(owner, 'name')}`;
    if (controller === undefined) {
      controller = name;
      continue;
    }
    // All of them are shown for each that is too many: printed once, for there may be very many.
    shown ??= JSON.stringify(owners.map(shownOwner));
    const found = `Found "true" in references for ${controller} and ${name}`;
    errors.push(invalidText(path, shown, `Only one reference can have Controller set to true. ${found}`));
  }
  return errors;
}

function oneOwnerErrors(owner: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const apiVersion = textOf(owner, 'apiVersion');
  if (versionOf(apiVersion) === '') {
    errors.push(invalid(childPath(path, 'apiVersion'), apiVersion, 'version must not be empty'));
  }
  for (const key of ['kind', 'name', 'uid']) {
    if (textOf(owner, key) === '') errors.push(invalid(childPath(path, key), '', 'must not be empty'));
  }
  if (apiVersion === 'v1' && textOf(owner, 'kind') === 'Event') {
    const shown = JSON.stringify(shownOwner(owner));
    errors.push(invalidText(path, shown, '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
}

/** Upstream takes what it cannot split for an empty version. */
function versionOf(apiVersion: string): string {
  const parts = apiVersion.split('/');
  return parts.length <= 2 ? (parts.at(-1) ?? '') : '';
}

/** Upstream prints owner references with their fields in the order of the Go type, not of the alphabet. */
const invalidText = (field: string, shown: string, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${shown}: ${detail}`,
});

function shownOwner(owner: Json): Json {
  if (!isJsonObject(owner)) return owner;
  const { controller, blockOwnerDeletion } = owner;
  return {
    apiVersion: textOf(owner, 'apiVersion'),
    kind: textOf(owner, 'kind'),
    name: textOf(owner, 'name'),
    uid: textOf(owner, 'uid'),
    ...(controller !== undefined && controller !== null && { controller }),
    ...(blockOwnerDeletion !== undefined && blockOwnerDeletion !== null && { blockOwnerDeletion }),
  };
}

function finalizerErrors(finalizers: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const finalizer of finalizers) {
    for (const problem of qualifiedNameProblems(finalizer)) errors.push(invalid(path, finalizer, problem));
    if (errors.length > MOST_ERRORS) return errors;
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(path, [...finalizers], 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

function newFinalizerErrors(meta: JsonObject, old: JsonObject, path: string): FieldError[] {
  if ((getKey(old, 'deletionTimestamp') ?? null) === null) return [];
  const before = new Set(finalizersOf(old));
  const added = [...new Set(finalizersOf(meta))].filter((finalizer) => !before.has(finalizer)).toSorted();
  if (added.length === 0) return [];
  const list = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`;
  const why = 'no new finalizers can be added if the object is being deleted, found new finalizers';
  return [forbidden(path, `${why} ${list}`)];
}

/** The additional rule of built-in kinds: a finalizer is one of the standard ones or has a domain. */
export function builtInFinalizerErrors(meta: JsonObject, path = 'metadata'): FieldError[] {
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  const errors: FieldError[] = [];
  for (const [index, finalizer] of finalizersOf(meta).entries()) {
    if (isUnclaimed(finalizer))
      errors.push(invalid(keyPath(childPath(path, 'finalizers'), index), finalizer, why));
    if (errors.length > MOST_ERRORS) break;
  }
  return errors;
}

const isUnclaimed = (finalizer: string): boolean =>
  !finalizer.includes('/') && !STANDARD_FINALIZERS.has(finalizer);

const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** The warnings custom resources get for finalizers that anybody could claim (M6). */
export function finalizerWarnings(finalizers: readonly string[], path = 'metadata.finalizers'): string[] {
  const why = 'to avoid accidental conflicts with other finalizer writers';
  return finalizers.filter(isUnclaimed).map((finalizer) => {
    const wanted = finalizer.includes('.') ? ' including a path (/)' : '';
    return `${path}: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name${wanted} ${why}`;
  });
}

export interface UniqueOwners {
  readonly owners: Json[];
  readonly warning?: string;
}

/** Owner references without exact repetitions, and the warning that tells about them (M5). */
export function uniqueOwnerReferences(owners: readonly Json[], isAfterAdmission = false): UniqueOwners {
  const kept: Json[] = [];
  const repeated: string[] = [];
  const seen = new Set<string>();
  for (const owner of owners) {
    // Equal owners print alike, so that nobody has to be compared with all others.
    const text = goJson(owner);
    if (!seen.has(text)) kept.push(owner);
    else repeated.push(isJsonObject(owner) ? textOf(owner, 'uid') : '');
    seen.add(text);
  }
  if (repeated.length === 0) return { owners: kept };
  const when = isAfterAdmission ? ' after mutating admission happens' : '';
  const rule = 'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24';
  const warning = `.metadata.ownerReferences contains duplicate entries${when}; ${rule}; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`;
  return { owners: kept, warning };
}

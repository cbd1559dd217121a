import { type FieldError, invalid, required } from '../../object/field-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import { invalidObject } from '../status.ts';

const GROUP = 'authorization.k8s.io';

export const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
export const textsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.map(textOf) : [];

/** Which review: that of somebody else, of oneself, or of somebody in one namespace. */
export type ReviewKind = 'other' | 'self' | 'local';

/** Refuses a review that asks for nothing, or for too much. Reviews have no name, so their 422 names nothing. */
export function checkReview(review: JsonObject, kind: ReviewKind, namespace: string): void {
  const spec = objectOf(review['spec']);
  const errors = [
    ...attributeErrors(spec),
    ...(kind === 'self' ? [] : subjectErrors(spec)),
    ...selectorErrors(objectOf(spec['resourceAttributes'])),
    ...metadataErrors(metadataOf(review), kind),
    ...(kind === 'local' ? localErrors(spec, namespace) : []),
  ];
  if (errors.length > 0) throw invalidObject({ group: GROUP, kind: '' }, '', errors);
}

function attributeErrors(spec: JsonObject): readonly FieldError[] {
  const [resource, other] = [spec['resourceAttributes'], spec['nonResourceAttributes']];
  if (resource === undefined && other === undefined) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    return [invalid('spec.resourceAttributes', null, why)];
  }
  if (resource === undefined || other === undefined) return [];
  const why = 'cannot be specified in combination with resourceAttributes';
  return [invalid('spec.nonResourceAttributes', shownPath(other), why)];
}

/** Upstream prints the names of its Go fields. */
const shownPath = (value: Json): JsonObject => ({
  Path: textOf(objectOf(value)['path']),
  Verb: textOf(objectOf(value)['verb']),
});

const subjectErrors = (spec: JsonObject): readonly FieldError[] =>
  textOf(spec['user']) === '' && textsOf(spec['groups']).length === 0
    ? [invalid('spec.user', '', 'at least one of user or group must be specified')]
    : [];

function selectorErrors(attributes: JsonObject): readonly FieldError[] {
  return ['fieldSelector', 'labelSelector'].flatMap((name) => {
    const selector = attributes[name];
    if (!isJsonObject(selector)) return [];
    const field = `spec.resourceAttributes.${name}`;
    const count = Array.isArray(selector['requirements']) ? selector['requirements'].length : 0;
    const raw = textOf(selector['rawSelector']);
    if (raw !== '' && count > 0) {
      return [invalid(`${field}.rawSelector`, raw, 'may not specified at the same time as requirements')];
    }
    const why = `when ${field} is specified, requirements or rawSelector is required`;
    return raw === '' && count === 0 ? [required(`${field}.requirements`, why)] : [];
  });
}

function metadataErrors(metadata: JsonObject, kind: ReviewKind): readonly FieldError[] {
  const allowed = kind === 'local' ? ['managedFields', 'namespace'] : ['managedFields'];
  if (Object.keys(metadata).every((name) => allowed.includes(name))) return [];
  const why = kind === 'local' ? 'must be empty except for namespace' : 'must be empty';
  return [invalid('metadata', metadata, why)];
}

function localErrors(spec: JsonObject, namespace: string): readonly FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const found = textOf(objectOf(resourceAttributes)['namespace']);
  return [
    ...(resourceAttributes !== undefined && found !== namespace
      ? [invalid('spec.resourceAttributes.namespace', found, 'must match metadata.namespace')]
      : []),
    ...(nonResourceAttributes === undefined
      ? []
      : [
          invalid(
            'spec.nonResourceAttributes',
            shownPath(nonResourceAttributes),
            'disallowed on this kind of request',
          ),
        ]),
  ];
}

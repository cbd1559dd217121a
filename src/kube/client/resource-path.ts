import type { Kind, KubeObject, ObjectKey } from '../../api/object.ts';
import { apiVersionOf } from '../../api/object.ts';
import { userError } from '../../base/errors.ts';
import { labelValueProblems, pathSegmentProblems, qualifiedNameProblems } from '../../object/names.ts';

/** `/api/v1/namespaces/ns/configmaps`; of all namespaces where none is named. */
export function collectionPath(kind: Kind, namespace: string | undefined): string {
  const { group, plural, scope } = kind;
  const root = `${group === '' ? '/api' : '/apis'}/${apiVersionOf(kind)}`;
  if (scope === 'Cluster' || namespace === undefined || namespace === '') return `${root}/${plural}`;
  return `${root}/namespaces/${segment(namespace, 'namespace', kind)}/${plural}`;
}

/** The collection that an object is created in. A namespaced object needs a namespace. */
export function creationPath(kind: Kind, namespace: string | undefined): string {
  if (kind.scope === 'Namespaced' && (namespace ?? '') === '') throw namespaceMissing(kind);
  return collectionPath(kind, namespace);
}

/**
 * The path of one object. Throws for a name that would lead elsewhere: without a name, a DELETE would reach the whole
 * collection.
 */
export function objectPath(kind: Kind, { namespace, name }: ObjectKey, subresource?: string): string {
  const path = `${creationPath(kind, namespace)}/${segment(name, 'name', kind)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

function segment(text: string, field: string, { kind }: Kind): string {
  const problems = text === '' ? ['must not be empty'] : pathSegmentProblems(text);
  if (problems.length > 0) {
    throw userError(
      'InvalidKey',
      `the ${field} of a ${kind} ${problems.join(', ')}; found ${JSON.stringify(text)}`,
    );
  }
  return encodeURIComponent(text);
}

export const namespaceMissing = ({ kind }: Kind): Error =>
  userError('NamespaceMissing', `a ${kind} lives in a namespace, but none is named; set metadata.namespace`);

/** The key of what is about to be sent, of which nothing is known but that it should be an object. */
export function keyIn(object: unknown): { readonly namespace?: string; readonly name?: string } {
  const { metadata }: { readonly metadata?: Partial<KubeObject['metadata']> } = Object(object);
  const { namespace, name } = metadata ?? {};
  return { ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
}

type QueryValue = string | number | boolean | undefined;

/** `?a=b&c=d`; absent and empty values are left out. */
export function queryText(values: Readonly<Record<string, QueryValue>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') query.append(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** Labels that must be equal, as a selector. Values are checked: a comma in one would select something else. */
export function selectorText(labels: string | Readonly<Record<string, string>> | undefined): string | undefined {
  if (typeof labels !== 'object') return labels;
  const parts = Object.entries(labels).map(([key, value]) => {
    const problems = [...qualifiedNameProblems(key), ...labelValueProblems(value)];
    if (problems.length === 0) return `${key}=${value}`;
    throw userError(
      'InvalidLabels',
      `the label ${JSON.stringify(`${key}=${value}`)} cannot be selected: ${problems[0]}`,
    );
  });
  return parts.join(',');
}

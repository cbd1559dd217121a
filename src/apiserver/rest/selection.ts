import { type FieldRequirement, parseFieldSelector, requiredField } from '../../object/field-selector.ts';
import {
  type LabelSelector,
  matchesLabels,
  parseLabelSelector,
  SelectorProblem,
} from '../../object/label-selector.ts';
import type { Resource } from '../registry/resource.ts';
import { badRequest } from '../status.ts';
import type { Entry } from '../store/store.ts';
import type { Codec } from './codec.ts';
import type { Scope } from './services.ts';

/** Which objects a list, a watch or a deletecollection is about. */
export interface Selection {
  /** No selector at all: everything matches. */
  readonly isAll: boolean;
  /** The only name that can match, if the selector names one. */
  readonly name: string | undefined;
  matches(entry: Entry): boolean;
}

const EVERYTHING: Selection = { isAll: true, name: undefined, matches: () => true };

/** Reads the selectors of a query; 400 for what cannot be read or is not known for the kind (L6, L7). */
export function selectionOf(scope: Scope): Selection {
  const { request, resource, codec, info } = scope;
  const labelText = request.query.get('labelSelector') ?? '';
  const fieldText = request.query.get('fieldSelector') ?? '';
  // `/watch/…/name` is a watch of one object.
  const isNamed = info.verb === 'watch' && info.name !== '' && fieldText === '';
  if (labelText === '' && fieldText === '' && !isNamed) return EVERYTHING;
  const labels = labelText === '' ? undefined : parseLabels(labelText);
  const fields = isNamed
    ? [{ field: 'metadata.name', operator: '=' as const, value: info.name }]
    : parseFields(fieldText, resource);
  const matchers = fields.map((requirement) => fieldMatcher(requirement, resource, codec));
  return {
    isAll: false,
    name: requiredField(fields, 'metadata.name'),
    matches: (entry) =>
      matchers.every((matcher) => matcher(entry)) &&
      (labels === undefined || matchesLabels(labels, codec.labels(entry, resource))),
  };
}

function parseLabels(text: string): LabelSelector {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (error instanceof SelectorProblem) throw badRequest(error.message);
    throw error;
  }
}

const COMMON_FIELDS = ['metadata.name', 'metadata.namespace'];

function parseFields(text: string, resource: Resource): readonly FieldRequirement[] {
  if (text === '') return [];
  const known = [...COMMON_FIELDS, ...Object.keys(resource.strategy.selectableFields ?? {})];
  try {
    const requirements = parseFieldSelector(text);
    for (const { field } of requirements) if (!known.includes(field)) throw unknownField(field, resource);
    return requirements;
  } catch (error) {
    if (error instanceof SelectorProblem) throw badRequest(error.message);
    throw error;
  }
}

const unknownField = (field: string, { isCustom, strategy }: Resource) =>
  badRequest(
    isCustom || strategy.selectableFields !== undefined
      ? `field label not supported: ${field}`
      : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );

type Matcher = (entry: Entry) => boolean;

function fieldMatcher({ field, value, operator }: FieldRequirement, resource: Resource, codec: Codec): Matcher {
  const read = fieldReader(field, resource, codec);
  return (entry) => (read(entry) === value) === (operator === '=');
}

/** Name and namespace are read off the key; everything else from the object. */
function fieldReader(field: string, resource: Resource, codec: Codec): (entry: Entry) => string {
  if (field === 'metadata.name') return ({ key }) => key.slice(key.lastIndexOf('/') + 1);
  if (field === 'metadata.namespace') return ({ key }) => namespaceOf(key, resource);
  const select = resource.strategy.selectableFields?.[field];
  return (entry) => (select === undefined ? '' : codec.field(entry, resource, select));
}

export function namespaceOf(key: string, { prefix, isNamespaced }: Resource): string {
  if (!isNamespaced) return '';
  return key.slice(prefix.length, key.lastIndexOf('/'));
}

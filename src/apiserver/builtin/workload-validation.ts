import { type FieldError, invalid, notSupported, required } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import { has, nameOf, objectAt, objectsAt, textAt } from './fields.ts';
import { checkSelector, isEmptySelector, matchesSelector } from './label-selectors.ts';
import { checkPodTemplate } from './pod-validation.ts';

export interface TemplateRules {
  /** As the message about an empty selector names it. */
  readonly kind: string;
  /** Some kinds say that a selector is required, others only that nothing matches. */
  readonly needsSelector: boolean;
}

const PATH = 'spec.template';

/** Selector and template of a workload whose pods always restart. */
export function checkTemplate(spec: JsonObject, rules: TemplateRules): readonly FieldError[] {
  const selector = checkWorkloadSelector(spec, rules);
  if (selector.some(({ field }) => field.startsWith('spec.selector.'))) return selector;
  const template = objectAt(spec, 'template');
  const policy = textAt(objectAt(template, 'spec'), 'restartPolicy');
  const claims = objectsAt(spec, 'volumeClaimTemplates').map(nameOf);
  const isOther = policy !== 'Always' && ['OnFailure', 'Never'].includes(policy);
  return [
    ...selector,
    ...checkTemplateLabels(spec),
    ...checkPodTemplate(template, PATH, claims),
    ...(isOther ? [notSupported(`${PATH}.spec.restartPolicy`, policy, ['Always'])] : []),
  ];
}

function checkWorkloadSelector(spec: JsonObject, { kind, needsSelector }: TemplateRules): readonly FieldError[] {
  if (!has(spec, 'selector')) return needsSelector ? [required('spec.selector')] : [];
  const selector = objectAt(spec, 'selector');
  const errors = checkSelector(selector, 'spec.selector');
  if (errors.length > 0) return [...errors, invalid('spec.selector', selector, 'invalid label selector')];
  return isEmptySelector(selector) ? [invalid('spec.selector', {}, `empty selector is invalid for ${kind}`)] : [];
}

export function checkTemplateLabels(spec: JsonObject): readonly FieldError[] {
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  const isMatch = has(spec, 'selector') && matchesSelector(objectAt(spec, 'selector'), labels);
  if (isMatch) return [];
  return [invalid(`${PATH}.metadata.labels`, sortedLabels(labels), '`selector` does not match template `labels`')];
}

/** Go prints maps sorted by key, and an empty one as null. */
function sortedLabels(labels: JsonObject): JsonObject | null {
  const entries = Object.entries(labels);
  return entries.length === 0 ? null : Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A strategy as upstream's messages show its Go struct. */
export const goStrategy = (strategy: JsonObject): string =>
  JSON.stringify({ Type: textAt(strategy, 'type'), RollingUpdate: null });

import type { JsonObject } from '../../object/json.ts';
import { type LabelSelector, matchesLabels } from '../../object/label-selector.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resource } from '../registry/resource.ts';
import { type Codec, labelsOf } from '../rest/codec.ts';
import type { AdmissionAttributes } from '../rest/services.ts';
import { notFound } from '../status.ts';
import type { Store } from '../store/store.ts';
import type { Hook, HookRule } from './configurations.ts';

/** What matching looks things up in. */
export interface MatchServices {
  readonly store: Store;
  readonly registry: Registry;
  readonly codec: Codec;
}

/** A webhook and the version of the resource it registered for. */
export interface Invocation {
  readonly hook: Hook;
  readonly target: Resource;
}

const EXEMPT = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/** Those that could lock everybody out are never sent to webhooks (V2). */
const isExempt = ({ resource }: AdmissionAttributes): boolean =>
  resource.group === 'admissionregistration.k8s.io' && EXEMPT.has(resource.kind);

const isNamespaceResource = ({ resource }: AdmissionAttributes): boolean =>
  resource.group === '' && resource.plural === 'namespaces';

/** Requests for a namespace itself are in that namespace, for webhooks. */
export const namespaceOf = (attributes: AdmissionAttributes): string =>
  isNamespaceResource(attributes) ? attributes.name : attributes.namespace;

/** The webhooks whose rules speak of this resource and operation, with the version they want. */
export function candidates(
  hooks: readonly Hook[],
  attributes: AdmissionAttributes,
  registry: Registry,
): readonly Invocation[] {
  if (hooks.length === 0 || isExempt(attributes)) return [];
  return hooks.flatMap((hook) => {
    const target = targetOf(hook, attributes, registry);
    return target === undefined ? [] : [{ hook, target }];
  });
}

function targetOf(hook: Hook, attributes: AdmissionAttributes, registry: Registry): Resource | undefined {
  const { resource, subresource } = attributes;
  if (hook.rules.some((rule) => ruleMatches(rule, attributes, resource))) return resource;
  if (!hook.isEquivalent) return undefined;
  const others = registry
    .versionsOf(resource.prefix)
    .filter((other) => other !== resource && (subresource === '' || other.subresources.has(subresource)));
  for (const rule of hook.rules) {
    const found = others.find((other) => ruleMatches(rule, attributes, other));
    if (found !== undefined) return found;
  }
  return undefined;
}

function ruleMatches(rule: HookRule, attributes: AdmissionAttributes, resource: Resource): boolean {
  return (
    scopeMatches(rule.scope, attributes) &&
    hasOrAll(rule.operations, attributes.operation) &&
    hasOrAll(rule.apiGroups, resource.group) &&
    hasOrAll(rule.apiVersions, resource.version) &&
    rule.resources.some((pattern) => resourceMatches(pattern, resource.plural, attributes.subresource))
  );
}

const hasOrAll = (list: readonly string[], wanted: string): boolean => list.includes('*') || list.includes(wanted);

function scopeMatches(scope: string, attributes: AdmissionAttributes): boolean {
  if (scope === '*') return true;
  const isNamespaced = !isNamespaceResource(attributes) && attributes.namespace !== '';
  return scope === (isNamespaced ? 'Namespaced' : 'Cluster');
}

function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  const slash = pattern.indexOf('/');
  const wanted = slash === -1 ? pattern : pattern.slice(0, slash);
  const wantedSub = slash === -1 ? '' : pattern.slice(slash + 1);
  return (wanted === '*' || wanted === plural) && (wantedSub === '*' || wantedSub === subresource);
}

const isEverything = ({ requirements, isNothing }: LabelSelector): boolean =>
  requirements.length === 0 && !isNothing;

/** Whether namespace and object have the labels a webhook asks for. Throws when the namespace is gone. */
export const selectorsMatch = (hook: Hook, attributes: AdmissionAttributes, services: MatchServices): boolean =>
  objectMatches(hook.objectSelector, attributes) && namespaceMatches(hook.namespaceSelector, attributes, services);

function objectMatches(selector: LabelSelector, { object, oldObject }: AdmissionAttributes): boolean {
  if (isEverything(selector)) return true;
  return [object, oldObject].some((one) => one !== undefined && matchesLabels(selector, labelsOf(one)));
}

function namespaceMatches(
  selector: LabelSelector,
  attributes: AdmissionAttributes,
  services: MatchServices,
): boolean {
  const isCluster = namespaceOf(attributes) === '' && !isNamespaceResource(attributes);
  // Objects outside of namespaces cannot be exempted by one.
  if (isCluster || isEverything(selector)) return true;
  return matchesLabels(selector, namespaceLabels(attributes, services));
}

function namespaceLabels(
  attributes: AdmissionAttributes,
  { store, registry, codec }: MatchServices,
): JsonObject | undefined {
  const { object, operation, subresource } = attributes;
  const isOwn = isNamespaceResource(attributes) && subresource === '' && operation !== 'DELETE';
  if (isOwn) return object && labelsOf(object);
  const name = namespaceOf(attributes);
  const entry = store.head(`/registry/core/namespaces/${name}`);
  const resource = registry.find('', 'v1', 'namespaces');
  if (entry === undefined || resource === undefined) {
    throw notFound({ group: '', resource: 'namespaces' }, name);
  }
  return codec.labels(entry, resource);
}

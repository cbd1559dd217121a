import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import type { UserInfo } from '../request.ts';
import type { AuthorizationAttributes } from '../rest/services.ts';

/** One rule of a role, with every list present. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

const texts = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

export const rulesOf = (role: JsonObject): readonly PolicyRule[] =>
  (Array.isArray(role['rules']) ? role['rules'] : []).filter(isJsonObject).map((rule) => ({
    verbs: texts(rule['verbs']),
    apiGroups: texts(rule['apiGroups']),
    resources: texts(rule['resources']),
    resourceNames: texts(rule['resourceNames']),
    nonResourceURLs: texts(rule['nonResourceURLs']),
  }));

export const subjectsOf = (binding: JsonObject): readonly Subject[] =>
  (Array.isArray(binding['subjects']) ? binding['subjects'] : []).filter(isJsonObject).map((subject) => ({
    kind: text(subject['kind']),
    name: text(subject['name']),
    namespace: text(subject['namespace']),
  }));

export type Asked = Omit<AuthorizationAttributes, 'user'>;

/** Whether a rule allows a request (Z4). */
export function ruleAllows(rule: PolicyRule, asked: Asked): boolean {
  if (!hasOrAll(rule.verbs, asked.verb)) return false;
  if (!asked.isResourceRequest) return rule.nonResourceURLs.some((pattern) => pathMatches(pattern, asked.path));
  return (
    hasOrAll(rule.apiGroups, asked.group) &&
    resourceMatches(rule.resources, asked) &&
    nameMatches(rule, asked.name)
  );
}

const hasOrAll = (list: readonly string[], wanted: string): boolean => list.includes('*') || list.includes(wanted);

function resourceMatches(resources: readonly string[], { resource, subresource }: Asked): boolean {
  if (resources.includes('*')) return true;
  if (subresource === '') return resources.includes(resource);
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

/** Names never match requests without one: lists, creates, collections. */
const nameMatches = ({ resourceNames }: PolicyRule, name: string): boolean =>
  resourceNames.length === 0 || (name !== '' && resourceNames.includes(name));

const pathMatches = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')));

/** Whether a subject of a binding is the user. `namespace` is the binding's own, for service accounts that name none. */
export function subjectIs({ kind, name, namespace }: Subject, user: UserInfo, bindingNamespace: string): boolean {
  if (kind === 'User') return user.name === name;
  if (kind === 'Group') return user.groups.includes(name);
  if (kind !== 'ServiceAccount') return false;
  const where = namespace === '' ? bindingNamespace : namespace;
  return where !== '' && user.name === `system:serviceaccount:${where}:${name}`;
}

export function subjectText({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  return kind === 'ServiceAccount'
    ? `ServiceAccount "${name}/${namespace === '' ? bindingNamespace : namespace}"`
    : `${kind} "${name}"`;
}

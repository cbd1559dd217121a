import { isJsonObject, type JsonObject, jsonEqual } from '../../object/json.ts';
import { MASTERS, type RbacAuthorizer } from '../auth/rbac-authorizer.ts';
import { type PolicyRule, rulesOf } from '../auth/rbac-rules.ts';
import { describeRules, quotedList, uncovered } from '../auth/rule-coverage.ts';
import { textOf } from '../rest/object-meta.ts';
import type { AdmissionAttributes } from '../rest/services.ts';
import { forbiddenObject, notFound, StatusError } from '../status.ts';
import type { AdmissionPlugin } from './chain.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ROLES = new Set(['roles', 'clusterroles']);
const BINDINGS = new Set(['rolebindings', 'clusterrolebindings']);
const ROLE_PLURALS: Readonly<Record<string, string>> = { Role: 'roles', ClusterRole: 'clusterroles' };
/** Only who may do everything may collect whatever roles will ever hold. */
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];
const IGNORED_METADATA = ['ownerReferences', 'finalizers', 'selfLink', 'managedFields'];

/** Nobody gives away rights he does not have, unless he may `escalate` or `bind` (Z4). Last of the mutating steps. */
export const rbacEscalation = (rbac: RbacAuthorizer): AdmissionPlugin => ({
  mutate(attributes) {
    const { resource, user, object, oldObject, operation } = attributes;
    if (resource.group !== GROUP || operation === 'DELETE' || object === undefined) return undefined;
    if (user.groups.includes(MASTERS) || isCollectorsChange(object, oldObject)) return undefined;
    if (ROLES.has(resource.plural)) checkRole(attributes, object, rbac);
    else if (BINDINGS.has(resource.plural)) checkBinding(attributes, object, rbac);
    return undefined;
  },
});

/** The garbage collector must be able to let go of what it could never make. */
function isCollectorsChange(object: JsonObject, old: JsonObject | undefined): boolean {
  return old !== undefined && jsonEqual(withoutIgnored(object), withoutIgnored(old));
}

function withoutIgnored(object: JsonObject): JsonObject {
  const metadata = isJsonObject(object['metadata']) ? { ...object['metadata'] } : {};
  for (const name of IGNORED_METADATA) delete metadata[name];
  return { ...object, metadata };
}

interface Right {
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
}

function mayDo({ user, namespace }: AdmissionAttributes, rbac: RbacAuthorizer, right: Right): boolean {
  return rbac.authorize({
    user,
    isResourceRequest: true,
    group: GROUP,
    version: '*',
    subresource: '',
    namespace,
    path: '',
    ...right,
  }).isAllowed;
}

function checkRole(attributes: AdmissionAttributes, role: JsonObject, rbac: RbacAuthorizer): void {
  const { resource, operation, oldObject } = attributes;
  // A create names nothing yet, so rights to named roles do not count.
  const name = operation === 'CREATE' ? '' : attributes.name;
  if (mayDo(attributes, rbac, { verb: 'escalate', resource: resource.plural, name })) return;
  refuseMissing(attributes, rulesOf(role), rbac);
  if (!isAggregated(role) && !isAggregated(oldObject ?? {})) return;
  if (missing(attributes, EVERYTHING, rbac).length > 0) {
    throw refused(attributes, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

function isAggregated({ aggregationRule }: JsonObject): boolean {
  if (!isJsonObject(aggregationRule)) return false;
  const { clusterRoleSelectors } = aggregationRule;
  return Array.isArray(clusterRoleSelectors) && clusterRoleSelectors.length > 0;
}

function checkBinding(attributes: AdmissionAttributes, binding: JsonObject, rbac: RbacAuthorizer): void {
  const reference = isJsonObject(binding['roleRef']) ? binding['roleRef'] : {};
  const [kind, name] = [textOf(reference['kind']), textOf(reference['name'])];
  const plural = ROLE_PLURALS[kind];
  if (plural === undefined) {
    throw new StatusError({ code: 500, message: `unsupported role reference kind: "${kind}"` });
  }
  if (mayDo(attributes, rbac, { verb: 'bind', resource: plural, name })) return;
  const rules = rbac.rulesOfRole(kind, name, attributes.namespace);
  // Upstream names the kind of the request here.
  if (rules === undefined) throw notFound({ group: GROUP, resource: attributes.resource.plural }, name);
  refuseMissing(attributes, rules, rbac);
}

const missing = (
  { user, namespace }: AdmissionAttributes,
  rules: readonly PolicyRule[],
  rbac: RbacAuthorizer,
): readonly PolicyRule[] =>
  uncovered(
    [...rbac.grants(user, namespace)].flatMap((grant) => grant.rules),
    rules,
  );

function refuseMissing(attributes: AdmissionAttributes, rules: readonly PolicyRule[], rbac: RbacAuthorizer): void {
  const lacking = missing(attributes, rules, rbac);
  if (lacking.length === 0) return;
  const { user } = attributes;
  const who = `user "${user.name}" (groups=${quotedList(user.groups)})`;
  const what = describeRules(lacking).join('\n');
  throw refused(attributes, `${who} is attempting to grant RBAC permissions not currently held:\n${what}`);
}

const refused = ({ resource, name }: AdmissionAttributes, why: string): StatusError =>
  forbiddenObject({ group: GROUP, resource: resource.plural }, name, why);

import type { ClusterRole, Role } from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { LintContext, Problem, RuleText } from './rule.ts';

/** A rule about objects of any kind. */
export interface ObjectRule extends RuleText {
  readonly check: (object: KubeObject, context: LintContext) => Problem | undefined;
}

const ROLES: ReadonlySet<string> = new Set(['Role', 'ClusterRole']);
const BINDINGS: ReadonlySet<string> = new Set(['RoleBinding', 'ClusterRoleBinding']);
const CLUSTER_SCOPED: ReadonlySet<string> = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
]);

/** About what the operator applies (W31, R02). */
export const OBJECT_RULES: readonly ObjectRule[] = [
  {
    id: 'CCM-W31',
    severity: 'error',
    title: 'the managed namespace',
    why: 'the operator watches its operands in one namespace; roles may be in kube-system, too',
    fix: 'set metadata.namespace to the managed namespace',
    check: ({ kind, metadata: { namespace } }, { managedNamespace }) => {
      if (CLUSTER_SCOPED.has(kind)) return undefined;
      const isRight =
        namespace === managedNamespace || (namespace === 'kube-system' && (ROLES.has(kind) || BINDINGS.has(kind)));
      const text = `namespace must be ${managedNamespace} (found ${namespace ?? 'none'})`;
      return isRight ? undefined : { text, at: ['metadata', 'namespace'] };
    },
  },
  {
    id: 'CCM-R02',
    severity: 'warning',
    title: 'rights that are named',
    why: 'the operator must hold whatever it grants: a role with everything makes it everything',
    fix: 'name verbs and resources, and Secrets by their names or in one namespace',
    check: rightsProblem,
  },
];

export const isRole = (object: KubeObject): object is Role | ClusterRole => ROLES.has(object.kind);

function rightsProblem(object: KubeObject): Problem | undefined {
  if (!isRole(object)) return undefined;
  const { rules = [] } = object;
  const wide = rules.flatMap((rule) => {
    const parts = [...(rule.verbs ?? []), ...(rule.resources ?? []), ...(rule.apiGroups ?? [])];
    if (parts.includes('*')) return ['a wildcard'];
    const isOfSecrets = rule.resources?.includes('secrets') === true && rule.resourceNames === undefined;
    return isOfSecrets && object.kind === 'ClusterRole' ? ['Secrets of all namespaces'] : [];
  });
  return wide.length === 0 ? undefined : { text: `grants ${[...new Set(wide)].join(' and ')}`, at: ['rules'] };
}

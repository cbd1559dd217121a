import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
} from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { CloudProvider } from '../definition.ts';
import { specimenContext } from '../render/specimen.ts';

/** Rules that hold in one namespace, or everywhere. */
export interface ScopedRules {
  /** Absent: everywhere. */
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
}

/**
 * What the operator must hold because its operands grant it (R92): nobody may grant more than they have. Rules of Roles only in
 * the namespaces of these; those that hold everywhere come first. A role that is there already, whatever is in it, may be bound
 * by its name.
 */
export function operatorRules(providers: readonly CloudProvider[]): readonly ScopedRules[] {
  const granted = providers.flatMap((provider) => {
    const operands = provider.getResources(specimenContext(provider.definition));
    const roles = operands.filter(isRole);
    return [...roles.map(heldFor), ...operands.filter(isBinding).flatMap((binding) => boundBy(binding, roles))];
  });
  const byNamespace = Map.groupBy(granted, ({ namespace = '' }) => namespace);
  return [...byNamespace]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([namespace, found]) => {
      const rules = distinct(found.flatMap((one) => one.rules));
      return namespace === '' ? { rules } : { namespace, rules };
    });
}

const isRole = (object: KubeObject): object is Role | ClusterRole =>
  object.kind === 'Role' || object.kind === 'ClusterRole';

const isBinding = (object: KubeObject): object is RoleBinding | ClusterRoleBinding =>
  object.kind === 'RoleBinding' || object.kind === 'ClusterRoleBinding';

const placeOf = ({ metadata: { namespace } }: KubeObject): Pick<ScopedRules, 'namespace'> =>
  namespace === undefined ? {} : { namespace };

const heldFor = (role: Role | ClusterRole): ScopedRules => ({ ...placeOf(role), rules: role.rules ?? [] });

/** Nothing for a role that is rendered, too: its rules are held. */
function boundBy(
  binding: RoleBinding | ClusterRoleBinding,
  rendered: readonly (Role | ClusterRole)[],
): readonly ScopedRules[] {
  const { kind, name } = binding.roleRef;
  const { namespace } = binding.metadata;
  const isRendered = rendered.some(
    (role) =>
      role.kind === kind &&
      role.metadata.name === name &&
      (kind === 'ClusterRole' || role.metadata.namespace === namespace),
  );
  if (isRendered) return [];
  const resource = kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  const bind = {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: [resource],
    resourceNames: [name],
    verbs: ['bind'],
  };
  return [{ ...placeOf(binding), rules: [bind] }];
}

const distinct = (rules: readonly PolicyRule[]): readonly PolicyRule[] => [
  ...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values(),
];

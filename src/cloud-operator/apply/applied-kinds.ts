import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../api/generated/admissionregistration-v1.ts';
import { DaemonSet, Deployment } from '../../api/generated/apps-v1.ts';
import { ConfigMap, Secret, Service } from '../../api/generated/core-v1.ts';
import { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../api/generated/rbac-v1.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../../api/object.ts';
import { terminalError } from '../../base/errors.ts';
import { type Need, needs, type Verb } from '../../kube/rbac/need.ts';
import { WATCHING } from '../../kube/rbac/rules.ts';

/** What an operand may be (spec section 7). */
export const APPLIED_KINDS: readonly Kind[] = [
  Deployment,
  DaemonSet,
  ConfigMap,
  PodDisruptionBudget,
  Role,
  ClusterRole,
  RoleBinding,
  ClusterRoleBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  Service,
];

export function appliedKind(object: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind {
  const found = APPLIED_KINDS.find(
    (kind) => kind.kind === object.kind && apiVersionOf(kind) === object.apiVersion,
  );
  if (found !== undefined) return found;
  throw terminalError('UnhandledType', `unhandled type ${object.apiVersion} ${object.kind}`);
}

/** A kind that operands are of, and where they are. */
export interface OperandKind {
  readonly kind: Kind;
  /** None for what is in no namespace. */
  readonly namespaces: readonly string[];
}

const VERBS: readonly Verb[] = [...WATCHING, 'create', 'update', 'delete'];

/**
 * For operands of these kinds, and for what their pods read in their namespace. Beyond that the operator must hold
 * whatever its Roles grant (R92), which only the provider knows.
 */
export const applyNeeds = (kinds: readonly OperandKind[], managedNamespace: string): readonly Need[] => [
  ...kinds.flatMap(({ kind, namespaces }) =>
    kind.scope === 'Cluster'
      ? [needs(kind, VERBS)]
      : namespaces.map((namespace) => needs(kind, VERBS, { namespace })),
  ),
  needs(ConfigMap, WATCHING, { namespace: managedNamespace }),
  needs(Secret, WATCHING, {
    namespace: managedNamespace,
    reason: 'Pods start anew when a Secret that they read changes, whatever its name',
  }),
];

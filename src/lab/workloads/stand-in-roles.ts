import type { KubeObject } from '../../api/object.ts';
import type { Need } from '../../kube/rbac/need.ts';
import { type PolicyRule, rulesFrom } from '../../kube/rbac/rules.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** Who gets rights. */
export type Subject =
  | { readonly kind: 'User' | 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly name: string; readonly namespace: string };

/** A user of the name as the subject of a binding. */
export function subjectOf(user: string): Subject {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  if (namespace === undefined || name === undefined) return { kind: 'User', name: user };
  return { kind: 'ServiceAccount', name, namespace };
}

interface RoleObject extends KubeObject {
  readonly rules: readonly PolicyRule[];
}

interface BindingObject extends KubeObject {
  readonly roleRef: object;
  readonly subjects: readonly object[];
}

/** Pure: the rights of a stand-in, which are what its code declares and nothing else. */
export const standInRole = (user: string, needs: readonly Need[]): RoleObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name: roleName(user) },
  rules: rulesFrom(needs),
});

/** Of the role, and of its binding, of a user: the last part of its name tells it from others. */
export const roleName = (user: string): string => `slipway:lab:${user.slice(user.lastIndexOf(':') + 1)}`;

/** Pure: gives a role of the cluster to somebody. */
export const binding = (name: string, role: string, subject: Subject): BindingObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
  subjects: [{ ...subject, ...(subject.kind !== 'ServiceAccount' && { apiGroup: RBAC }) }],
});

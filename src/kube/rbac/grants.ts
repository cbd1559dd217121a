import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { PolicyRule } from './rules.ts';

const RBAC = 'rbac.authorization.k8s.io';
const API_VERSION = `${RBAC}/v1` as const;

/** The ServiceAccount that gets something. */
export interface GrantSubject {
  readonly name: string;
  readonly namespace: string;
}

export interface Grant {
  /** Of the role and of its binding. */
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly subject: GrantSubject;
  /** Absent: everywhere. */
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
}

/** A role and its binding: a ClusterRole for what is granted everywhere, a Role for one namespace. */
export function grant({ name, labels, subject, namespace, rules }: Grant): readonly KubeObject[] {
  const marked = labels === undefined ? {} : { labels };
  if (namespace === undefined) {
    const metadata = { name, ...marked };
    const role: ClusterRole = { apiVersion: API_VERSION, kind: 'ClusterRole', metadata, rules };
    return [role, clusterRoleBinding(metadata, name, subject)];
  }
  const metadata = { name, namespace, ...marked };
  const role: Role = { apiVersion: API_VERSION, kind: 'Role', metadata, rules };
  return [role, roleBinding(metadata, name, subject)];
}

/** Binds a ClusterRole that is there already. */
export const clusterRoleBinding = (
  metadata: ClusterRoleBinding['metadata'],
  role: string,
  subject: GrantSubject,
): ClusterRoleBinding => ({
  apiVersion: API_VERSION,
  kind: 'ClusterRoleBinding',
  metadata,
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
  subjects: [account(subject)],
});

/** Binds a Role of the same namespace that is there already. */
const roleBinding = (metadata: RoleBinding['metadata'], role: string, subject: GrantSubject): RoleBinding => ({
  apiVersion: API_VERSION,
  kind: 'RoleBinding',
  metadata,
  roleRef: { apiGroup: RBAC, kind: 'Role', name: role },
  subjects: [account(subject)],
});

const account = ({ name, namespace }: GrantSubject) => ({ kind: 'ServiceAccount', name, namespace });

/** Lets it read by which certificates the API server knows its callers; the Role comes with Kubernetes. */
export const authenticationReader = (
  { name, labels }: Pick<Grant, 'name' | 'labels'>,
  subject: GrantSubject,
): RoleBinding =>
  roleBinding(
    { name, namespace: 'kube-system', ...(labels !== undefined && { labels }) },
    'extension-apiserver-authentication-reader',
    subject,
  );

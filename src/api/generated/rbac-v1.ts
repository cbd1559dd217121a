// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './rbac-v1-types.ts';

export type * from './rbac-v1-types.ts';

export type ClusterRoleBinding = types.ClusterRoleBinding;
export const ClusterRoleBinding: Kind<ClusterRoleBinding, CreateOf<ClusterRoleBinding>> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
};

export type ClusterRole = types.ClusterRole;
export const ClusterRole: Kind<ClusterRole, CreateOf<ClusterRole>> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  scope: 'Cluster',
};

export type RoleBinding = types.RoleBinding;
export const RoleBinding: Kind<RoleBinding, CreateOf<RoleBinding>> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
};

export type Role = types.Role;
export const Role: Kind<Role, CreateOf<Role>> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  scope: 'Namespaced',
};

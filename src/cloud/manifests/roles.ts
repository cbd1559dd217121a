import type { ServiceAccount } from '../../api/generated/core-v1.ts';
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { needsByNamespace } from '../../kube/rbac/component-roles.ts';
import type { Need, Verb } from '../../kube/rbac/need.ts';
import { type PolicyRule, rulesFrom } from '../../kube/rbac/rules.ts';
import { ACCOUNT_NAMESPACE, ACCOUNT_NEEDS } from '../program/account-token.ts';
import { type InstallNames, type InstallNeeds, type InstallOptions, PROGRAM } from './install-options.ts';

const RBAC = 'rbac.authorization.k8s.io';
const API_VERSION = `${RBAC}/v1` as const;
/** Where Kubernetes keeps what an API server needs to know about its callers. */
const KUBE_SYSTEM = 'kube-system';

/**
 * The account of the program, with what it needs and nothing else (O6): by default one identity does everything, so each
 * rule is used. With accounts per controller it only gets tokens for them, and Kubernetes itself has given them roles.
 */
export function accountAndRoles(
  names: InstallNames,
  { process, accounts }: InstallNeeds,
  { usesAccounts = false, securePort }: Pick<InstallOptions, 'usesAccounts' | 'securePort'>,
): readonly KubeObject[] {
  const own = usesAccounts ? [...process, ...ACCOUNT_NEEDS] : [...process, ...[...accounts.values()].flat()];
  const identity = { kind: 'ServiceAccount', name: PROGRAM, namespace: names.namespace };
  const account: ServiceAccount = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: PROGRAM, namespace: names.namespace, labels: names.labels },
  };
  return [
    account,
    ...grants({ name: names.name, labels: names.labels, subject: identity }, own),
    ...(securePort === 0 ? [] : [authenticationReader(names, identity)]),
    ...(usesAccounts ? [...accounts].flatMap(([name, needs]) => leftOvers(names, name, needs)) : []),
  ];
}

interface Grant {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly subject: { readonly kind: string; readonly name: string; readonly namespace: string };
}

/** A ClusterRole for what is needed everywhere, a Role for each namespace that is named, and the bindings. */
const grants = (grant: Grant, needs: readonly Need[]): readonly KubeObject[] =>
  [...needsByNamespace({ needs })]
    .toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .flatMap(([where, part]) => {
      const rules = rulesFrom(part);
      if (rules.length === 0) return [];
      return where === '' ? clusterGrant(grant, rules) : namespacedGrant(grant, where, rules);
    });

function clusterGrant({ name, labels, subject }: Grant, rules: readonly PolicyRule[]): readonly KubeObject[] {
  const metadata = { name, labels };
  const role: ClusterRole = { apiVersion: API_VERSION, kind: 'ClusterRole', metadata, rules };
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name };
  const binding: ClusterRoleBinding = {
    apiVersion: API_VERSION,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef,
    subjects: [subject],
  };
  return [role, binding];
}

function namespacedGrant(
  { name, labels, subject }: Grant,
  namespace: string,
  rules: readonly PolicyRule[],
): readonly KubeObject[] {
  const metadata = { name, namespace, labels };
  const role: Role = { apiVersion: API_VERSION, kind: 'Role', metadata, rules };
  const roleRef = { apiGroup: RBAC, kind: 'Role', name };
  return [role, roleBinding(metadata, roleRef, subject)];
}

const roleBinding = (
  metadata: RoleBinding['metadata'],
  roleRef: RoleBinding['roleRef'],
  subject: Grant['subject'],
): RoleBinding => ({ apiVersion: API_VERSION, kind: 'RoleBinding', metadata, roleRef, subjects: [subject] });

/** Lets it read by which certificates the API server knows its callers; the Role comes with Kubernetes. */
const authenticationReader = ({ name, labels }: InstallNames, subject: Grant['subject']): RoleBinding =>
  roleBinding(
    { name: `${name}-authentication-reader`, namespace: KUBE_SYSTEM, labels },
    { apiGroup: RBAC, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
    subject,
  );

/** What Kubernetes gives the accounts of controllers by itself (§2.4): `system:controller:<account>`. */
const EVENTS: ReadonlyMap<string, readonly Verb[]> = new Map([
  ['/events', ['create', 'patch', 'update']],
  ['events.k8s.io/events', ['create', 'patch', 'update']],
]);
const BUILT_IN: ReadonlyMap<string, ReadonlyMap<string, readonly Verb[]>> = new Map([
  [
    'node-controller',
    new Map([
      ...EVENTS,
      ['/nodes', ['get', 'list', 'watch', 'update', 'delete', 'patch']],
      ['/nodes/status', ['patch', 'update']],
      ['/pods', ['list', 'watch', 'get', 'delete']],
      ['/pods/status', ['patch', 'update']],
      ['coordination.k8s.io/leases', ['get', 'list', 'watch']],
    ]),
  ],
  [
    'service-controller',
    new Map([
      ...EVENTS,
      ['/services', ['get', 'list', 'watch']],
      ['/services/status', ['patch', 'update']],
      ['/nodes', ['list', 'watch']],
    ]),
  ],
  ['route-controller', new Map([...EVENTS, ['/nodes', ['list', 'watch']], ['/nodes/status', ['patch']]])],
]);

/** The needs of a controller's account beyond its built-in role: a second role with the same rules would only drift. */
function leftOvers({ name, labels }: InstallNames, account: string, needs: readonly Need[]) {
  const given = BUILT_IN.get(account);
  const more = needs.flatMap((need) => {
    const has = given?.get(`${need.group}/${need.resource}`) ?? [];
    const verbs = need.verbs.filter((verb) => !has.includes(verb));
    return verbs.length === 0 ? [] : [{ ...need, verbs }];
  });
  const subject = { kind: 'ServiceAccount', name: account, namespace: ACCOUNT_NAMESPACE };
  return grants({ name: `${name}-${account}`, labels, subject }, more);
}

import type { ServiceAccount } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { needsByNamespace } from '../../kube/rbac/component-roles.ts';
import { authenticationReader, type Grant, grant } from '../../kube/rbac/grants.ts';
import type { Need, Verb } from '../../kube/rbac/need.ts';
import { rulesFrom } from '../../kube/rbac/rules.ts';
import { ACCOUNT_NAMESPACE, ACCOUNT_NEEDS } from '../program/account-token.ts';
import { type InstallNames, type InstallNeeds, type InstallOptions, PROGRAM } from './install-options.ts';

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
  const identity = { name: PROGRAM, namespace: names.namespace };
  const account: ServiceAccount = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: PROGRAM, namespace: names.namespace, labels: names.labels },
  };
  return [
    account,
    ...grants({ name: names.roles, labels: names.labels, subject: identity }, own),
    ...(securePort === 0 ? [] : [readerBinding(names, identity)]),
    ...(usesAccounts ? [...accounts].flatMap(([name, needs]) => leftOvers(names, name, needs)) : []),
  ];
}

/** A ClusterRole for what is needed everywhere, a Role for each namespace that is named, and the bindings. */
const grants = (who: Omit<Grant, 'rules' | 'namespace'>, needs: readonly Need[]): readonly KubeObject[] =>
  [...needsByNamespace({ needs })]
    .toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .flatMap(([where, part]) => {
      const rules = rulesFrom(part);
      if (rules.length === 0) return [];
      return grant({ ...who, rules, ...(where !== '' && { namespace: where }) });
    });

const readerBinding = ({ roles, labels }: InstallNames, subject: Grant['subject']): KubeObject =>
  authenticationReader({ name: `${roles}-authentication-reader`, labels }, subject);

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
function leftOvers({ roles, labels }: InstallNames, account: string, needs: readonly Need[]) {
  const given = BUILT_IN.get(account);
  const more = needs.flatMap((need) => {
    const has = given?.get(`${need.group}/${need.resource}`) ?? [];
    const verbs = need.verbs.filter((verb) => !has.includes(verb));
    return verbs.length === 0 ? [] : [{ ...need, verbs }];
  });
  const subject = { name: account, namespace: ACCOUNT_NAMESPACE };
  return grants({ name: `${roles}-${account}`, labels, subject }, more);
}

import type { ServiceAccount } from '../../api/generated/core-v1.ts';
import type { PolicyRule as GrantedRule } from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { needsByNamespace } from '../../kube/rbac/component-roles.ts';
import { authenticationReader, clusterRoleBinding, type GrantSubject, grant } from '../../kube/rbac/grants.ts';
import { type PolicyRule, rulesFrom } from '../../kube/rbac/rules.ts';
import type { OperatorNames } from '../names.ts';
import { type Installation, OPERATOR_ACCOUNT } from './installation.ts';

const KUBE_SYSTEM = 'kube-system';

const account = (subject: GrantSubject): ServiceAccount => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { ...subject },
});

/**
 * The account of the operator and what its code asks for, and nothing else (R92): a role per namespace, and a
 * ClusterRole for what is nowhere else. Its pod uses ports of the host, which takes a constraint of OpenShift.
 */
export function operatorAccess(installation: Installation): readonly KubeObject[] {
  const { mode, names } = installation;
  const { operatorNamespace: namespace, clusterOperator } = names;
  const subject = { name: OPERATOR_ACCOUNT, namespace };
  const everywhere =
    mode === 'replace'
      ? 'system:openshift:operator:cloud-controller-manager'
      : `system:openshift:operator:${clusterOperator}`;
  const local = `${clusterOperator}-operator`;
  return [
    account(subject),
    ...[...rulesByNamespace(installation)].flatMap(([where, rules]) =>
      where === ''
        ? grant({ name: everywhere, rules, subject })
        : grant({ name: local, namespace: where, rules, subject }),
    ),
    clusterRoleBinding({ name: `${everywhere}:hostaccess` }, 'system:openshift:scc:hostaccess', subject),
  ];
}

/** What it asks for and what it must hold, by namespace; the empty text for everywhere. */
function rulesByNamespace({ needs, held }: Installation): ReadonlyMap<string, readonly PolicyRule[]> {
  const own = [...needsByNamespace({ needs })].map(([where, part]) => [where, rulesFrom(part)] as const);
  const granted = held.map(({ namespace = '', rules }) => [namespace, rules.map(named)] as const);
  const all = Map.groupBy([...own, ...granted], ([where]) => where);
  return new Map(
    [...all]
      .toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
      .map(([where, parts]) => [where, parts.flatMap(([, rules]) => rules)]),
  );
}

/** Rules about resources; operands have no others. */
const named = ({ apiGroups = [], resources = [], resourceNames, verbs }: GrantedRule): PolicyRule => ({
  apiGroups,
  resources,
  ...(resourceNames !== undefined && { resourceNames }),
  verbs,
});

const rule = (group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
});

/** What the cloud controller managers of the platforms act as: they are upstream's, and so are their rights (section 16). */
export function platformAccess({ managedNamespace }: OperatorNames): readonly KubeObject[] {
  const manager = { name: 'cloud-controller-manager', namespace: managedNamespace };
  const node = { name: 'cloud-node-manager', namespace: managedNamespace };
  const lease = { ...rule('coordination.k8s.io', ['leases'], ['get', 'list', 'update']) };
  return [
    account(manager),
    ...grant({
      ...manager,
      rules: [
        { ...lease, resourceNames: ['cloud-controller-manager'] },
        rule('coordination.k8s.io', ['leases'], ['create']),
      ],
      subject: manager,
    }),
    ...grant({
      name: manager.name,
      namespace: KUBE_SYSTEM,
      rules: [rule('', ['serviceaccounts'], ['create', 'get']), rule('', ['serviceaccounts/token'], ['create'])],
      subject: manager,
    }),
    ...grant({
      name: manager.name,
      rules: [
        rule('', ['nodes', 'services'], ['get', 'list', 'watch']),
        rule('', ['events'], ['create', 'patch']),
        rule('authentication.k8s.io', ['tokenreviews'], ['create']),
        rule('authorization.k8s.io', ['subjectaccessreviews'], ['create']),
      ],
      subject: manager,
    }),
    authenticationReader({ name: `${manager.name}:apiserver-authentication-reader` }, manager),
    account(node),
    ...grant({
      name: node.name,
      rules: [
        rule('', ['nodes'], ['get', 'list', 'watch', 'update', 'patch']),
        rule('', ['nodes/status'], ['patch']),
      ],
      subject: node,
    }),
  ];
}

/** The one of OpenStack writes to Services as an account in kube-system. */
export function openStackAccess(): readonly KubeObject[] {
  const subject = { name: 'cloud-controller-manager', namespace: KUBE_SYSTEM };
  return [
    account(subject),
    ...grant({
      name: 'openstack-cloud-controller-manager',
      rules: [rule('', ['services'], ['patch']), rule('', ['events'], ['create', 'patch'])],
      subject,
    }),
  ];
}

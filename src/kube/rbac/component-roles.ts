import type { KubeObject } from '../../api/object.ts';
import type { Need } from './need.ts';
import { type PolicyRule, rulesFrom } from './rules.ts';

/** A program with an identity of its own in the cluster. */
export interface Component {
  /** Of its ServiceAccount, roles and bindings. */
  readonly name: string;
  /** Where it runs. */
  readonly namespace: string;
  readonly needs: readonly Need[];
  /** Only these namespaces are worked on: Roles in each of them instead of one ClusterRole (B5). */
  readonly namespaces?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** A Role or ClusterRole. */
export interface RoleObject extends KubeObject {
  readonly rules: readonly PolicyRule[];
}

const RBAC = 'rbac.authorization.k8s.io';
/** Where the needs of a ClusterRole are kept: no namespace has this name. */
const EVERYWHERE = '';

/**
 * ServiceAccount, roles and bindings of a component, the same for the same needs in any order (B1, B5). Throws a
 * userError for a need that no role may hold (B4).
 */
export function roleFor(component: Component): readonly KubeObject[] {
  const { name, namespace, labels } = component;
  const parts = [...needsByNamespace(component)].toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)));
  const account: KubeObject = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadata(name, namespace, labels),
  };
  const objects = parts.flatMap(([where, needs]) => {
    const rules = rulesFrom(needs);
    return rules.length === 0 ? [] : [roleOf(component, where, rules), bindingOf(component, where)];
  });
  return [account, ...objects];
}

/** The needs of each Role by its namespace, and those of the ClusterRole by the empty text. */
export function needsByNamespace({
  needs,
  namespaces,
}: Pick<Component, 'needs' | 'namespaces'>): ReadonlyMap<string, readonly Need[]> {
  const parts = new Map<string, Need[]>();
  for (const need of needs) {
    for (const where of placesOf(need, namespaces)) parts.set(where, [...(parts.get(where) ?? []), need]);
  }
  return parts;
}

function placesOf({ namespace, scope }: Need, namespaces: readonly string[] | undefined): readonly string[] {
  if (scope === 'Cluster') return [EVERYWHERE];
  if (namespace !== undefined) return [namespace];
  return namespaces === undefined ? [EVERYWHERE] : [...new Set(namespaces)];
}

const metadata = (name: string, namespace: string | undefined, labels: Component['labels']) => ({
  name,
  ...(namespace !== undefined && { namespace }),
  ...(labels !== undefined && { labels }),
});

function roleOf({ name, labels }: Component, where: string, rules: readonly PolicyRule[]): RoleObject {
  const isCluster = where === EVERYWHERE;
  return {
    apiVersion: `${RBAC}/v1`,
    kind: isCluster ? 'ClusterRole' : 'Role',
    metadata: metadata(name, isCluster ? undefined : where, labels),
    rules,
  };
}

function bindingOf({ name, namespace, labels }: Component, where: string): KubeObject {
  const isCluster = where === EVERYWHERE;
  return {
    apiVersion: `${RBAC}/v1`,
    kind: isCluster ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: metadata(name, isCluster ? undefined : where, labels),
    roleRef: { apiGroup: RBAC, kind: isCluster ? 'ClusterRole' : 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  } as KubeObject;
}

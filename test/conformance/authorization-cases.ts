// Roles, bindings and questions about them, made up from a seed.

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly apiGroup?: string;
}

interface Role {
  readonly kind: 'Role' | 'ClusterRole';
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly object[];
}

export interface Binding {
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly Subject[];
}

export interface Review {
  readonly spec: Readonly<Record<string, unknown>>;
  /** At most one binding can be the reason. */
  readonly isUnique: boolean;
}

export interface Policy {
  readonly namespaces: readonly string[];
  readonly roles: readonly Role[];
  readonly bindings: readonly Binding[];
  /** Allowed by the last binding alone. */
  readonly last: Review;
}

const ROLES = 30;
const BINDINGS = 40;
const DANGLING = 'authz-dangling';
const RBAC = 'rbac.authorization.k8s.io';

/** A small generator of numbers, the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

class Choices {
  readonly #next: (below: number) => number;

  constructor(seed: number) {
    this.#next = numbers(seed);
  }

  one<T>(values: readonly T[]): T {
    const value = values[this.#next(values.length)];
    if (value === undefined) throw new Error('nothing to choose from');
    return value;
  }

  some<T>(values: readonly T[]): T[] {
    const chosen = values.filter(() => this.#next(3) === 0);
    return chosen.length === 0 ? [this.one(values)] : chosen;
  }

  chance(oneIn: number): boolean {
    return this.#next(oneIn) === 0;
  }
}

const NAMESPACES = ['authz-a', 'authz-b'];
const VERBS = ['get', 'list', 'create', 'delete', 'watch', 'patch', '*'];
const GROUPS = ['', 'apps', 'batch', '*'];
const RESOURCES = ['pods', 'pods/log', 'secrets', 'deployments', 'deployments/scale', '*/scale', '*/log', '*'];
const NAMES = ['one', 'two', 'three'];
const URLS = ['/healthz', '/metrics', '/apis/*', '/logs/*', '*', '/a/b'];
const USERS = ['authz-u1', 'authz-u2', 'authz-u3', 'authz-u4'];
const USER_GROUPS = ['authz-g1', 'authz-g2'];

const ruleOf = (choices: Choices, isCluster: boolean): object =>
  isCluster && choices.chance(4)
    ? { nonResourceURLs: choices.some(URLS), verbs: choices.some(['get', 'post', '*']) }
    : {
        apiGroups: choices.some(GROUPS.slice(0, choices.chance(6) ? 4 : 3)),
        resources: choices.some(RESOURCES.slice(0, choices.chance(6) ? 8 : 7)),
        verbs: choices.some(VERBS.slice(0, choices.chance(6) ? 7 : 6)),
        ...(choices.chance(4) && { resourceNames: choices.some(NAMES) }),
      };

function roleOf(choices: Choices, index: number): Role {
  const kind = choices.one(['Role', 'ClusterRole'] as const);
  const rules = Array.from({ length: choices.one([1, 2]) }, () => ruleOf(choices, kind === 'ClusterRole'));
  return { kind, namespace: kind === 'Role' ? choices.one(NAMESPACES) : '', name: `authz-${index}`, rules };
}

function subjectOf(choices: Choices): Subject {
  const kind = choices.one(['User', 'User', 'Group', 'ServiceAccount']);
  if (kind === 'ServiceAccount') return { kind, name: 'robot', namespace: choices.one(NAMESPACES) };
  return { kind, apiGroup: RBAC, name: choices.one(kind === 'User' ? USERS : USER_GROUPS) };
}

function bindingOf(choices: Choices, index: number, roles: readonly Role[]): Binding {
  const role = choices.one(roles);
  const isCluster = role.kind === 'ClusterRole' && choices.chance(3);
  const namespace = role.kind === 'Role' ? role.namespace : isCluster ? '' : choices.one(NAMESPACES);
  const subjects = Array.from({ length: choices.one([1, 1, 2]) }, () => subjectOf(choices));
  return { namespace, name: `authz-${index}`, roleRef: { kind: role.kind, name: role.name }, subjects };
}

export function randomPolicy(seed: number): Policy {
  const choices = new Choices(seed);
  const roles = Array.from({ length: ROLES }, (_, index) => roleOf(choices, index));
  const bindings = Array.from({ length: BINDINGS }, (_, index) => bindingOf(choices, index, roles));
  // A role that is not there gives nothing, and stops nobody.
  const dangling = { namespace: '', name: DANGLING, roleRef: { kind: 'ClusterRole', name: 'authz-none' } };
  const last = { namespace: '', name: 'authz-zz', roleRef: { kind: 'ClusterRole', name: 'cluster-admin' } };
  const subject = (name: string): Subject => ({ kind: 'User', apiGroup: RBAC, name });
  return {
    namespaces: NAMESPACES,
    roles,
    bindings: [
      { ...dangling, subjects: USERS.map(subject) },
      ...bindings,
      { ...last, subjects: [subject('authz-last')] },
    ],
    last: { spec: { user: 'authz-last', resourceAttributes: { verb: 'get', resource: 'pods' } }, isUnique: true },
  };
}

/** Whether a binding speaks of whom a review asks about. */
function isMeant(
  { subjects, namespace }: Binding,
  user: string,
  groups: readonly string[],
  place: string,
): boolean {
  if (namespace !== '' && namespace !== place) return false;
  return subjects.some((subject) => {
    if (subject.kind === 'User') return subject.name === user;
    if (subject.kind === 'Group') return groups.includes(subject.name);
    return user === `system:serviceaccount:${subject.namespace ?? ''}:${subject.name}`;
  });
}

export function randomReviews(seed: number, count: number, { bindings }: Policy): readonly Review[] {
  const choices = new Choices(seed + 1);
  const users = [
    ...USERS,
    ...NAMESPACES.map((namespace) => `system:serviceaccount:${namespace}:robot`),
    'authz-nobody',
  ];
  return Array.from({ length: count }, () => {
    const user = choices.one(users);
    const groups = choices.chance(3) ? choices.some(USER_GROUPS) : [];
    const namespace = choices.one([...NAMESPACES, '', 'authz-none']);
    const [resource = '', subresource = ''] = choices.one(RESOURCES.slice(0, 5)).split('/');
    const isPath = choices.chance(6);
    const asked = isPath
      ? {
          nonResourceAttributes: {
            path: choices.one(['/healthz', '/metrics', '/apis/apps', '/apis', '/a/b/c']),
            verb: choices.one(['get', 'post']),
          },
        }
      : {
          resourceAttributes: {
            namespace,
            verb: choices.one(VERBS),
            group: choices.one(GROUPS),
            resource,
            subresource,
            ...(choices.chance(2) && { name: choices.one(NAMES) }),
          },
        };
    const place = isPath ? '' : namespace;
    const reasons = bindings.filter(
      (binding) => binding.name !== DANGLING && isMeant(binding, user, groups, place),
    );
    return { spec: { user, groups, ...asked }, isUnique: reasons.length <= 1 };
  });
}

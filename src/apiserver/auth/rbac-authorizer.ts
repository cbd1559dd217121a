import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { parseJsonBytes } from '../../object/json-text.ts';
import { metadataOf, type UserInfo } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import type { AuthorizationAttributes, Authorizer } from '../rest/services.ts';
import type { Store } from '../store/store.ts';
import {
  type PolicyRule,
  ruleAllows,
  rulesOf,
  type Subject,
  subjectIs,
  subjectsOf,
  subjectText,
} from './rbac-rules.ts';

/** Members may do everything, whatever the roles say (Z3). */
export const MASTERS = 'system:masters';

const GROUP_PREFIX = '/registry/rbac.authorization.k8s.io/';
const ALLOWED = { isAllowed: true, reason: '' };
const DENIED = { isAllowed: false, reason: '' };

export const alwaysAllow: Authorizer = { authorize: () => ALLOWED };

interface Binding {
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly subjects: readonly Subject[];
  readonly roleKind: string;
  readonly roleName: string;
}

interface Policy {
  /** By name, and by `namespace/name` for Roles. */
  readonly roles: ReadonlyMap<string, readonly PolicyRule[]>;
  readonly clusterBindings: readonly Binding[];
  readonly bindings: ReadonlyMap<string, readonly Binding[]>;
}

/** A binding that speaks of a user; without rules when its role is not there. */
interface Given {
  readonly binding: Binding;
  readonly subject: Subject;
  readonly rules: readonly PolicyRule[] | undefined;
}

/** A role that a binding gives to a user. */
export interface Grant {
  readonly rules: readonly PolicyRule[];
  readonly reason: string;
}

/** Decides by the roles and bindings in the store, as they are at this moment. */
export class RbacAuthorizer implements Authorizer, Disposable {
  readonly #store: Store;
  readonly #subscriptions = new DisposableStack();
  #policy: Policy | undefined;

  constructor(store: Store) {
    this.#store = store;
    for (const plural of ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']) {
      const forget = () => {
        this.#policy = undefined;
      };
      this.#subscriptions.use(store.subscribe(`${GROUP_PREFIX}${plural}/`, forget));
    }
  }

  authorize({ user, ...asked }: AuthorizationAttributes): {
    readonly isAllowed: boolean;
    readonly reason: string;
  } {
    if (user.groups.includes(MASTERS)) return ALLOWED;
    for (const { rules, reason } of this.grants(user, asked.isResourceRequest ? asked.namespace : '')) {
      if (rules.some((rule) => ruleAllows(rule, asked))) return { isAllowed: true, reason };
    }
    const problem = this.problem(user, asked.isResourceRequest ? asked.namespace : '');
    return problem === '' ? DENIED : { isAllowed: false, reason: `RBAC: ${problem}` };
  }

  /** Everything a user has in a namespace: cluster-wide bindings first, then those of the namespace. */
  *grants(user: UserInfo, namespace: string): Generator<Grant> {
    for (const { binding, subject, rules } of this.#given(user, namespace)) {
      if (rules !== undefined) yield { rules, reason: reasonOf(binding, subject) };
    }
  }

  /** Which roles a user should have are not there, in upstream's words; empty when none. */
  problem(user: UserInfo, namespace: string): string {
    const texts = new Set<string>();
    for (const { binding, rules } of this.#given(user, namespace)) {
      const kind = binding.roleKind.toLowerCase();
      if (rules === undefined) texts.add(`${kind}.rbac.authorization.k8s.io "${binding.roleName}" not found`);
    }
    const [first = '', ...more] = texts;
    return more.length === 0 ? first : `[${[...texts].join(', ')}]`;
  }

  *#given(user: UserInfo, namespace: string): Generator<Given> {
    this.#policy ??= readPolicy(this.#store);
    const { roles, clusterBindings, bindings } = this.#policy;
    const all = namespace === '' ? clusterBindings : [...clusterBindings, ...(bindings.get(namespace) ?? [])];
    for (const binding of all) {
      const subject = binding.subjects.find((candidate) => subjectIs(candidate, user, binding.namespace));
      if (subject !== undefined) yield { binding, subject, rules: roles.get(roleKey(binding)) };
    }
  }

  /** The rules of a role a binding refers to; undefined when there is none. */
  rulesOfRole(kind: string, name: string, namespace: string): readonly PolicyRule[] | undefined {
    this.#policy ??= readPolicy(this.#store);
    return this.#policy.roles.get(roleKey({ roleKind: kind, roleName: name, namespace }));
  }

  [Symbol.dispose](): void {
    this.#subscriptions.dispose();
  }
}

const roleKey = ({
  roleKind,
  roleName,
  namespace,
}: Pick<Binding, 'roleKind' | 'roleName' | 'namespace'>): string =>
  roleKind === 'ClusterRole' ? roleName : `${namespace}/${roleName}`;

function reasonOf({ name, namespace, roleKind, roleName }: Binding, subject: Subject): string {
  const binding = namespace === '' ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  return `RBAC: allowed by ${binding} of ${roleKind} "${roleName}" to ${subjectText(subject, namespace)}`;
}

function readPolicy(store: Store): Policy {
  const roles = new Map<string, readonly PolicyRule[]>();
  for (const role of objects(store, 'clusterroles')) roles.set(nameOf(role), rulesOf(role));
  for (const role of objects(store, 'roles')) roles.set(`${namespaceOf(role)}/${nameOf(role)}`, rulesOf(role));
  const bindings = Map.groupBy(objects(store, 'rolebindings').map(bindingOf), ({ namespace }) => namespace);
  return { roles, bindings, clusterBindings: objects(store, 'clusterrolebindings').map(bindingOf) };
}

function objects(store: Store, plural: string): readonly JsonObject[] {
  return [...store.list(`${GROUP_PREFIX}${plural}/`)]
    .map(({ bytes }) => parseJsonBytes(bytes).value)
    .filter(isJsonObject);
}

const nameOf = (object: JsonObject): string => textOf(metadataOf(object)['name']);
const namespaceOf = (object: JsonObject): string => textOf(metadataOf(object)['namespace']);

function bindingOf(object: JsonObject): Binding {
  const roleRef = isJsonObject(object['roleRef']) ? object['roleRef'] : {};
  return {
    name: nameOf(object),
    namespace: namespaceOf(object),
    subjects: subjectsOf(object),
    roleKind: textOf(roleRef['kind']),
    roleName: textOf(roleRef['name']),
  };
}

import { SelfSubjectRulesReview } from '../../api/generated/authorization-v1.ts';
import type { ResourceRule } from '../../api/generated/authorization-v1-types.ts';
import { isForbidden, isNotFound } from '../client/api-error.ts';
import type { Writer } from '../client/kube-client.ts';
import type { Verb } from '../rbac/need.ts';

/** One request to the API server that needs a right. */
export interface Permission {
  readonly verb: Verb;
  readonly group: string;
  /** Plural, with the subresource: `nodes/status`. */
  readonly resource: string;
  /** Empty: in all namespaces, or of the cluster. */
  readonly namespace: string;
  /** Empty: any object. */
  readonly name: string;
}

/**
 * Rules are told for one namespace together with those that hold everywhere. Nobody can bind a Role in a namespace of this
 * name, which has a character too many: what is told for it holds everywhere. The server does not look whether it exists.
 */
const NOWHERE = `no-namespace-has-so-long-a-name-${'x'.repeat(32)}`;
/** Fewer questions than this about one namespace are asked one by one: rules are a longer answer. */
const FEW = 2;

/**
 * Those permissions that the rules of this process do not show. Rules may be incomplete, so what they do not show may still
 * be granted; what they show is. Takes one question for what holds everywhere, and one for each namespace that is left.
 */
export async function notInRules(
  client: Pick<Writer, 'create'>,
  permissions: readonly Permission[],
  signal?: AbortSignal,
): Promise<readonly Permission[]> {
  if (permissions.length <= FEW) return permissions;
  const everywhere = await rulesIn(client, NOWHERE, signal);
  const left = permissions.filter((permission) => !isGiven(permission, everywhere));
  const byPlace = Map.groupBy(left, ({ namespace }) => namespace);
  const open = [...byPlace].map(async ([namespace, wanted]) => {
    if (namespace === '' || wanted.length <= FEW) return wanted;
    const rules = await rulesIn(client, namespace, signal);
    return wanted.filter((permission) => !isGiven(permission, rules));
  });
  return (await Promise.all(open)).flat();
}

async function rulesIn(client: Pick<Writer, 'create'>, namespace: string, signal: AbortSignal | undefined) {
  try {
    const options = signal === undefined ? {} : { signal };
    const { status } = await client.create(SelfSubjectRulesReview, { spec: { namespace } }, options);
    return status?.resourceRules ?? [];
  } catch (thrown) {
    // A server that tells nobody his rules still answers single questions.
    if (isForbidden(thrown) || isNotFound(thrown)) return [];
    throw thrown;
  }
}

const isGiven = (permission: Permission, rules: readonly ResourceRule[]): boolean =>
  rules.some((rule) => gives(rule, permission));

/** As the authorizer of Kubernetes reads a rule. Pure. */
export function gives(
  { verbs, apiGroups = [], resources = [], resourceNames = [] }: ResourceRule,
  { verb, group, resource, name }: Permission,
): boolean {
  const [, subresource = ''] = resource.split('/');
  const wanted = subresource === '' ? [resource] : [resource, `*/${subresource}`];
  return (
    has(verbs, [verb]) &&
    has(apiGroups, [group]) &&
    has(resources, wanted) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

const has = (given: readonly string[], wanted: readonly string[]): boolean =>
  given.some((item) => item === '*' || wanted.includes(item));

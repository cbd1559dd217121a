import type { Kind, Scope } from '../../api/object.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** One thing that a controller does to a resource; rules are made from these and from nothing else (B1). */
export interface Need {
  readonly group: string;
  /** Plural, with the subresource: `deployments/status`. */
  readonly resource: string;
  readonly verbs: readonly Verb[];
  /** Only these objects (B4). */
  readonly names?: readonly string[];
  /** Only this namespace, whatever the controller watches: its own, or that of its lease. */
  readonly namespace?: string;
  /** Cluster-scoped resources stay in a ClusterRole when the rest goes to Roles per namespace (B5). */
  readonly scope?: Scope;
  /** Needed where the rule gives more than it should, such as a list of all Secrets (B4); shown in the manifest. */
  readonly reason?: string;
}

export interface NeedOptions {
  readonly subresource?: string;
  readonly names?: readonly string[];
  readonly namespace?: string;
  readonly reason?: string;
}

/** `needs(Widget, ['patch'], { subresource: 'status' })`. */
export const needs = (
  { group, plural, scope }: Pick<Kind, 'group' | 'plural'> & { readonly scope?: Scope },
  verbs: readonly Verb[],
  { subresource, ...rest }: NeedOptions = {},
): Need => ({
  group,
  resource: subresource === undefined ? plural : `${plural}/${subresource}`,
  verbs,
  ...(scope !== undefined && { scope }),
  ...rest,
});

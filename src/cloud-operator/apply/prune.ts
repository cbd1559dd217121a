import { type Kind, type KubeObject, keyOf, keyText } from '../../api/object.ts';
import { userError } from '../../base/errors.ts';
import { isNoMatch } from '../../kube/client/api-error.ts';
import { type Need, needs, type Verb } from '../../kube/rbac/need.ts';
import { APPLIED_KINDS, type OperandKind } from './applied-kinds.ts';
import { type ApplierOptions, OperandWrites } from './operand-writes.ts';

export interface PruneOptions extends ApplierOptions {
  /** What operands can be, and where. */
  readonly kinds: readonly OperandKind[];
}

/**
 * What operands may have been, and where: an earlier definition may have had kinds that the present one has not. Neither
 * in namespaces that no operand is in any more, nor of the cluster: no role can say "only those with this label", and a
 * right to delete every ClusterRole is too much for what may be left (R92).
 */
export const prunedKinds = (kinds: readonly OperandKind[], managedNamespace: string): readonly OperandKind[] =>
  APPLIED_KINDS.flatMap((kind) => {
    const known = kinds.filter((one) => one.kind === kind);
    if (kind.scope === 'Cluster') return known;
    const places = [managedNamespace, ...known.flatMap(({ namespaces }) => namespaces)];
    return [{ kind, namespaces: [...new Set(places)].toSorted() }];
  });

const VERBS: readonly Verb[] = ['list', 'delete'];

export const pruneNeeds = (kinds: readonly OperandKind[]): readonly Need[] =>
  kinds.flatMap(({ kind, namespaces }) =>
    kind.scope === 'Cluster'
      ? [needs(kind, VERBS)]
      : namespaces.map((namespace) => needs(kind, VERBS, { namespace })),
  );

/**
 * Deletes operands of an earlier rendering: those that have the labels and are not among `kept` (R47). Returns them.
 * Nothing is deleted unless every list was complete. Labels must be those of this installation and of no other one.
 */
export async function prune(
  options: PruneOptions,
  kept: readonly KubeObject[],
  labels: Readonly<Record<string, string>>,
): Promise<readonly KubeObject[]> {
  if (Object.keys(labels).length === 0)
    throw userError('InvalidPrune', 'prune needs labels: else it would delete everything');
  const keptIds = new Set(kept.map(idOf));
  const obsolete: { readonly kind: Kind; readonly object: KubeObject }[] = [];
  for (const { kind, namespaces } of options.kinds) {
    const places = kind.scope === 'Cluster' ? [{}] : namespaces.map((namespace) => ({ namespace }));
    for (const object of await labelled(options, { kind, places, labels })) {
      if (!keptIds.has(idOf(object)) && isOurs(object, labels)) obsolete.push({ kind, object });
    }
  }
  const writes = new OperandWrites(options);
  for (const { kind, object } of obsolete) await writes.delete(kind, object);
  return obsolete.map(({ object }) => object);
}

interface Search {
  readonly kind: Kind;
  readonly places: readonly { readonly namespace?: string }[];
  readonly labels: Readonly<Record<string, string>>;
}

async function labelled(
  { client }: PruneOptions,
  { kind, places, labels }: Search,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  try {
    for (const place of places) {
      for await (const object of client.live.listAll(kind, { ...place, labels })) found.push(object);
    }
  } catch (error) {
    // A kind that the server does not have has no objects either.
    if (!isNoMatch(error)) throw error;
  }
  return found;
}

/** Never on the word of a list alone. */
const isOurs = ({ metadata }: KubeObject, labels: Readonly<Record<string, string>>): boolean =>
  metadata.deletionTimestamp === undefined &&
  Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);

const idOf = (object: KubeObject): string => `${object.kind} ${keyText(keyOf(object))}`;

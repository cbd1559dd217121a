import { apiVersionOf, type Kind, type KubeObject, keyOf, keyText } from '../../api/object.ts';
import { userError } from '../../base/errors.ts';
import { isControlledBy } from '../../object/owner-references.ts';
import { isNoMatch } from '../client/api-error.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { RestMapper } from '../client/rest-mapper.ts';
import type { SetMember } from './apply-set.ts';

/**
 * How the objects of an earlier set are found: by labels that every object of the set gets, among the given kinds and
 * those of the set; or by an inventory that the caller has kept. Labels also guard an inventory.
 */
export interface Prune {
  readonly labels?: Readonly<Record<string, string>>;
  readonly kinds?: readonly Kind[];
  readonly inventory?: readonly SetMember[];
}

interface Pruning {
  readonly prune: Prune;
  readonly owner: KubeObject | undefined;
  readonly applied: readonly SetMember[];
}

export interface Obsolete {
  readonly kind: Kind;
  readonly object: KubeObject;
}

interface PruneContext {
  readonly client: KubeClient;
  readonly mapper: RestMapper;
  readonly signal?: AbortSignal;
}

/** What is to be deleted, complete or not at all: a failure on the way is thrown. */
export async function obsoleteObjects(context: PruneContext, pruning: Pruning): Promise<readonly Obsolete[]> {
  const { prune, owner, applied } = pruning;
  const { labels = {}, inventory } = prune;
  if (owner === undefined && Object.keys(labels).length === 0) {
    throw userError('InvalidPrune', 'prune needs labels or an owner: else it could not tell what is its own');
  }
  const kept = new Set(applied.map(idOf));
  const found = inventory === undefined ? await labelled(context, pruning) : await listed(context, inventory);
  return found.filter(
    ({ object }) =>
      !kept.has(idOf({ apiVersion: object.apiVersion, kind: object.kind, ...keyOf(object) })) &&
      object.metadata.deletionTimestamp === undefined &&
      (owner === undefined || isControlledBy(object, owner)) &&
      Object.entries(labels).every(([name, value]) => object.metadata.labels?.[name] === value),
  );
}

/** Whatever the version: an object is the same in all of them. */
const idOf = ({ apiVersion, kind, ...key }: SetMember): string =>
  `${apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''} ${kind} ${keyText(key)}`;

async function labelled({ client, mapper, signal }: PruneContext, pruning: Pruning): Promise<Obsolete[]> {
  const { prune, owner, applied } = pruning;
  const kinds = new Map<string, Kind>();
  for (const kind of prune.kinds ?? []) kinds.set(`${apiVersionOf(kind)} ${kind.kind}`, kind);
  for (const member of applied) kinds.set(`${member.apiVersion} ${member.kind}`, await mapper.kindFor(member));
  const found: Obsolete[] = [];
  for (const kind of kinds.values()) {
    const namespace = kind.scope === 'Namespaced' ? owner?.metadata.namespace : undefined;
    const options = {
      ...(prune.labels !== undefined && { labels: prune.labels }),
      ...(namespace !== undefined && { namespace }),
      ...(signal !== undefined && { signal }),
    };
    await unlessUnknown(async () => {
      for await (const object of client.live.listAll(kind, options)) found.push({ kind, object });
    });
  }
  return found;
}

async function listed(context: PruneContext, inventory: readonly SetMember[]): Promise<Obsolete[]> {
  const { client, mapper, signal } = context;
  const found: Obsolete[] = [];
  for (const member of inventory) {
    await unlessUnknown(async () => {
      const kind = await mapper.kindFor(member);
      const object = await client.live.find(kind, member, signal === undefined ? {} : { signal });
      if (object !== undefined) found.push({ kind, object });
    });
  }
  return found;
}

/** A kind that the server does not have has no objects either. */
async function unlessUnknown(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isNoMatch(error)) throw error;
  }
}

import { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject } from '../../api/object.ts';
import { CommandError } from '../failures.ts';
import { suggestion } from '../nearest.ts';
import { shown } from '../settings.ts';
import type { Hub, Listing } from './hub.ts';

export interface ClusterQuery {
  readonly name: string;
  /** Undefined: wherever it is. */
  readonly namespace: string | undefined;
  /** Where to look when all namespaces may not be looked at. */
  readonly homeNamespace: string;
}

/** The Cluster and the list that it was in. */
export interface FoundCluster {
  readonly cluster: KubeObject;
  readonly listing: Listing;
}

/** Throws a CommandError when there is none, or more than one, with what to type instead. */
export async function findCluster(hub: Hub, query: ClusterQuery): Promise<FoundCluster> {
  const { name } = query;
  const { listing, namespace } = await listed(hub, query);
  if (!listing.isServed) throw new CommandError('SW1401', 3, `there is no Cluster API here: ${listing.unread}`);
  if (listing.unread !== undefined) throw new CommandError('SW1401', 3, `${listing.unread}; ask for the right`);
  const [cluster, second] = listing.objects;
  if (cluster === undefined) throw await noSuchCluster(hub, query, namespace);
  if (second === undefined) return { cluster, listing };
  const places = listing.objects.map(({ metadata }) => metadata.namespace ?? '').toSorted();
  throw new CommandError(
    'SW1403',
    2,
    `${places.length} clusters have the name ${name}, in namespaces ${places.join(', ')}. Say which: --namespace ${places[0]}`,
  );
}

interface Looked {
  readonly listing: Listing;
  /** Undefined: everywhere. */
  readonly namespace: string | undefined;
}

async function listed(hub: Hub, { name, namespace, homeNamespace }: ClusterQuery): Promise<Looked> {
  const target = { group: Cluster.group, kind: Cluster.kind, fields: `metadata.name=${name}` };
  const listing = await hub.list({ ...target, ...(namespace !== undefined && { namespace }) });
  const isRefused = listing.isServed && listing.unread !== undefined && namespace === undefined;
  if (!isRefused) return { listing, namespace };
  return { listing: await hub.list({ ...target, namespace: homeNamespace }), namespace: homeNamespace };
}

async function noSuchCluster(hub: Hub, query: ClusterQuery, namespace: string | undefined): Promise<CommandError> {
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const wayOn = wayOnFrom(query.name, namespace, await seenClusters(hub, namespace));
  return new CommandError('SW1402', 2, `there is no cluster "${shown(query.name)}"${where}${wayOn}`);
}

interface Seen {
  readonly clusters: readonly KubeObject[];
  /** Nothing could be hidden elsewhere. */
  readonly isAll: boolean;
}

/** Those of every namespace, since the namespace may be what is wrong; else those of the one that was asked for. */
async function seenClusters(hub: Hub, namespace: string | undefined): Promise<Seen> {
  const target = { group: Cluster.group, kind: Cluster.kind, metadataOnly: true };
  const everywhere = await hub.list(target);
  const isAll = everywhere.unread === undefined;
  if (isAll || namespace === undefined) return { clusters: everywhere.objects, isAll };
  return { clusters: (await hub.list({ ...target, namespace })).objects, isAll };
}

/** What to type instead, as the end of the sentence. */
function wayOnFrom(name: string, namespace: string | undefined, { clusters, isAll }: Seen): string {
  const namesakes = clusters.filter(({ metadata }) => metadata.name === name);
  const [place, ...more] = namesakes.map(({ metadata }) => metadata.namespace ?? '').toSorted();
  if (place !== undefined) {
    const places = more.length === 0 ? `namespace ${place}` : `namespaces ${listText([place, ...more])}`;
    return `. There is one in ${places}: --namespace ${place}`;
  }
  const isHere = ({ metadata }: KubeObject) => namespace === undefined || metadata.namespace === namespace;
  const here = clusters.filter(isHere).map(({ metadata }) => metadata.name);
  const elsewhere = clusters.filter((cluster) => !isHere(cluster));
  const away = elsewhere.map(({ metadata }) => `${metadata.name} in namespace ${metadata.namespace}`);
  const others = [...new Set(here.toSorted()), ...away.toSorted()];
  if (others.length === 0)
    return isAll ? '. There is none at all' : '. There is none, and you may not look into others';
  return suggestion(name, here) || `. There are: ${listText(others)}`;
}

const MOST = 10;

const listText = (words: readonly string[]): string => words.slice(0, MOST).join(', ');

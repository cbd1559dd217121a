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
  const { listing, namespace } = await listed(hub, query, `metadata.name=${name}`);
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

async function listed(hub: Hub, query: ClusterQuery, fields?: string): Promise<Looked> {
  const { namespace, homeNamespace } = query;
  const target = {
    group: Cluster.group,
    kind: Cluster.kind,
    ...(fields === undefined ? { metadataOnly: true } : { fields }),
  };
  const listing = await hub.list({ ...target, ...(namespace !== undefined && { namespace }) });
  const isRefused = listing.isServed && listing.unread !== undefined && namespace === undefined;
  if (!isRefused) return { listing, namespace };
  return { listing: await hub.list({ ...target, namespace: homeNamespace }), namespace: homeNamespace };
}

async function noSuchCluster(hub: Hub, query: ClusterQuery, namespace: string | undefined): Promise<CommandError> {
  const { listing } = await listed(hub, query);
  const names = [...new Set(listing.objects.map(({ metadata }) => metadata.name))].toSorted();
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const others = names.length === 0 ? '. There is none at all' : `. There are: ${names.slice(0, MOST).join(', ')}`;
  return new CommandError(
    'SW1402',
    2,
    `there is no cluster "${shown(query.name)}"${where}${suggestion(query.name, names) || others}`,
  );
}

const MOST = 10;

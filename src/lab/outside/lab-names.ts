import { Namespace, Service } from '../../api/generated/core-v1.ts';
import { EndpointSlice } from '../../api/generated/discovery-v1.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Cache } from '../../kube/cache/cache.ts';
import type { AddressPlan } from '../address/address-plan.ts';
import { clusterZone, isClusterName } from '../cloud/dns/cluster-zone.ts';
import { isWithin, parentName } from '../cloud/dns/domain-name.ts';
import { lookup, zoneFor } from '../cloud/dns/lookup.ts';
import type { RecordSet } from '../cloud/dns/record-set.ts';
import { type ServiceDirectory, serviceZone } from '../cloud/dns/service-zone.ts';
import { type Dns, startDns } from '../cloud/dns/start-dns.ts';
import { DEFAULT_TTL_SECONDS, type Zone, zoneOf } from '../cloud/dns/zone.ts';

/** What the name server has to know of a cluster. */
export interface NamedCluster {
  /** Its names are below. */
  readonly domain: string;
  /** Address of its API server, as those who ask can use it. */
  readonly api: string;
  readonly cache: Cache;
  /** Addresses of nodes that are on, alike. */
  readonly nodes: () => readonly string[];
  /** Whether a node or pod of it has this address, as the socket shows it. */
  readonly has: (address: string) => boolean;
}

/** An instance of the cloud that is there, on or off. */
export interface NamedHost {
  /** `<name>.<zone>.lab.internal`; instances may share it (C5). */
  readonly hostname: string;
  readonly address: string;
}

export interface NamesOptions {
  readonly plan: AddressPlan;
  /** Asked again for each question: clusters come and go. */
  readonly clusters: () => readonly NamedCluster[];
  /** What has been written into the DNS of the cloud. */
  readonly cloudZones: () => readonly Zone[];
  readonly hosts: () => readonly NamedHost[];
  readonly real: Clock;
  readonly log: Log;
}

/** The name server of a lab (C27): what the cloud was told, the fixed names of clusters, and Services by who asks. */
export function startNames({ plan, clusters, cloudZones, hosts, real, log }: NamesOptions): Promise<Dns> {
  const zones = new WeakMap<Cache, Zone>();
  const servicesOf = (cache: Cache): Zone => {
    const zone = zones.get(cache) ?? serviceZone(servicesIn(cache));
    zones.set(cache, zone);
    return zone;
  };
  const ownZone = (asker: string): readonly Zone[] => {
    const all = clusters();
    const cluster = all.find(({ has }) => has(asker)) ?? all[0];
    return cluster === undefined ? [] : [servicesOf(cluster.cache)];
  };
  return startDns({
    network: plan,
    address: plan.dns.api,
    zones: (asker) => [...labZones(clusters(), cloudZones(), hosts()), ...ownZone(asker)],
    real,
    log,
  });
}

/**
 * Pure: what the cloud was told, and what nobody had to write. Names of instances are in the zone that answers for them
 * anyway: a zone of their own would hide what others have written, or be hidden.
 */
export function labZones(
  clusters: readonly Pick<NamedCluster, 'domain' | 'api' | 'nodes'>[],
  cloudZones: readonly Zone[],
  hosts: readonly NamedHost[],
): readonly Zone[] {
  const ofClusters = clusters.map(({ domain, api, nodes }) =>
    clusterZone({ domain, api: [api], apiInternal: [api], apps: nodes() }),
  );
  const zones = [...cloudZones, ...ofClusters];
  const sets = hostSets(hosts).filter(({ name }) => !ofClusters.some((zone) => isClusterName(name, zone.name)));
  const byZone = Map.groupBy(sets, ({ name }) => zoneFor(zones, name));
  const others = Map.groupBy(byZone.get(undefined) ?? [], ({ name }) => parentName(name));
  return [
    ...zones.map((zone) => withHosts(zone, byZone.get(zone) ?? [])),
    ...[...others].map(([name, recordSets]) => zoneOf({ name, serial: 1, recordSets })),
  ];
}

/** The zone with hosts where nothing else has been written. */
function withHosts(zone: Zone, sets: readonly RecordSet[]): Zone {
  if (sets.length === 0) return zone;
  const hosts = new Map(sets.map((set) => [set.name, set]));
  // A name with hosts below it exists, but not if that takes from it, or from others below it, what a wildcard gives.
  const isEmptyName = (asked: string) =>
    sets.some(({ name }) => isWithin(name, asked)) &&
    lookup([zone], { name: asked, type: 'ANY' })?.rcode === 'NXDOMAIN';
  return {
    ...zone,
    at: (asked) => {
      const found = zone.at(asked);
      const host = hosts.get(asked);
      const isFree = (found ?? []).every(({ type }) => type === 'SOA' || type === 'NS');
      if (host !== undefined && isFree) return [...(found ?? []), host];
      return found ?? (isEmptyName(asked) ? [] : undefined);
    },
  };
}

function hostSets(hosts: readonly NamedHost[]): readonly RecordSet[] {
  const byName = Map.groupBy(hosts, ({ hostname }) => hostname);
  return [...byName].map(([name, alike]) => ({
    name,
    type: 'A',
    ttl: DEFAULT_TTL_SECONDS,
    values: alike.map(({ address }) => address),
  }));
}

/** From the cache of the controllers: every question asks. */
function servicesIn(cache: Cache): ServiceDirectory {
  const [namespaces, services, slices] = [
    cache.informer(Namespace),
    cache.informer(Service),
    cache.informer(EndpointSlice),
  ];
  return {
    hasNamespace: (name) => namespaces.get({ name }) !== undefined,
    service: (namespace, name) => services.get({ namespace, name }),
    slices: (namespace, service) =>
      slices.list({ namespace }).filter(({ metadata }) => metadata.labels?.[SERVICE_LABEL] === service),
  };
}

const SERVICE_LABEL = 'kubernetes.io/service-name';

import { isIP } from 'node:net';
import type { CapabilityName } from '../capabilities/capabilities.ts';
import type { CredentialsFacts } from '../capabilities/credentials.ts';
import type { DnsFacts } from '../capabilities/dns.ts';
import type { ImagesFacts } from '../capabilities/images.ts';
import type { InstancesFacts } from '../capabilities/instances.ts';
import type { LoadBalancersFacts } from '../capabilities/load-balancers.ts';
import type { MetadataFacts } from '../capabilities/metadata.ts';
import type { NetworksFacts } from '../capabilities/networks.ts';
import type { ObjectStoreFacts } from '../capabilities/object-store.ts';
import type { RoutesFacts } from '../capabilities/routes.ts';
import type { SnapshotsFacts } from '../capabilities/snapshots.ts';
import type { VolumesFacts } from '../capabilities/volumes.ts';
import type { ZonesFacts } from '../capabilities/zones.ts';
import { isPlain } from './plain-copy.ts';
import {
  bytes,
  flag,
  listOf,
  matching,
  oneOf,
  optional,
  record,
  required,
  type Shape,
  setOf,
  text,
  textMap,
  whole,
  wrongValue,
} from './shape.ts';

const PORT = whole(1, 65_535);
/** The smallest that IPv4 allows. */
const SMALLEST_MTU = 68;

const ipAddress: Shape = (value, path, note) => {
  if (typeof value !== 'string' || isIP(value) === 0) note(wrongValue(path, 'an IP address', value));
};

const urlPath = matching(/^\/\S*$/, "a path that begins with '/'");

const metadataPaths = record<MetadataFacts['paths']>({
  instanceId: required(urlPath, "say where a machine reads its own id: instanceId: '/meta/id'"),
  zone: optional(urlPath),
  hostname: optional(urlPath),
  userData: optional(urlPath),
});

const metadataToken = record<NonNullable<MetadataFacts['token']>>({
  path: required(urlPath),
  method: required(oneOf('PUT', 'GET')),
  requestHeaders: optional(textMap),
  header: required(text),
});

const volumeFacts = record<VolumesFacts>({
  minBytes: required(bytes(1n)),
  maxBytes: required(bytes(1n)),
  stepBytes: required(bytes(1n), 'say of what sizes are multiples: stepBytes: 1n when any will do'),
  nameLength: required(whole(1)),
  sharing: required(oneOf('never', 'read-only', 'read-write')),
  growsOnline: required(flag),
  maxPerInstance: optional(whole(1)),
});

/** Facts of volumes that cannot all be true. */
const volumes: Shape = (value, path, note) => {
  volumeFacts(value, path, note);
  if (!isPlain(value)) return;
  const { minBytes, maxBytes } = value;
  if (typeof minBytes !== 'bigint' || typeof maxBytes !== 'bigint' || minBytes <= maxBytes) return;
  note({
    path: `${path}.maxBytes`,
    code: 'SW2119',
    message: `${path}.maxBytes must be at least minBytes (${minBytes}n), not ${maxBytes}n`,
    hint: 'swap them, or correct the one that is wrong',
    why: 'no size at all would be allowed',
  });
};

/** What `declare()` of each capability may answer. */
export const CAPABILITY_FACTS: Readonly<Record<CapabilityName, Shape>> = {
  instances: record<InstancesFacts>({ consistencyMs: optional(whole(0)), maxBatch: optional(whole(1)) }),
  zones: record<ZonesFacts>({ isolated: required(flag) }),
  loadBalancers: record<LoadBalancersFacts>({
    protocols: required(
      setOf(oneOf('TCP', 'UDP', 'SCTP'), { fewest: 1 }),
      "say what the balancers carry: protocols: ['TCP']",
    ),
    healthChecks: required(
      setOf(oneOf('tcp', 'http', 'https'), { fewest: 1 }),
      "say how the balancers find out which backends work: healthChecks: ['tcp']",
    ),
    sourceRanges: required(flag),
    preservesClientAddress: required(flag),
    sessionAffinity: required(flag),
    scopes: required(setOf(oneOf('public', 'internal'), { fewest: 1 })),
    maxPorts: optional(whole(1)),
    hairpin: optional(flag),
  }),
  routes: record<RoutesFacts>({ tracksNodeAddresses: required(flag), maxConcurrent: optional(whole(1)) }),
  volumes,
  snapshots: record<SnapshotsFacts>({ dependOnVolume: required(flag) }),
  dns: record<DnsFacts>({
    recordTypes: required(
      setOf(oneOf('A', 'AAAA', 'CNAME'), { fewest: 1 }),
      "say which records can be made: recordTypes: ['A', 'CNAME']",
    ),
    wildcard: required(flag),
    minTtlSeconds: required(whole(0)),
  }),
  images: record<ImagesFacts>({
    formats: required(setOf(oneOf('raw', 'qcow2', 'vmdk', 'vhd', 'ova'), { fewest: 1 })),
    importsFromUrl: required(flag),
    maxBytes: optional(bytes(1n)),
  }),
  networks: record<NetworksFacts>({
    families: required(setOf(oneOf('IPv4', 'IPv6'), { fewest: 1 })),
    forwardsForeignAddresses: required(flag),
    mtu: optional(whole(SMALLEST_MTU, 65_535)),
  }),
  objectStore: record<ObjectStoreFacts>({ s3: required(flag), pathStyle: required(flag) }),
  credentials: record<CredentialsFacts>({
    modes: required(setOf(oneOf('mint', 'passthrough', 'token', 'manual'), { fewest: 1 })),
    permissions: required(textMap),
  }),
  metadata: record<MetadataFacts>({
    addresses: required(listOf(ipAddress, { fewest: 1 })),
    port: optional(PORT),
    headers: optional(textMap),
    token: optional(metadataToken),
    paths: required(metadataPaths, "say where a machine reads its own id: paths: { instanceId: '/meta/id' }"),
  }),
};

import { isIP } from 'node:net';
import type { Absent, Page, Pending } from '../capabilities/call.ts';
import type { CapabilityName } from '../capabilities/capabilities.ts';
import type { DnsZone } from '../capabilities/dns.ts';
import type { Image } from '../capabilities/images.ts';
import type { NodeAddress, PresentInstance, UnmanagedInstance } from '../capabilities/instances.ts';
import type { BalancerElsewhere, BalancerIngress, ReadyBalancer } from '../capabilities/load-balancers.ts';
import type { Network } from '../capabilities/networks.ts';
import type { Bucket } from '../capabilities/object-store.ts';
import type { CloudRoute } from '../capabilities/routes.ts';
import type { Snapshot } from '../capabilities/snapshots.ts';
import type { Attachment, DeviceHint, Volume, VolumeSource } from '../capabilities/volumes.ts';
import type { Zone } from '../capabilities/zones.ts';
import { isPlain } from './plain-copy.ts';
import {
  amount,
  bytes,
  type Fields,
  flag,
  listOf,
  matching,
  missing,
  oneOf,
  optional,
  record,
  required,
  type Shape,
  text,
  textMap,
  whole,
  wrongKind,
  wrongValue,
} from './shape.ts';

/** A cloud may say more than it is asked. */
const answer = <Type>(fields: Fields<Type>): Shape => record<Type>(fields, 'ignored');

/** Nothing: whatever comes back is dropped. */
const nothing: Shape = () => {};

const anyText: Shape = (value, path, note) => {
  if (typeof value !== 'string') note(wrongKind(path, 'text', value));
};

/** Undefined is an answer of its own here; null is none. */
const orNothing =
  (shape: Shape): Shape =>
  (value, path, note) => {
    if (value !== undefined) shape(value, path, note);
  };

/** One shape per value of the field that tells them apart. */
const oneOfShapes =
  (field: string, shapes: Readonly<Record<string, Shape>>): Shape =>
  (value, path, note) => {
    if (!isPlain(value)) return note(wrongKind(path, 'an object', value));
    if (!Object.hasOwn(value, field)) {
      return note(missing(field, `say which of ${Object.keys(shapes).join(', ')} it is`));
    }
    const which: unknown = value[field];
    const shape = typeof which === 'string' && Object.hasOwn(shapes, which) ? shapes[which] : undefined;
    (shape ?? record({ [field]: required(oneOf(...Object.keys(shapes))) }, 'ignored'))(value, path, note);
  };

const absent = answer<Absent>({
  state: required(oneOf('absent')),
  evidence: required(text, 'say what the cloud answered: a Node is deleted because of it'),
});

const address = answer<NodeAddress>({
  type: required(oneOf('Hostname', 'InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS')),
  address: required(text),
});

const observation = (providerId: RegExp): Shape =>
  oneOfShapes('state', {
    present: answer<PresentInstance>({
      state: required(oneOf('present')),
      power: required(oneOf('on', 'off', 'unknown')),
      providerID: required(matching(providerId, `a provider ID that matches ${providerId}`)),
      // Empty means "not known" (ccm/N9): no reason to leave a Node uninitialised.
      instanceType: optional(anyText),
      addresses: required(listOf(address)),
      zone: optional(anyText),
      region: optional(anyText),
      labels: optional(textMap),
    }),
    absent,
    unmanaged: answer<UnmanagedInstance>({ state: required(oneOf('unmanaged')) }),
  });

const ipAddress: Shape = (value, path, note) => {
  if (typeof value !== 'string' || isIP(value) === 0) note(wrongValue(path, 'an IP address', value));
};

const ingressFields = answer<BalancerIngress>({
  ip: optional(ipAddress),
  hostname: optional(text),
  ipMode: optional(oneOf('VIP', 'Proxy')),
  ports: optional(
    listOf(
      answer<NonNullable<BalancerIngress['ports']>[number]>({
        port: required(whole(1, 65_535)),
        protocol: required(oneOf('TCP', 'UDP', 'SCTP')),
        error: optional(text),
      }),
    ),
  ),
});

const ingress: Shape = (value, path, note) => {
  ingressFields(value, path, note);
  if (isPlain(value) && value['ip'] === undefined && value['hostname'] === undefined) {
    note(missing(`${path}.ip`, 'an entry without ip and hostname leads nowhere'));
  }
};

const pending = answer<Pending>({
  kind: required(oneOf('pending')),
  retryAfterMs: required(amount),
  why: required(text),
});

const outcome = oneOfShapes('kind', {
  ready: answer<ReadyBalancer>({
    kind: required(oneOf('ready')),
    // A balancer that nobody can reach yet is pending.
    ingress: required(listOf(ingress, { fewest: 1 })),
  }),
  pending,
  elsewhere: answer<BalancerElsewhere>({ kind: required(oneOf('elsewhere')) }),
});

const route = answer<CloudRoute>({
  name: optional(text),
  targetNode: required(anyText),
  targetNodeAddresses: optional(listOf(address)),
  destinationCIDR: required(text),
  blackhole: optional(flag),
});

const created = answer<{ readonly id: string }>({ id: required(text) });

const page = (item: Shape): Shape =>
  answer<Page<unknown>>({ items: required(listOf(item)), more: required(flag) });

const source: Shape = (value, path, note) => {
  const isVolume = isPlain(value) && value['snapshotId'] === undefined;
  const shape = isVolume
    ? answer<Extract<VolumeSource, { volumeId: string }>>({ volumeId: required(text) })
    : answer<Extract<VolumeSource, { snapshotId: string }>>({ snapshotId: required(text) });
  shape(value, path, note);
};

const device = answer<DeviceHint>({ serial: optional(text), wwn: optional(text), path: optional(text) });

const volume = (providerId: RegExp): Shape =>
  answer<Volume>({
    state: required(oneOf('creating', 'ready', 'deleting', 'error')),
    id: required(text),
    sizeBytes: required(bytes(0n)),
    zones: required(listOf(text)),
    tags: required(textMap),
    source: optional(source),
    attachments: required(
      listOf(
        answer<Attachment>({
          providerID: required(matching(providerId, `a provider ID that matches ${providerId}`)),
          readOnly: required(flag),
          state: required(oneOf('attaching', 'attached', 'detaching')),
          device: optional(device),
        }),
      ),
    ),
  });

const snapshot = answer<Snapshot>({
  state: required(oneOf('creating', 'ready', 'error')),
  id: required(text),
  volumeId: required(text),
  sizeBytes: required(bytes(0n)),
  takenAt: required(
    matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i, 'a time as 2026-01-31T12:00:00Z'),
  ),
  tags: required(textMap),
});

const image = answer<Image>({
  state: required(oneOf('importing', 'ready', 'error')),
  id: required(text),
  architecture: required(text),
  tags: required(textMap),
});

const network = answer<Network>({
  state: required(oneOf('ready', 'creating', 'error')),
  id: required(text),
  cidrs: required(listOf(text)),
  tags: required(textMap),
});

/** The thing, or the definitive answer that there is none. */
const orAbsent =
  (thing: Shape): Shape =>
  (value, path, note) =>
    (isPlain(value) && value['state'] === 'absent' ? absent : thing)(value, path, note);

/** What each method of each capability may answer; `describeMany` gives its shape for one of its answers. */
export function capabilityAnswers(
  providerId: RegExp,
): Readonly<Record<CapabilityName, Readonly<Record<string, Shape>>>> {
  const instance = observation(providerId);
  const disk = volume(providerId);
  return {
    instances: { describe: instance, describeMany: instance },
    zones: {
      list: listOf(answer<Zone>({ name: required(text), region: required(text), isAvailable: required(flag) })),
    },
    loadBalancers: {
      find: orNothing(listOf(ingress)),
      ensure: outcome,
      setBackends: oneOf('updated', 'gone', 'elsewhere'),
      remove: nothing,
    },
    routes: { list: listOf(route), create: nothing, remove: nothing },
    volumes: {
      create: created,
      describe: orAbsent(disk),
      list: page(disk),
      remove: nothing,
      attach: device,
      detach: nothing,
      grow: bytes(1n),
    },
    snapshots: { create: created, describe: orAbsent(snapshot), list: page(snapshot), remove: nothing },
    dns: {
      findZone: orNothing(answer<DnsZone>({ id: required(text), name: required(text) })),
      ensure: nothing,
      remove: oneOf('removed', 'absent', 'foreign'),
    },
    images: { create: created, describe: orAbsent(image), list: page(image), remove: nothing },
    networks: { ensure: created, describe: orAbsent(network), list: page(network), remove: nothing },
    objectStore: {
      ensure: answer<Bucket>({ name: required(text), region: required(anyText), endpoint: required(text) }),
      put: nothing,
      link: text,
      remove: nothing,
    },
    credentials: {
      ensure: textMap,
      remove: nothing,
      check: oneOf('mint', 'passthrough', 'insufficient'),
    },
    metadata: {},
  };
}

/** Whether a method answers with nothing, so that its value is dropped. */
export const isSilent = (shape: Shape): boolean => shape === nothing;

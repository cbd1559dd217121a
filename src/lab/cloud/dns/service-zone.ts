import { isIPv4, isIPv6 } from 'node:net';
import type { Service, ServicePort } from '../../../api/generated/core-v1-types.ts';
import type { EndpointSlice } from '../../../api/generated/discovery-v1-types.ts';
import type { RecordSet, StoredType } from './record-set.ts';
import { computedZone, type Zone } from './zone.ts';

/** The Services of a cluster as the name server needs them; from a cache, because every question asks. */
export interface ServiceDirectory {
  hasNamespace(namespace: string): boolean;
  service(namespace: string, name: string): Service | undefined;
  slices(namespace: string, service: string): readonly EndpointSlice[];
}

const DOMAIN = 'svc.cluster.local';
/** As in clusters: a Service may get other endpoints at any time. */
const TTL_SECONDS = 5;

/** `svc.cluster.local` of a cluster (C27), after the specification of DNS for Services (kubernetes/dns, 1.1.0). */
export function serviceZone(directory: ServiceDirectory): Zone {
  return computedZone({
    name: DOMAIN,
    serial: 1,
    below: (name) => {
      const labels = name
        .slice(0, -DOMAIN.length - 1)
        .split('.')
        .toReversed();
      const [namespace = '', serviceName, ...rest] = labels;
      if (!directory.hasNamespace(namespace)) return undefined;
      if (serviceName === undefined) return [];
      const service = directory.service(namespace, serviceName);
      if (service === undefined) return undefined;
      const slices = directory.slices(namespace, serviceName);
      return atService({ name, origin: `${serviceName}.${namespace}.${DOMAIN}`, service, slices }, rest);
    },
  });
}

interface Place {
  /** What is asked for. */
  readonly name: string;
  /** Of the Service. */
  readonly origin: string;
  readonly service: Service;
  readonly slices: readonly EndpointSlice[];
}

/** `rest` is what stands before the name of the Service, read from there on: `_tcp`, then `_http`. */
function atService(place: Place, rest: readonly string[]): readonly RecordSet[] | undefined {
  const [first, second, ...others] = rest;
  if (first === undefined) return atName(place);
  if (others.length > 0) return undefined;
  if (first.startsWith('_')) return atPort(place, first.slice(1), second);
  return second === undefined && isHeadless(place.service) ? atHost(place, first) : undefined;
}

function atName({ name, service, slices }: Place): readonly RecordSet[] {
  const { type, externalName = '', clusterIPs = [], clusterIP = '' } = service.spec ?? {};
  if (type === 'ExternalName') return [{ name, type: 'CNAME', ttl: TTL_SECONDS, values: [externalName] }];
  if (isHeadless(service))
    return addressSets(
      name,
      membersOf(service, slices).map(({ address }) => address),
    );
  return addressSets(name, clusterIPs.length > 0 ? clusterIPs : [clusterIP]);
}

/** One endpoint of a Service without address of its own. */
function atHost({ name, service, slices }: Place, host: string): readonly RecordSet[] | undefined {
  const members = membersOf(service, slices).filter((member) => member.host === host);
  return members.length === 0
    ? undefined
    : addressSets(
        name,
        members.map(({ address }) => address),
      );
}

/** `_http._tcp`; without the first it only has others below it. */
function atPort(place: Place, protocol: string, label: string | undefined): readonly RecordSet[] | undefined {
  const ports = (place.service.spec?.ports ?? []).filter(
    (port) => (port.name ?? '') !== '' && (port.protocol ?? 'TCP').toLowerCase() === protocol,
  );
  if (label === undefined) return ports.length === 0 ? undefined : [];
  const port = ports.find(({ name }) => label === `_${name}`);
  if (port === undefined) return undefined;
  const values = isHeadless(place.service) ? memberTargets(place, port) : [`0 100 ${port.port} ${place.origin}`];
  return values.length === 0 ? [] : [{ name: place.name, type: 'SRV', ttl: TTL_SECONDS, values }];
}

const memberTargets = ({ origin, service, slices }: Place, { name }: ServicePort): readonly string[] =>
  slices.flatMap((slice) => {
    const number = slice.ports?.find((port) => port.name === name)?.port;
    const members = number === undefined ? [] : membersOf(service, [slice]);
    return members.map(({ host }) => `0 100 ${number} ${host}.${origin}`);
  });

interface Member {
  readonly address: string;
  readonly host: string;
}

/** Those that are ready, unless the Service shows all. */
function membersOf({ spec }: Service, slices: readonly EndpointSlice[]): readonly Member[] {
  const showsAll = spec?.publishNotReadyAddresses === true;
  return slices
    .flatMap(({ endpoints = [] }) => endpoints)
    .filter(({ conditions }) => showsAll || conditions?.ready !== false)
    .flatMap(({ addresses, hostname = '' }) =>
      addresses.map((address) => ({ address, host: hostname === '' ? address.replace(/[.:]/g, '-') : hostname })),
    );
}

const isHeadless = ({ spec }: Service): boolean => spec?.clusterIP === 'None';

function addressSets(name: string, addresses: readonly string[]): readonly RecordSet[] {
  const unique = [...new Set(addresses)];
  const setOf = (type: StoredType, values: readonly string[]): readonly RecordSet[] =>
    values.length === 0 ? [] : [{ name, type, ttl: TTL_SECONDS, values }];
  return [...setOf('A', unique.filter(isIPv4)), ...setOf('AAAA', unique.filter(isIPv6))];
}

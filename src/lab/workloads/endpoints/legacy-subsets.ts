import type {
  EndpointAddress,
  EndpointPort,
  EndpointSubset,
  Endpoints,
  Pod,
  Service,
} from '../../../api/generated/core-v1-types.ts';
import type { JsonObject } from '../../../api/json.ts';
import { semanticEqual } from '../../../object/semantic-equality.ts';
import { isReady } from '../pods/pod-state.ts';
import { addressTypes, endpointPorts, hostnameOf, isHeadless, podAddresses, selects } from './pod-endpoint.ts';
import { legacyLabels, sameLabels } from './service-labels.ts';

interface Placed {
  /** Undefined: a headless service need not have ports. */
  readonly port: EndpointPort | undefined;
  readonly address: EndpointAddress;
  readonly isReady: boolean;
}

/** Pure: where the pods of a service are, as it was said before there were slices: ports with the same pods together. */
export function legacySubsets(service: Service, pods: readonly Pod[]): readonly EndpointSubset[] {
  const placed = pods.filter((pod) => selects(service, pod)).flatMap((pod) => placesOf(service, pod));
  const byPort = Map.groupBy(placed, ({ port }) => JSON.stringify(port ?? null));
  const single = [...byPort.values()].map((places) => {
    const [ready, waiting] = [places.filter((place) => place.isReady), places.filter((place) => !place.isReady)];
    return { port: places[0]?.port, addresses: addressesOf(ready), notReadyAddresses: addressesOf(waiting) };
  });
  const groups = Map.groupBy(single, ({ port: _port, ...who }) => JSON.stringify(who));
  return [...groups.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    const { addresses, notReadyAddresses } = first;
    const ports = [first, ...more].flatMap(({ port }) => (port === undefined ? [] : [port]));
    return [
      {
        ...(addresses.length > 0 && { addresses }),
        ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
        ...(ports.length > 0 && { ports }),
      },
    ];
  });
}

function placesOf(service: Service, pod: Pod): readonly Placed[] {
  const publishesAll = service.spec?.publishNotReadyAddresses === true;
  const [type = 'IPv4'] = addressTypes(service);
  const [ip] = podAddresses(pod, type);
  if (ip === undefined || (pod.metadata.deletionTimestamp !== undefined && !publishesAll)) return [];
  const address = { ip, ...hostnameOf(service, pod), ...whoIsAt(pod) };
  const isPortless = isHeadless(service) && (service.spec?.ports ?? []).length === 0;
  const ports = isPortless ? [undefined] : endpointPorts(service, pod).map(legacyPort);
  return ports.map((port) => ({ port, address, isReady: publishesAll || isReady(pod) }));
}

function whoIsAt({ metadata, spec }: Pod): Omit<EndpointAddress, 'ip'> {
  const { name, namespace = '', uid = '' } = metadata;
  const { nodeName = '' } = spec;
  return { ...(nodeName !== '' && { nodeName }), targetRef: { kind: 'Pod', namespace, name, uid } };
}

/** A port without a name has none here, where slices say that it is empty. */
function legacyPort({ name = '', port = 0, protocol, appProtocol }: ReturnType<typeof endpointPorts>[number]) {
  return {
    ...(name !== '' && { name }),
    port,
    ...(protocol !== undefined && { protocol }),
    ...(appProtocol !== undefined && { appProtocol }),
  };
}

const addressesOf = (places: readonly Placed[]): readonly EndpointAddress[] =>
  places.map(({ address }) => address).toSorted((a, b) => (a.ip < b.ip ? -1 : Number(a.ip > b.ip)));

/** Pure: whether the Endpoints say just that. */
export function isSaid(
  { metadata, subsets = [] }: Endpoints,
  service: Service,
  wanted: readonly EndpointSubset[],
) {
  return sameLabels(metadata.labels, legacyLabels(service)) && semanticEqual(jsonOf(subsets), jsonOf(wanted));
}

// Plain JSON that came from the server, or goes there.
const jsonOf = (subsets: readonly EndpointSubset[]): JsonObject[] => subsets as unknown as JsonObject[];

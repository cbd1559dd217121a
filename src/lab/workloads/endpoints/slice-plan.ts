import { Service as ServiceKind } from '../../../api/generated/core-v1.ts';
import type { Node, Pod, Service } from '../../../api/generated/core-v1-types.ts';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../../api/generated/discovery-v1-types.ts';
import { ownedBy } from '../../../object/owner-references.ts';
import { packing } from './packing.ts';
import {
  type AddressType,
  addressTypes,
  endpointPorts,
  podAddresses,
  podEndpoint,
  selects,
} from './pod-endpoint.ts';
import { sameLabels, sliceLabels } from './service-labels.ts';

/** The server adds five characters to a prefix, and cuts it before if needed. */
const LONGEST_PREFIX = 253;

/** What a decision about the slices of a service is made from. */
export interface SliceFacts {
  readonly service: Service;
  /** Of its namespace. */
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  /** Those that say they are managed for this service. */
  readonly slices: readonly EndpointSlice[];
}

/** What a slice holds. */
export interface SliceContent {
  readonly addressType: AddressType;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
  readonly labels: Readonly<Record<string, string>>;
}

export interface SlicePlan {
  readonly create: readonly SliceContent[];
  readonly update: readonly { readonly slice: EndpointSlice; readonly content: SliceContent }[];
  readonly remove: readonly EndpointSlice[];
}

/** Pure: how the slices of a service come to hold its pods (W31). */
export function slicePlan(facts: SliceFacts): SlicePlan {
  const types = addressTypes(facts.service);
  const isOurs = (slice: EndpointSlice) =>
    types.some((type) => type === slice.addressType) && isOwned(slice, facts.service);
  const plans = types.map((type) => planFor(type, facts));
  return {
    create: plans.flatMap(({ create }) => create),
    update: plans.flatMap(({ update }) => update),
    remove: [...facts.slices.filter((slice) => !isOurs(slice)), ...plans.flatMap(({ remove }) => remove)],
  };
}

/** Endpoints whose pods have the same ports. */
interface Group {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

function planFor(addressType: AddressType, facts: SliceFacts): SlicePlan {
  const { service } = facts;
  const labels = sliceLabels(service);
  const groups = groupsOf(addressType, facts);
  const slices = facts.slices.filter((slice) => slice.addressType === addressType && isOwned(slice, service));
  const byPorts = Map.groupBy(slices, ({ ports }) => portsKey(ports ?? []));
  const unwanted = slices.filter(({ ports }) => !groups.has(portsKey(ports ?? [])));
  const plans = [...groups].map(([key, group]) =>
    planOfGroup(byPorts.get(key) ?? [], group, { addressType, ports: group.ports, labels }),
  );
  const plan: SlicePlan = {
    create: plans.flatMap(({ create }) => create),
    update: plans.flatMap(({ update }) => update),
    remove: [...unwanted, ...plans.flatMap(({ remove }) => remove)],
  };
  const isNothingLeft = plan.create.length === 0 && plan.remove.length === slices.length;
  const whole = isNothingLeft ? withPlaceholder(plan, { addressType, ports: [], endpoints: [], labels }) : plan;
  return reused(whole);
}

function groupsOf(type: AddressType, { service, pods, nodes }: SliceFacts): ReadonlyMap<string, Group> {
  const nodesByName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const listed = pods.flatMap((pod) => {
    const node = nodesByName.get(pod.spec.nodeName ?? '');
    if (!selects(service, pod) || podAddresses(pod, type).length === 0) return [];
    // A pod whose node is gone, or not there yet, cannot be reached; who wants all of them wants this one too.
    if (node === undefined && service.spec?.publishNotReadyAddresses !== true) return [];
    return [{ ports: endpointPorts(service, pod), endpoint: podEndpoint(service, pod, node, type) }];
  });
  const groups = Map.groupBy(listed, ({ ports }) => portsKey(ports));
  return new Map(
    [...groups].map(([key, members]) => [
      key,
      { ports: members[0]?.ports ?? [], endpoints: members.map(({ endpoint }) => endpoint) },
    ]),
  );
}

type GroupContent = Omit<SliceContent, 'endpoints'>;

function planOfGroup(slices: readonly EndpointSlice[], { endpoints }: Group, content: GroupContent): SlicePlan {
  const byName = new Map(slices.map((slice) => [slice.metadata.name, slice]));
  const existing = slices.map((slice) => ({
    name: slice.metadata.name,
    endpoints: slice.endpoints ?? [],
    isChanged: !sameLabels(slice.metadata.labels, content.labels),
  }));
  const { create, update, remove } = packing(endpoints, existing);
  const found = (name: string): readonly EndpointSlice[] => {
    const slice = byName.get(name);
    return slice === undefined ? [] : [slice];
  };
  return {
    create: create.map((packed) => ({ ...content, endpoints: packed })),
    update: [...update].flatMap(([name, packed]) =>
      found(name).map((slice) => ({ slice, content: { ...content, endpoints: packed } })),
    ),
    remove: remove.flatMap(found),
  };
}

/** A service without any endpoint has an empty slice, so that nobody takes it for one that was not looked at yet. */
function withPlaceholder(plan: SlicePlan, placeholder: SliceContent): SlicePlan {
  const isPlaceholder = (slice: EndpointSlice) =>
    (slice.endpoints ?? []).length === 0 &&
    (slice.ports ?? []).length === 0 &&
    sameLabels(slice.metadata.labels, placeholder.labels);
  const kept = plan.remove.find(isPlaceholder);
  if (kept === undefined) return { ...plan, create: [placeholder] };
  return { ...plan, remove: plan.remove.filter((slice) => slice !== kept) };
}

/** Writes to slices that would be deleted what new ones would hold: fewer writes, and fewer names that come and go. */
function reused({ create, update, remove }: SlicePlan): SlicePlan {
  const count = Math.min(create.length, remove.length);
  const filled = remove.slice(0, count).flatMap((slice, at) => {
    const content = create[at];
    return content === undefined ? [] : [{ slice, content }];
  });
  return { create: create.slice(count), update: [...update, ...filled], remove: remove.slice(count) };
}

function isOwned({ metadata }: EndpointSlice, service: Service): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === service.metadata.uid);
}

const portsKey = (ports: readonly EndpointPort[]): string =>
  ports
    .map(({ name = '', port = 0, protocol = 'TCP', appProtocol = '' }) =>
      JSON.stringify([name, port, protocol, appProtocol]),
    )
    .toSorted()
    .join();

/** Pure: a slice before the server gives it a name. */
export function newSlice(service: Service, { addressType, ports, endpoints, labels }: SliceContent) {
  const { name, namespace = '' } = service.metadata;
  const metadata = {
    name: '',
    generateName: `${name.slice(0, LONGEST_PREFIX)}-`,
    namespace,
    labels,
    ...ownedBy(service, ServiceKind),
  };
  return { metadata, addressType, ports, endpoints };
}

/** Pure: the slice with other content. */
export const changedSlice = (slice: EndpointSlice, { ports, endpoints, labels }: SliceContent): EndpointSlice => ({
  ...slice,
  metadata: { ...slice.metadata, labels },
  ports,
  endpoints,
});

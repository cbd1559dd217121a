import type { Service, ServicePort } from '../../api/generated/core-v1-types.ts';
import type { EndpointSlice, Endpoint as SliceEndpoint } from '../../api/generated/discovery-v1-types.ts';
import type { Endpoint, LabAddress } from '../address/address-plan.ts';

/** A node whose node ports are open. */
export interface ProxyNode {
  readonly name: string;
  readonly address: LabAddress;
}

/** One place where a service is served. */
export interface Backend extends Endpoint {
  readonly node: string;
  readonly isReady: boolean;
  /** On its way out, and still serving: for when nobody else is there. */
  readonly isLastResort: boolean;
}

export interface Frontend {
  readonly protocol: 'TCP' | 'UDP';
  /** An API address: of the service, or of a node. */
  readonly at: Endpoint;
  readonly service: { readonly namespace: string; readonly name: string };
  readonly backends: readonly Backend[];
  /** Absent: the address of the service itself. */
  readonly node?: ProxyNode;
  /** Only backends on the node of the client, or of the node port. */
  readonly isLocal: boolean;
  /** So long a client stays with its backend; 0: not at all. */
  readonly affinitySeconds: number;
}

/** Where somebody outside asks whether a node has backends of a service. */
export interface HealthCheck {
  readonly at: Endpoint;
  readonly service: Frontend['service'];
  readonly localEndpoints: number;
}

export interface ServiceFacts {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  readonly nodes: readonly ProxyNode[];
}

const SERVICE_NAME = 'kubernetes.io/service-name';
/** Services that say so are somebody else's business. */
const OTHER_PROXY = 'service.kubernetes.io/service-proxy-name';
const USUAL_AFFINITY_SECONDS = 10_800;

/** Pure: everything that is to be listened on: nothing for ports that nobody serves, so that they refuse (X11). */
export function serviceFrontends({ services, slices, nodes }: ServiceFacts): readonly Frontend[] {
  const byService = slicesByService(slices);
  return services.filter(isServed).flatMap((service) =>
    (service.spec?.ports ?? []).flatMap((port) => {
      const backends = backendsOf(byService.get(keyOf(service)) ?? [], port);
      return frontendsOf(service, port, nodes)
        .map((frontend) => ({ ...frontend, backends }))
        .filter((frontend) => usableBackends(frontend, frontend.node?.name).length > 0);
    }),
  );
}

/** Pure: the ports on which nodes tell how many backends they have; for load balancers that only want those (X11). */
export function healthChecks({ services, slices, nodes }: ServiceFacts): readonly HealthCheck[] {
  const byService = slicesByService(slices);
  return services.filter(isServed).flatMap((service) => {
    const { type, externalTrafficPolicy, healthCheckNodePort: port = 0 } = service.spec ?? {};
    if (type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local' || port === 0) return [];
    const ready = (byService.get(keyOf(service)) ?? [])
      .flatMap(({ endpoints }) => endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false);
    return nodes.map(({ name, address }) => {
      const local = ready.filter(({ nodeName }) => nodeName === name).map(({ addresses }) => addresses[0]);
      return { at: { host: address.api, port }, service: nameOf(service), localEndpoints: new Set(local).size };
    });
  });
}

/**
 * Pure: who may be chosen: those that are ready, else those on their way out that still serve. `node`: for services that
 * are only for their own node; those of a client that is on no node are all.
 */
export function usableBackends({ backends, isLocal }: Frontend, node: string | undefined): readonly Backend[] {
  const near = isLocal && node !== undefined ? backends.filter((backend) => backend.node === node) : backends;
  const ready = near.filter(({ isReady }) => isReady);
  return ready.length > 0 ? ready : near.filter(({ isLastResort }) => isLastResort);
}

/** `TCP 10.16.96.10:80` */
export const placeOf = ({ protocol, at }: Pick<Frontend, 'protocol' | 'at'>): string =>
  `${protocol} ${at.host}:${at.port}`;

const nameOf = ({ metadata: { namespace = '', name } }: Service) => ({ namespace, name });
const keyOf = ({ metadata: { namespace = '', name } }: Service): string => `${namespace}/${name}`;

const slicesByService = (slices: readonly EndpointSlice[]): ReadonlyMap<string, readonly EndpointSlice[]> =>
  Map.groupBy(
    slices.filter(({ addressType }) => addressType === 'IPv4'),
    ({ metadata }) => `${metadata.namespace ?? ''}/${metadata.labels?.[SERVICE_NAME] ?? ''}`,
  );

function isServed({ metadata, spec }: Service): boolean {
  const { clusterIP = 'None', type } = spec ?? {};
  return (
    type !== 'ExternalName' && !['', 'None'].includes(clusterIP) && metadata.labels?.[OTHER_PROXY] === undefined
  );
}

/** Pure: who serves a port of a service, in one order; `slices` are of its namespace. */
export const serviceBackends = (
  service: Service,
  port: ServicePort,
  slices: readonly EndpointSlice[],
): readonly Backend[] => backendsOf(slicesByService(slices).get(keyOf(service)) ?? [], port);

function backendsOf(slices: readonly EndpointSlice[], { name = '', protocol = 'TCP' }: ServicePort) {
  const found = slices.flatMap(({ ports, endpoints }) => {
    const matching = (ports ?? []).find(
      (one) => (one.name ?? '') === name && (one.protocol ?? 'TCP') === protocol,
    );
    const number = matching?.port;
    return number === undefined ? [] : (endpoints ?? []).flatMap((endpoint) => backendAt(endpoint, number));
  });
  // One that moves from slice to slice may be in both for a moment. In one order, whatever that of the slices.
  const byPlace = new Map(found.map((backend) => [`${backend.host}:${backend.port}`, backend]));
  return [...byPlace].toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))).map(([, backend]) => backend);
}

function backendAt(
  { addresses, conditions = {}, nodeName = '' }: SliceEndpoint,
  port: number,
): readonly Backend[] {
  const { ready, serving = ready, terminating } = conditions;
  const [host] = addresses;
  // Nobody says whether it is ready: then it is.
  const isReady = ready !== false;
  const isLastResort = serving !== false && terminating === true;
  return host === undefined ? [] : [{ host, port, node: nodeName, isReady, isLastResort }];
}

type Place = Omit<Frontend, 'backends'>;

function frontendsOf(service: Service, servicePort: ServicePort, nodes: readonly ProxyNode[]): readonly Place[] {
  const { protocol = 'TCP', port, nodePort = 0 } = servicePort;
  const { clusterIP = '', internalTrafficPolicy, externalTrafficPolicy } = service.spec ?? {};
  if (protocol === 'SCTP') return [];
  const shared = { protocol, service: nameOf(service), affinitySeconds: affinityOf(service) };
  const inside = { ...shared, at: { host: clusterIP, port }, isLocal: internalTrafficPolicy === 'Local' };
  const outside = (nodePort === 0 ? [] : nodes).map((node) => ({
    ...shared,
    at: { host: node.address.api, port: nodePort },
    node,
    isLocal: externalTrafficPolicy === 'Local',
  }));
  return [inside, ...outside];
}

function affinityOf({ spec }: Service): number {
  if (spec?.sessionAffinity !== 'ClientIP') return 0;
  return spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? USUAL_AFFINITY_SECONDS;
}

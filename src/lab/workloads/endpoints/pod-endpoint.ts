import { isIPv6 } from 'node:net';
import type { Node, Pod, Service, ServicePort } from '../../../api/generated/core-v1-types.ts';
import type { Endpoint, EndpointPort } from '../../../api/generated/discovery-v1-types.ts';
import { hasEnded, isReady } from '../pods/pod-state.ts';

export type AddressType = 'IPv4' | 'IPv6';

const ZONE = 'topology.kubernetes.io/zone';

export const isHeadless = ({ spec }: Service): boolean => (spec?.clusterIP ?? 'None') === 'None';

/** Whether somebody makes the endpoints of a service from its pods: others bring their own (W31). */
export const isManaged = ({ spec }: Service): boolean =>
  spec?.type !== 'ExternalName' && Object.keys(spec?.selector ?? {}).length > 0;

/** Whether a service that `isManaged` is for a pod of its namespace. */
export function selects({ spec }: Service, pod: Pod): boolean {
  const labels = pod.metadata.labels ?? {};
  const wanted = Object.entries(spec?.selector ?? {});
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}

/** The kinds of addresses a service wants; what a server that does not say it has by the address that it gave. */
export function addressTypes({ spec }: Service): readonly AddressType[] {
  const families = (spec?.ipFamilies ?? []).filter((family) => family !== '');
  if (families.length > 0) return families;
  return [isIPv6(spec?.clusterIP ?? '') ? 'IPv6' : 'IPv4'];
}

/** The addresses of a pod that can be reached, of one kind; none once it has ended. */
export function podAddresses(pod: Pod, type: AddressType): readonly string[] {
  if (hasEnded(pod)) return [];
  const { podIPs = [], podIP } = pod.status ?? {};
  const all = podIPs.length > 0 ? podIPs.map(({ ip }) => ip) : [podIP ?? ''];
  return all.filter((address) => address !== '' && isIPv6(address) === (type === 'IPv6'));
}

/** Pure: what a slice says about a pod (W31). */
export function podEndpoint(service: Service, pod: Pod, node: Node | undefined, type: AddressType): Endpoint {
  const serving = isReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const { name, namespace = '', uid = '' } = pod.metadata;
  const { nodeName = '' } = pod.spec;
  const zone = node?.metadata.labels?.[ZONE] ?? '';
  return {
    addresses: podAddresses(pod, type),
    conditions: {
      ready: service.spec?.publishNotReadyAddresses === true || (serving && !terminating),
      serving,
      terminating,
    },
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName !== '' && { nodeName }),
    ...(zone !== '' && { zone }),
    ...hostnameOf(service, pod),
  };
}

/** Pods that say so have a name of their own under that of a headless service. */
export function hostnameOf(service: Service, { spec }: Pod): { readonly hostname?: string } {
  const { hostname = '', subdomain } = spec;
  return hostname !== '' && subdomain === service.metadata.name ? { hostname } : {};
}

/** Pure: the ports of a service at a pod. Named target ports are looked up there; what a pod does not have is left out. */
export function endpointPorts({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  return (spec?.ports ?? []).flatMap((port) => {
    const number = targetPort(port, pod);
    if (number === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = port;
    return [{ name, port: number, protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function targetPort({ port, targetPort: target = port, protocol = 'TCP' }: ServicePort, { spec }: Pod) {
  if (typeof target === 'number') return target;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...spec.containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find((one) => one.name === target && (one.protocol ?? 'TCP') === protocol)?.containerPort;
}

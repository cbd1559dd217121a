import type { LoadBalancerIngress, Service } from '../../api/generated/core-v1.ts';
import type { Json } from '../../api/json.ts';
import type { Patch } from '../../kube/client/kube-client.ts';
import { semanticEqual } from '../../object/semantic-equality.ts';
import type { BalancerIngress } from '../../sdk/capabilities/load-balancers.ts';
import { meant } from '../meant-object.ts';
import { BALANCER_FINALIZER } from './triggers.ts';

/** Adds only this one, behind those that are there (S19); what others add meanwhile stays. */
export const withFinalizer = (service: Service): Patch => ({
  type: 'strategic',
  body: {
    metadata: {
      ...meant(service),
      finalizers: [BALANCER_FINALIZER],
      '$setElementOrder/finalizers': [...(service.metadata.finalizers ?? []), BALANCER_FINALIZER],
    },
  },
});

/** Takes only this one; others keep their place (S19). */
export const withoutFinalizer = (service: Service): Patch => ({
  type: 'strategic',
  body: { metadata: { ...meant(service), '$deleteFromPrimitiveList/finalizers': [BALANCER_FINALIZER] } },
});

/** How clients reach the Service, as a whole; nothing said takes what was there. */
export const withIngress = (service: Service, ingress: readonly BalancerIngress[]): Patch => ({
  type: 'strategic',
  body: {
    metadata: meant(service),
    status: { loadBalancer: { ingress: ingress.length === 0 ? null : ingress.map(ingressPoint) } },
  },
});

/** The status says what the cloud says (S14). What an API server fills in is no difference. */
export const showsIngress = ({ status }: Service, ingress: readonly BalancerIngress[]): boolean =>
  semanticEqual((status?.loadBalancer?.ingress ?? []).map(comparable), ingress.map(comparable));

/** Without what the answer of a provider may hold besides. */
const ingressPoint = ({ ip, hostname, ipMode, ports }: BalancerIngress) => ({
  ...(ip !== undefined && { ip }),
  ...(hostname !== undefined && { hostname }),
  ...(ipMode !== undefined && { ipMode }),
  ...(ports !== undefined && {
    ports: ports.map(({ port, protocol, error }) => ({ port, protocol, ...(error !== undefined && { error }) })),
  }),
});

const comparable = ({
  ip = '',
  hostname = '',
  ipMode = ip === '' ? '' : 'VIP',
  ports = [],
}: LoadBalancerIngress | BalancerIngress): Json => ({
  ip,
  hostname,
  ipMode,
  ports: ports.map(({ port, protocol, error = '' }) => ({ port, protocol, error })),
});

import { Node, Pod, type PodSpec, Service, type ServiceSpec } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { time } from '../../src/api/time.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { setTaints } from './pretend-nodes.ts';

export const WEB = { namespace: 'default', name: 'web' };
const LABELS = { app: 'web' };

/** A service for pods with the label `app: web`, as the server completes it. */
export function serviceLike(spec: Partial<ServiceSpec> = {}, labels: Record<string, string> = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...WEB, uid: 'uid-web', labels },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.16.96.10',
      ipFamilies: ['IPv4'],
      selector: LABELS,
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
      ...spec,
    },
  };
}

export interface PodFacts {
  readonly labels?: Record<string, string>;
  readonly node?: string;
  /** Empty: it has none yet. */
  readonly ip?: string;
  readonly ips?: readonly string[];
  readonly isReady?: boolean;
  readonly isLeaving?: boolean;
  readonly phase?: 'Failed' | 'Pending' | 'Running' | 'Succeeded';
  readonly spec?: Partial<PodSpec>;
}

/** A pod that runs and is ready at 10.16.32.1 of node `n1`, unless told otherwise. */
export function servicePod(name: string, facts: PodFacts = {}): Pod {
  const { labels = LABELS, node = 'n1', isLeaving = false, spec } = facts;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: WEB.namespace,
      uid: `uid-${name}`,
      labels,
      ...(isLeaving && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { containers: [{ name: 'web' }], ...(node !== '' && { nodeName: node }), ...spec },
    status: statusOf(facts),
  };
}

function statusOf({ ip = '10.16.32.1', ips = [ip], isReady = true, phase = 'Running' }: PodFacts) {
  const status = isReady ? 'True' : 'False';
  const addresses = ips.filter((one) => one !== '').map((one) => ({ ip: one }));
  return { phase, podIPs: addresses, conditions: [{ type: 'Ready', status }] };
}

export const nodeAt = (name: string, zone = ''): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: zone === '' ? {} : { 'topology.kubernetes.io/zone': zone } },
  spec: {},
});

interface Cluster {
  readonly client: KubeClient;
  readonly clock: Pick<Clock, 'now'>;
}

export async function addServiceNode({ client }: Cluster, name: string, zone = ''): Promise<void> {
  await client.create(Node, nodeAt(name, zone));
  await setTaints(client, name, []);
}

/** A pod on a node, as a kubelet would report it. */
export async function addServicePod(cluster: Cluster, name: string, facts: PodFacts = {}): Promise<void> {
  const { metadata, spec } = servicePod(name, facts);
  const { uid: _uid, deletionTimestamp: _time, ...rest } = metadata;
  const containers = spec.containers.map((container) => ({ image: 'web', ...container }));
  // Without a token, whose volume would have another name in every run.
  const whole = { automountServiceAccountToken: false, ...spec, containers };
  await cluster.client.create(Pod, { metadata: rest, spec: whole });
  await setPodStatus(cluster, name, facts);
}

export async function setPodStatus({ client, clock }: Cluster, name: string, facts: PodFacts): Promise<void> {
  const { phase, podIPs, conditions } = statusOf(facts);
  const lastTransitionTime = time(clock.now());
  const body: JsonObject = {
    status: {
      phase,
      podIP: podIPs[0]?.ip ?? null,
      podIPs,
      conditions: conditions.map((condition) => ({ ...condition, lastTransitionTime })),
    },
  };
  const key = { namespace: WEB.namespace, name };
  await client.patch(Pod, key, { type: 'merge', body }, { subresource: 'status' });
}

export async function addService({ client }: Cluster, spec: Partial<ServiceSpec> = {}): Promise<Service> {
  const { clusterIP: _ip, ipFamilies: _families, ...rest } = serviceLike().spec ?? {};
  return client.create(Service, { metadata: WEB, spec: { ...rest, ...spec } });
}

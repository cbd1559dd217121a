import {
  type Event,
  Event as EventKind,
  Node,
  type NodeCondition,
  Service,
} from '../../src/api/generated/core-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { isRecord } from '../../src/object/record.ts';
import type { SharedCloud } from './ccm-cloud.ts';

/** What a cloud controller manager made of a story: what other programs could look at, without what chance decides. */
export interface View {
  readonly nodes: Readonly<Record<string, NodeView>>;
  readonly services: Readonly<Record<string, ServiceView>>;
  /** `Kind/name type reason component: message`; how often is a matter of time. */
  readonly events: Readonly<Record<string, true>>;
  readonly balancers: Readonly<Record<string, BalancerView>>;
  /** `cidr via node`. */
  readonly routes: Readonly<Record<string, true>>;
}

export interface NodeView {
  readonly providerID: string;
  /** `key=value:effect`, in their order. */
  readonly taints: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** `type address`, in their order. */
  readonly addresses: readonly string[];
  /** `status reason message` by type. */
  readonly conditions: Readonly<Record<string, string>>;
}

export interface ServiceView {
  readonly type: string;
  readonly finalizers: readonly string[];
  readonly ingress: readonly unknown[];
  readonly isDeleting: boolean;
}

export interface BalancerView {
  readonly ports: readonly string[];
  /** Names of nodes; their order means nothing. */
  readonly backends: readonly string[];
}

const NAMESPACE = 'default';
/** What chance and time make up; and similar events are one, however many there were. */
const MADE_UP = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID'],
  [/after \d[\w.µ]*/g, 'after TIME'],
  [/\(combined from similar events\): /g, ''],
] as const;

/** Everything whose name begins with `prefix`; balancers by the name of their Service. */
export async function viewOf(client: KubeClient, cloud: SharedCloud, prefix: string): Promise<View> {
  const [nodes, services, events] = await Promise.all([
    client.live.list(Node),
    client.live.list(Service, { namespace: NAMESPACE }),
    client.live.list(EventKind, { namespace: NAMESPACE }),
  ]);
  const isMeant = (name = ''): boolean => name.startsWith(prefix);
  const named = <T extends { readonly metadata: { readonly name?: string } }, V>(
    items: readonly T[],
    view: (item: T) => V,
  ) =>
    Object.fromEntries(
      items.filter(({ metadata }) => isMeant(metadata.name)).map((item) => [item.metadata.name ?? '', view(item)]),
    );
  return {
    nodes: named(nodes.items, nodeView),
    services: named(services.items, serviceView),
    events: marks(
      events.items.filter((event) => isMeant(event.involvedObject.name) && !isOfServer(event)).map(eventText),
    ),
    balancers: Object.fromEntries(
      [...cloud.balancers.values()]
        .map(({ service = '', ports = [], backends = [] }) => ({
          name: service.split('/')[1] ?? '',
          ports,
          backends,
        }))
        .filter(({ name }) => isMeant(name))
        .map(({ name, ports, backends }) => [
          name,
          {
            ports: ports.map((one) => `${one.name ?? ''} ${one.protocol} ${one.port}:${one.nodePort}`),
            backends: backends.map(({ nodeName, providerID = '' }) => `${nodeName} ${providerID}`).toSorted(),
          },
        ]),
    ),
    routes: marks(cloud.routes.map(({ destinationCIDR, targetNode }) => `${destinationCIDR} via ${targetNode}`)),
  };
}

/** The API server looks through Services now and then, and tells of addresses and ports that it has to allocate again. */
const isOfServer = ({ reportingComponent = '' }: Event): boolean =>
  reportingComponent.endsWith('allocator-repair-controller');

const marks = (texts: readonly string[]): Readonly<Record<string, true>> =>
  Object.fromEntries(texts.map((text) => [text, true as const]));

const eventText = ({ involvedObject, type = '', reason = '', source, message = '' }: Event): string => {
  const told = MADE_UP.reduce((text, [pattern, word]) => text.replaceAll(pattern, word), message);
  return `${involvedObject.kind}/${involvedObject.name} ${type} ${reason} ${source?.component ?? ''}: ${told}`;
};

const nodeView = ({ metadata, spec, status = {} }: Node): NodeView => ({
  providerID: spec.providerID ?? '',
  taints: (spec.taints ?? []).map(({ key, value = '', effect }) => `${key}=${value}:${effect}`),
  labels: metadata.labels ?? {},
  addresses: (status.addresses ?? []).map(({ type, address }) => `${type} ${address}`),
  conditions: Object.fromEntries((status.conditions ?? []).map((one) => [one.type, conditionText(one)])),
});

const conditionText = ({ status, reason = '', message = '' }: NodeCondition): string =>
  `${status} ${reason} ${message}`;

const serviceView = ({ metadata, spec, status }: Service): ServiceView => ({
  type: spec?.type ?? '',
  finalizers: metadata.finalizers ?? [],
  ingress: status?.loadBalancer?.ingress ?? [],
  isDeleting: metadata.deletionTimestamp !== undefined,
});

export interface Difference {
  readonly path: string;
  /** Undefined where there is nothing at all. */
  readonly go: unknown;
  readonly ours: unknown;
}

/** Where two views differ; lists are compared as a whole. */
export function differences(go: unknown, ours: unknown, path = ''): readonly Difference[] {
  if (isRecord(go) && isRecord(ours)) {
    const keys = new Set([...Object.keys(go), ...Object.keys(ours)]);
    return [...keys]
      .sort()
      .flatMap((key) => differences(go[key], ours[key], path === '' ? key : `${path} → ${key}`));
  }
  return JSON.stringify(go) === JSON.stringify(ours) ? [] : [{ path, go, ours }];
}

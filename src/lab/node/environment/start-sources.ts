import { ConfigMap, type Pod, Secret, Service } from '../../../api/generated/core-v1.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';

export interface SourceKey {
  readonly namespace: string;
  readonly name: string;
}

/** What the node knows of itself. */
export interface StartNode {
  /** As the API shows them, the first one first. */
  readonly hostIPs: readonly string[];
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Where the environment of a container comes from. Methods reject when nobody can say. */
export interface StartSources {
  /** Undefined when there is none. */
  configMap(key: SourceKey): Promise<ConfigMap | undefined>;
  secret(key: SourceKey): Promise<Secret | undefined>;
  service(key: SourceKey): Promise<Service | undefined>;
  services(namespace: string): Promise<readonly Service[]>;
  node(): StartNode;
  /** Of a pod whose status may not be written yet. */
  podIPs(pod: Pod): readonly string[];
}

export interface LiveStartSourcesOptions {
  /** Reads from its cache where it has one. */
  readonly client: Pick<KubeClient, 'find' | 'list'>;
  readonly node: () => StartNode;
  /** From the status of the pod unless told otherwise. */
  readonly podIPs?: (pod: Pod) => readonly string[];
}

/** The cluster as a source; every call asks it anew, so that a container that waits for a Secret finds it later. */
export function liveStartSources({ client, node, podIPs = statusIPs }: LiveStartSourcesOptions): StartSources {
  return {
    configMap: (key) => client.find(ConfigMap, key),
    secret: (key) => client.find(Secret, key),
    service: (key) => client.find(Service, key),
    services: async (namespace) => (await client.list(Service, { namespace })).items,
    node,
    podIPs,
  };
}

function statusIPs({ status }: Pod): readonly string[] {
  const { podIPs = [], podIP } = status ?? {};
  if (podIPs.length > 0) return podIPs.map(({ ip }) => ip);
  return podIP === undefined || podIP === '' ? [] : [podIP];
}

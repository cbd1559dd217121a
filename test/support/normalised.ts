import { DaemonSet, Deployment, ReplicaSet } from '../../src/api/generated/apps-v1.ts';
import { Job } from '../../src/api/generated/batch-v1.ts';
import { ConfigMap, Node, Pod, Service, ServiceAccount } from '../../src/api/generated/core-v1.ts';
import { EndpointSlice } from '../../src/api/generated/discovery-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { LabCluster } from '../../src/lab/index.ts';

/** Numbers of steps that it took, of which there may be more on a slow machine. */
const STEPS = new Set(['resourceVersion', 'generation', 'observedGeneration', 'managedFields']);
/** What chance, time and place make up. */
const MADE_UP = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'],
  [/\b\d{1,3}(\.\d{1,3}){3}\b/g, 'ADDRESS'],
  [/:\/\/[0-9a-f]{64}/g, '://ID'],
  [/\b[0-9a-f]{32}\b/g, 'MACHINE'],
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}(?=")/g, '-RANDOM'],
  // The scheduler looks at what runs at the moment; the pods of a DaemonSet say where they belong.
  [/"nodeName":"[^"]+"/g, '"nodeName":"NODE"'],
  [/-----BEGIN[^"]*-----END CERTIFICATE-----(\\n)?/g, 'CERTIFICATE'],
] as const;

/** What a cluster has in the end, without what differs from one run to the next, as sorted lines. */
export async function normalisedState({ client }: LabCluster): Promise<readonly string[]> {
  const lists = await Promise.all([
    client.list(Deployment),
    client.list(ReplicaSet),
    client.list(DaemonSet),
    client.list(Job),
    client.list(Pod),
    client.list(Service),
    client.list(ServiceAccount),
    client.list(ConfigMap),
    client.list(EndpointSlice),
    client.list(Node),
  ]);
  return lists.flatMap(({ items }) => items.map((item: KubeObject) => line(item))).toSorted();
}

function line(object: KubeObject): string {
  const text = JSON.stringify(object, (key, value: unknown) => (STEPS.has(key) ? undefined : sorted(value)));
  return MADE_UP.reduce((left, [pattern, name]) => left.replace(pattern, name), text);
}

/** With its keys in one order. */
const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

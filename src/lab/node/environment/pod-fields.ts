import type { Pod } from '../../../api/generated/core-v1-types.ts';

/** What a pod cannot say of itself before its status is written. */
export interface PodAddresses {
  readonly hostIPs: readonly string[];
  readonly podIPs: readonly string[];
}

const SUBSCRIPT = /^metadata\.(labels|annotations)\['(.*)'\]$/s;

/** Pure: the text that a `fieldRef` stands for (N25), empty when it is not set; undefined for a path that is none. */
export function podField(pod: Pod, path: string, addresses: PodAddresses): string | undefined {
  const subscript = SUBSCRIPT.exec(path);
  if (subscript !== null) {
    const [, map = '', key = ''] = subscript;
    const { labels = {}, annotations = {} } = pod.metadata;
    const values = map === 'labels' ? labels : annotations;
    return Object.hasOwn(values, key) ? values[key] : '';
  }
  return FIELDS.get(path)?.(pod, addresses);
}

const FIELDS: ReadonlyMap<string, (pod: Pod, addresses: PodAddresses) => string> = new Map([
  ['metadata.name', ({ metadata }: Pod) => metadata.name],
  ['metadata.namespace', ({ metadata }: Pod) => metadata.namespace ?? ''],
  ['metadata.uid', ({ metadata }: Pod) => metadata.uid ?? ''],
  ['spec.nodeName', ({ spec }: Pod) => spec.nodeName ?? ''],
  ['spec.serviceAccountName', ({ spec }: Pod) => spec.serviceAccountName ?? ''],
  ['status.hostIP', (_pod: Pod, { hostIPs }: PodAddresses) => hostIPs[0] ?? ''],
  ['status.hostIPs', (_pod: Pod, { hostIPs }: PodAddresses) => hostIPs.join(',')],
  ['status.podIP', (_pod: Pod, { podIPs }: PodAddresses) => podIPs[0] ?? ''],
  ['status.podIPs', (_pod: Pod, { podIPs }: PodAddresses) => podIPs.join(',')],
]);

/** The paths that a `fieldRef` may name, for messages. */
export const FIELD_PATHS: readonly string[] = [
  ...FIELDS.keys(),
  "metadata.labels['<key>']",
  "metadata.annotations['<key>']",
];

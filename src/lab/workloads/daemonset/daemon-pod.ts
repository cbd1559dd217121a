import { DaemonSet } from '../../../api/generated/apps-v1.ts';
import type { Affinity, Pod } from '../../../api/generated/core-v1-types.ts';
import { podFromTemplate } from '../pods/pod-from-template.ts';
import type { NewPod } from '../pods/pod-writes.ts';
import { daemonTolerations } from './daemon-placement.ts';

export const HASH_LABEL = 'controller-revision-hash';
const GENERATION_LABEL = 'pod-template-generation';
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

/** Pure: the pod of a daemon set for one node; the scheduler finds nowhere else for it (W20, W21). */
export function daemonPod(set: DaemonSet, hash: string, node: string): NewPod {
  const { metadata, spec = { containers: [] } } = set.spec.template;
  const generation = templateGeneration(set);
  return podFromTemplate(set, DaemonSet, {
    metadata: {
      ...metadata,
      labels: {
        ...metadata?.labels,
        ...(generation !== undefined && { [GENERATION_LABEL]: generation }),
        [HASH_LABEL]: hash,
      },
    },
    spec: { ...spec, tolerations: daemonTolerations(spec), affinity: boundTo(node, spec.affinity) },
  });
}

/** What the template requires of nodes was asked before; only what it prefers stays. */
const boundTo = (node: string, affinity: Affinity = {}): Affinity => ({
  ...affinity,
  nodeAffinity: {
    ...affinity.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
    },
  },
});

/** Whether a pod is of the newest template, by its hash or by the count that older versions kept. */
export function isUpdated({ metadata: { labels = {} } }: Pod, set: DaemonSet, hash: string): boolean {
  const generation = templateGeneration(set);
  return labels[HASH_LABEL] === hash || (generation !== undefined && labels[GENERATION_LABEL] === generation);
}

/** As a number is written in Go, so that labels can be compared; undefined when it is none. */
function templateGeneration({ metadata: { annotations = {} } }: DaemonSet): string | undefined {
  const text = annotations[GENERATION_ANNOTATION];
  return text !== undefined && /^-?\d+$/.test(text) ? BigInt(text).toString() : undefined;
}

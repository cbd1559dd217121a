import { Job } from '../../../api/generated/batch-v1.ts';
import type { Container, Pod, PodTemplateSpec } from '../../../api/generated/core-v1-types.ts';
import { podFromTemplate } from '../pods/pod-from-template.ts';
import type { NewPod } from '../pods/pod-writes.ts';

/** Keeps a pod until the job has counted it (W27). */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
const INDEX_KEY = 'batch.kubernetes.io/job-completion-index';
const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';
/** The server adds five characters to make a name of at most 63. */
const LONGEST_PREFIX = 58;

export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === 'Indexed';

export const isTracked = ({ metadata }: Pod): boolean =>
  metadata.finalizers?.includes(TRACKING_FINALIZER) === true;

/** The index that a pod works on, if it is one of the job's. */
export function completionIndex({ metadata }: Pod, { spec }: Job): number | undefined {
  const text = metadata.annotations?.[INDEX_KEY] ?? '';
  const index = /^\d+$/.test(text) ? Number(text) : undefined;
  return index !== undefined && index < (spec.completions ?? 0) ? index : undefined;
}

/** Counted as failed: it failed, or somebody deletes it before it succeeded. */
export function isFailed({ metadata, status }: Pod, { spec }: Job): boolean {
  if (status?.phase === 'Failed') return true;
  if (spec.podReplacementPolicy === 'Failed') return false;
  return metadata.deletionTimestamp !== undefined && status?.phase !== 'Succeeded';
}

/** Pure: a pod of the job, for one of its indexes if it has such (W26, W27). */
export function jobPod(job: Job, index?: number): NewPod {
  const { template } = job.spec;
  const { finalizers = [] } = template.metadata ?? {};
  const tracked = finalizers.includes(TRACKING_FINALIZER) ? finalizers : [...finalizers, TRACKING_FINALIZER];
  const own = { ...template, metadata: { ...template.metadata, finalizers: tracked } };
  if (index === undefined) return podFromTemplate(job, Job, own);
  const pod = podFromTemplate(job, Job, indexed(own, job.metadata.name, index));
  return { ...pod, metadata: { ...pod.metadata, generateName: indexedPrefix(job.metadata.name, index) } };
}

function indexed({ metadata, spec }: PodTemplateSpec, name: string, index: number): PodTemplateSpec {
  const { containers = [], initContainers } = spec ?? {};
  return {
    metadata: {
      ...metadata,
      labels: { ...metadata?.labels, [INDEX_KEY]: String(index) },
      annotations: { ...metadata?.annotations, [INDEX_KEY]: String(index) },
    },
    spec: {
      ...spec,
      hostname: `${name}-${index}`,
      containers: containers.map(withIndexVariable),
      ...(initContainers !== undefined && { initContainers: initContainers.map(withIndexVariable) }),
    },
  };
}

function withIndexVariable(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const fieldRef = { fieldPath: `metadata.labels['${INDEX_KEY}']` };
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef } }] };
}

function indexedPrefix(name: string, index: number): string {
  const end = `-${index}-`;
  return `${name.slice(0, LONGEST_PREFIX - end.length)}${end}`;
}

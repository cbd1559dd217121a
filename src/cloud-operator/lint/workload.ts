import type { DaemonSetSpec, DeploymentSpec } from '../../api/generated/apps-v1.ts';
import type { Container, PodSpec, Toleration, Volume } from '../../api/generated/core-v1.ts';
import type { KubeObject, ObjectMeta } from '../../api/object.ts';

/** A workload with pods of a cloud controller manager or cloud node manager. */
export interface Workload {
  readonly target: 'deployment' | 'daemonset' | 'bootstrap';
  readonly object: KubeObject;
  readonly spec: Partial<DeploymentSpec> & Partial<DaemonSetSpec>;
  readonly pod: Partial<PodSpec>;
  /** Of the pods. */
  readonly metadata: Partial<ObjectMeta>;
  /** Path of the pod in the object. */
  readonly podPath: readonly PropertyKey[];
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
  /** The containers that the operator gives an image, or all when none is named as it should be. */
  readonly programs: readonly Container[];
  /** Words of command and arguments of the programs; scripts are cut into words. */
  readonly words: readonly string[];
  /** As it stands in the file, for what only templates say. */
  readonly source: string;
}

/** What the operator applies. */
export const DEPLOYED = ['deployment', 'daemonset'] as const satisfies readonly Workload['target'][];
export const EVERY_POD = [...DEPLOYED, 'bootstrap'] as const satisfies readonly Workload['target'][];

/** Undefined for objects without pods. */
export function workloadOf(object: KubeObject, source = ''): Workload | undefined {
  const spec: Workload['spec'] & Partial<PodSpec> =
    (object as KubeObject & { readonly spec?: Workload['spec'] & Partial<PodSpec> }).spec ?? {};
  const target = TARGETS[object.kind];
  if (target === undefined) return undefined;
  const { pod, metadata, podPath } = podOf(object, spec, target === 'bootstrap');
  const { containers = [], initContainers = [] } = pod;
  const named = containers.filter(({ name }) => name === programOf({ target }));
  // A sidecar may have flags of the same names.
  const programs = named.length > 0 ? named : containers;
  const words = programs.flatMap(wordsOf);
  return { target, object, spec, pod, metadata, podPath, containers, initContainers, programs, words, source };
}

/** The pod, or that of the template. */
const podOf = (
  object: KubeObject,
  spec: Workload['spec'] & Partial<PodSpec>,
  isPod: boolean,
): Pick<Workload, 'pod' | 'metadata' | 'podPath'> =>
  isPod
    ? { pod: spec, metadata: object.metadata, podPath: ['spec'] }
    : {
        pod: spec.template?.spec ?? {},
        metadata: spec.template?.metadata ?? {},
        podPath: ['spec', 'template', 'spec'],
      };

const TARGETS: Readonly<Record<string, Workload['target'] | undefined>> = {
  Deployment: 'deployment',
  DaemonSet: 'daemonset',
  Pod: 'bootstrap',
};

const wordsOf = ({ command = [], args = [] }: Container): readonly string[] =>
  [...command, ...args]
    .flatMap((word) => word.split(/[\s\\]+/))
    // Quotes of a shell are not part of the word: `--leader-elect="true"`.
    .map((word) => word.replaceAll(/["']/g, ''))
    .filter((word) => word !== '');

/** The value of a flag, written either way; empty when it has none, undefined when it is not given. */
export function flagOf({ words }: Pick<Workload, 'words'>, name: string): string | undefined {
  const at = words.findLastIndex((word) => word === name || word.startsWith(`${name}=`));
  const word = words[at];
  if (word === undefined) return undefined;
  if (word !== name) return word.slice(name.length + 1);
  const next = words[at + 1] ?? '';
  return next.startsWith('-') ? '' : next;
}

/** Whether it has this value; a flag alone is true. */
export function hasFlag(workload: Pick<Workload, 'words'>, name: string, value: string): boolean {
  const found = flagOf(workload, name);
  return found === value || (found === '' && value === 'true');
}

/** What its container of programs of this role is called, and its account. */
export const programOf = ({ target }: Pick<Workload, 'target'>): string =>
  target === 'daemonset' ? 'cloud-node-manager' : 'cloud-controller-manager';

/** What keeps pods away from nodes; most taints of the platform have no value. */
export interface Taint {
  readonly key: string;
  readonly effect: 'NoSchedule' | 'NoExecute';
  readonly value?: string;
}

/** Whether the taint keeps no pod away. */
export const tolerates = ({ pod }: Workload, taint: Taint): boolean =>
  (pod.tolerations ?? []).some((toleration) => covers(toleration, taint));

export function covers(toleration: Toleration, { key, effect, value = '' }: Taint): boolean {
  const { operator = 'Equal' } = toleration;
  if ((toleration.effect ?? '') !== '' && toleration.effect !== effect) return false;
  if ((toleration.key ?? '') === '') return operator === 'Exists';
  return toleration.key === key && (operator === 'Exists' || (toleration.value ?? '') === value);
}

export const volumesOf = ({ pod }: Workload): readonly Volume[] => pod.volumes ?? [];

/** Volumes of the host that hold this folder, the folder itself or one above it. */
const hostVolumes = (workload: Workload, folder: string): readonly Volume[] =>
  volumesOf(workload).filter(({ hostPath }) => hostPath !== undefined && holds(hostPath.path, folder));

export const holds = (outer: string, inner: string): boolean => `${inner}/`.startsWith(`${trimmed(outer)}/`);
const trimmed = (path: string): string => path.replace(/\/+$/, '');

/** Where a container sees a folder of the host; undefined when it does not. */
export function seenAt(workload: Workload, container: Container, folder: string): string | undefined {
  for (const { name, hostPath } of hostVolumes(workload, folder)) {
    const mount = (container.volumeMounts ?? []).find((one) => one.name === name);
    if (mount !== undefined && hostPath !== undefined)
      return `${trimmed(mount.mountPath)}${folder.slice(trimmed(hostPath.path).length)}`;
  }
  return undefined;
}

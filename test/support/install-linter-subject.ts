import type { DeploymentSpec } from '../../src/api/generated/apps-v1.ts';
import type { Container, EnvVar, PodSpec, Volume } from '../../src/api/generated/core-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { PROGRAM } from '../../src/cloud/manifests/install-options.ts';

/** A pod of a cloud controller manager, in whatever object it is. */
export interface LintSubject {
  readonly object: KubeObject;
  readonly pod: PodSpec;
  /** The one that the rules are about; empty when there is none of the name. */
  readonly container: Container;
  /** Words of command and arguments, `--flag=value` and `--flag value` as one; scripts cut into words. */
  readonly words: readonly string[];
  readonly values: readonly string[];
}

type Template = Pick<DeploymentSpec, 'template'>;

/** Pods, and pods in templates; undefined for anything else. */
export function subjectOf(object: KubeObject): LintSubject | undefined {
  const { spec } = object as KubeObject & { readonly spec?: PodSpec & Template };
  const pod = object.kind === 'Pod' ? spec : spec?.template?.spec;
  if (pod?.containers === undefined) return undefined;
  const container = pod.containers.find(({ name }) => name === PROGRAM) ?? { name: '' };
  const words = wordsOf(container);
  const plain = (container.env ?? []).map(({ value = '' }: EnvVar) => value);
  return { object, pod, container, words, values: [...words, ...plain] };
}

const wordsOf = ({ command = [], args = [] }: Container): readonly string[] =>
  [...command, ...args].flatMap((word) => word.split(/[\s\\]+/)).filter((word) => word !== '');

/** The value of a flag, written either way; undefined when it is not given. */
export function flagOf({ words }: LintSubject, name: string): string | undefined {
  const at = words.findIndex((word) => word === name || word.startsWith(`${name}=`));
  const word = words[at];
  if (word === undefined) return undefined;
  return word === name ? (words[at + 1] ?? '') : word.slice(name.length + 1);
}

export const volumesOf = ({ pod }: LintSubject): readonly Volume[] => pod.volumes ?? [];

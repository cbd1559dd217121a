import type { OpenshiftAssistedConfigSpec } from '../../api/agent/bootstrap-v1alpha2.ts';
import { userError } from '../../base/errors.ts';
import {
  isRoleLabel,
  kubeletKeyProblems,
  kubeletLabelProblems,
  nodeLabelsOf,
} from '../../object/kubelet-labels.ts';
import { hasVariables } from './metadata-value.ts';

interface Entry {
  readonly text: string;
  /** The field and what it says. */
  readonly found: string;
}

/** What OpenShift starts its kubelets with itself. */
const ROLES_OF_OPENSHIFT = ['control-plane', 'master', 'worker'].map((role) => `node-role.kubernetes.io/${role}`);

const keyOfEntry = (text: string): string => text.slice(0, text.indexOf('='));

/** Entries that the node is told of: those with `=`, and of those with one key the last. */
function toldEntries(spec: OpenshiftAssistedConfigSpec, at: string): readonly Entry[] {
  const entries = entriesOf(spec, at).filter(({ text }) => text.includes('='));
  const last = new Map(entries.map((entry) => [keyOfEntry(entry.text), entry]));
  return entries.filter((entry) => last.get(keyOfEntry(entry.text)) === entry);
}

const entriesOf = ({ nodeRegistration }: OpenshiftAssistedConfigSpec, at: string): readonly Entry[] =>
  (nodeRegistration?.kubeletExtraLabels ?? []).map((text, index) => ({
    text,
    found: `${at}.nodeRegistration.kubeletExtraLabels[${index}] is ${JSON.stringify(text)}`,
  }));

/** Pure: for each label with which no kubelet starts, why. What only the machine knows is not judged. */
export const refusedLabels = (spec: OpenshiftAssistedConfigSpec, at: string): readonly string[] =>
  toldEntries(spec, at).flatMap(({ text, found }) => {
    const [problem] = entryProblems(text);
    if (problem === undefined) return [];
    return [`${found}, and a kubelet that is given it does not start: ${problem}; correct it, or remove it`];
  });

/**
 * An entry may hold several labels, since the kubelet splits its flag at commas. Variables are replaced behind the first
 * `=` only; in front of it they are text, and no key has a `$`.
 */
const entryProblems = (text: string): readonly string[] => [
  ...nodeLabelsOf(keyOfEntry(text)).flatMap(([key]) => kubeletKeyProblems(key)),
  ...nodeLabelsOf(text)
    .filter(([key]) => !hasVariables(key))
    .flatMap(([key, value]) => (hasVariables(value) ? kubeletKeyProblems(key) : kubeletLabelProblems(key, value))),
];

/** Throws a user error about the first label with which no kubelet starts. */
export function checkLabels(spec: OpenshiftAssistedConfigSpec): void {
  const [problem] = refusedLabels(spec, 'spec');
  if (problem !== undefined) throw userError('InvalidNodeLabel', problem);
}

/** Pure: what is no label at all, and roles, which not every kubelet gives itself. */
export const doubtfulLabels = (spec: OpenshiftAssistedConfigSpec, at: string): readonly string[] => [
  ...entriesOf(spec, at)
    .filter(({ text }) => !text.includes('='))
    .map(({ found }) => `${found}, which has no "=" and is ignored; write it as key=value, or remove it`),
  ...toldEntries(spec, at)
    .filter(({ text }) =>
      nodeLabelsOf(text).some(([key]) => isRoleLabel(key) && !ROLES_OF_OPENSHIFT.includes(key)),
    )
    .map(
      ({ found }) =>
        `${found}; a kubelet may refuse to give itself a role, and then does not start: label the node when it is there`,
    ),
];

import { ASSET_RULES } from './asset-rules.ts';
import { ONLY_PODS } from './bootstrap-rules.ts';
import { WORKLOAD_RULES } from './lint-manifests.ts';
import { OBJECT_RULES } from './object-rules.ts';
import { PROVIDER_RULES } from './provider-rules.ts';
import type { RuleText, WorkloadRule } from './rule.ts';

/** A rule with what people must know about it. */
export interface ManifestRule extends RuleText {
  /** What it is about, in words. */
  readonly appliesTo: string;
}

const TARGETS = { deployment: 'Deployment', daemonset: 'DaemonSet', bootstrap: 'static Pod' } as const;

/** By the letter of their ids. */
const OTHERS: Readonly<Record<string, string>> = {
  B: 'static Pod',
  I: 'definition of a cloud',
  M: 'manifests that install the operator',
  P: 'definition of a cloud',
  R: 'Role, ClusterRole',
  T: 'file',
  W: 'everything that the operator applies',
};

/** In the order of the ids: letters as in the specification (section 19). */
const LETTERS = 'WBITRPM';

/** Every rule for manifests of a cloud. */
export const MANIFEST_RULES: readonly ManifestRule[] = [
  ...WORKLOAD_RULES.map(ofWorkload),
  ...[...OBJECT_RULES, ONLY_PODS, ...Object.values(ASSET_RULES), ...Object.values(PROVIDER_RULES)].map(ofOthers),
].toSorted((a, b) => LETTERS.indexOf(letterOf(a)) - LETTERS.indexOf(letterOf(b)) || (a.id < b.id ? -1 : 1));

function letterOf({ id }: Pick<RuleText, 'id'>): string {
  return id.charAt('CCM-'.length);
}

function ofWorkload(rule: WorkloadRule): ManifestRule {
  const { bootstrapSeverity, targets } = rule;
  const note = bootstrapSeverity === undefined ? undefined : `${bootstrapSeverity} for static Pods`;
  const severityNote = rule.severityNote ?? note;
  return {
    ...textOf(rule),
    ...(severityNote !== undefined && { severityNote }),
    appliesTo: targets.map((target) => TARGETS[target]).join(', '),
  };
}

function ofOthers(rule: RuleText): ManifestRule {
  return { ...textOf(rule), appliesTo: OTHERS[letterOf(rule)] ?? '' };
}

function textOf({ id, severity, title, why, fix }: RuleText): RuleText {
  return { id, severity, title, why, fix };
}

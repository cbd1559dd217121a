import type { Workload } from './workload.ts';

export type Severity = 'error' | 'warning';

/** What is wrong, in the words of section 19 behind the name of the object, and where in the object. */
export interface Problem {
  readonly text: string;
  readonly at?: readonly PropertyKey[];
  /** Where it is not that of the rule. */
  readonly severity?: Severity;
}

/** What the rules know besides the manifests. */
export interface LintContext {
  readonly managedNamespace: string;
  /** Whether the provider has a cloud configuration. */
  readonly hasCloudConfig: boolean;
  /** Containers whose image is bound to a key of images.json. */
  readonly boundContainers: ReadonlySet<string>;
  /** Images that come from images.json by a template. */
  readonly boundImages: ReadonlySet<string>;
  /** Secrets that declared CredentialsRequests produce. */
  readonly secrets: ReadonlySet<string>;
  /** What the label of the platform must say; anything where nobody knows. */
  readonly platformLabel?: string;
}

/** What explains a rule to whoever broke it. */
export interface RuleText {
  /** `CCM-W07`. */
  readonly id: string;
  readonly severity: Severity;
  /** Where it is another severity, in words. */
  readonly severityNote?: string;
  /** What is checked. */
  readonly title: string;
  readonly why: string;
  readonly fix: string;
}

/** A rule about pods of cloud controller managers. */
export interface WorkloadRule extends RuleText {
  readonly targets: readonly Workload['target'][];
  /** Of bootstrap pods, where it is another. */
  readonly bootstrapSeverity?: Severity;
  readonly check: (workload: Workload, context: LintContext) => Problem | readonly Problem[] | undefined;
}

/** One broken rule. */
export interface ManifestFinding {
  readonly rule: string;
  readonly severity: Severity;
  /** `Deployment/aws-cloud-controller-manager`; absent when it is about none. */
  readonly object?: string;
  readonly message: string;
  readonly at?: readonly PropertyKey[];
  /** Of the file, from 1, where it is known without looking for the path. */
  readonly line?: number;
}

/** The problem unless it is so. */
export const unless = (isSo: boolean, text: string, at?: readonly PropertyKey[]): Problem | undefined =>
  isSo ? undefined : { text, ...(at !== undefined && { at }) };

import type { KubeObject } from '../api/object.ts';
import type { Infrastructure, Network, PlatformStatus, PlatformType, Proxy } from '../api/openshift/config-v1.ts';
import type { FeatureGates } from './config/feature-gates.ts';

/** Everything that the operator must know about a cloud: one object and one folder (R96). */
export interface CloudProviderDefinition {
  /** DNS label; the name of its folder, and what its objects are named after. */
  readonly id: string;
  /** When it is the provider of a cluster. */
  readonly match: PlatformMatch;
  /** By the keys of `images.json`. */
  readonly images: Readonly<Record<string, ImageBinding>>;
  /** What the operator applies, in this order. None for platforms that bring their own. */
  readonly assets: AssetSource;
  /** Static pods of the bootstrap machine, and nothing else. */
  readonly bootstrapAssets?: AssetSource;
  /** For the templates, beside those that every template has. */
  readonly values?: (context: RenderContext) => Readonly<Record<string, string>>;
  /** Values that must not be empty. */
  readonly requiredValues?: readonly string[];
  /** Absent: there is no `cloud-conf` on this platform. */
  readonly cloudConfig?: CloudConfigPolicy;
  readonly credentials?: readonly CredentialsRequestSpec[];
  /**
   * The Secret whose keys its static pod reads as files of the bootstrap machine, below
   * `/etc/kubernetes/bootstrap-secrets/<name>/`; there are no Secrets that it could mount (ADR 16).
   */
  readonly bootstrapSecret?: string;
  /** The keys that it reads there; whoever gives a Secret without one of them is told. */
  readonly bootstrapSecretKeys?: readonly string[];
  /** What it says besides, such as that it is a preview; wins over what the operator says (R54). */
  readonly conditions?: (context: RenderContext) => readonly ConditionOverride[];
  /** What the kubelet is told; `external` unless told otherwise. */
  readonly kubelet?: { readonly cloudProvider: 'external' | '' };
  readonly lint?: { readonly ignore?: readonly LintWaiver[] };
}

/** `platformName` is a hint only (R97): whoever has several External definitions chooses one by its id. */
export type PlatformMatch =
  | { readonly type: Exclude<PlatformType, 'External'>; readonly when?: (status: PlatformStatus) => boolean }
  | { readonly type: 'External'; readonly platformName?: string };

export interface ImageBinding {
  /** Containers whose literal image it replaces (R25.3); none for images that templates name. */
  readonly container?: string | readonly string[];
  /** `CloudControllerManager`: templates say `{{ .images.CloudControllerManager }}`. */
  readonly field?: string;
  /** In image-references. */
  readonly payloadTag: string;
  /** The product builds it: a tag without an image breaks nightly releases. */
  readonly isPublished?: boolean;
  /** Its absence is no error. */
  readonly optional?: boolean;
}

/** Files of a folder in the order in which they are applied, or objects that are there already. */
export type AssetSource =
  | { readonly folder: URL; readonly files: readonly string[] }
  | { readonly objects: readonly KubeObject[] };

export interface CloudConfigPolicy {
  /** Where it comes from, the first that is there wins (R64). */
  readonly sources: readonly ('managed' | 'user')[];
  /** What the program gets; as it stands unless told otherwise. Throwing is final: only an edit helps. */
  readonly transform?: (source: string, context: TransformContext) => string;
  /** Taken where there is no source (R67). */
  readonly minimal?: (gates: FeatureGates) => string | undefined;
  /** Whether the result goes to `openshift-config-managed/kube-cloud-config` as well (R67). */
  readonly publishManaged?: (gates: FeatureGates) => boolean;
  /** Keys that the ConfigMap must have besides. */
  readonly requiredKeys?: readonly string[];
}

export interface TransformContext {
  readonly infra: Infrastructure;
  readonly network: Network;
  readonly gates: FeatureGates;
  /** Something that was left out, for an event; said at most once per change. */
  readonly warn: (message: string) => void;
}

/** A CredentialsRequest, and by it the Secret that pods of the provider use. */
export interface CredentialsRequestSpec {
  readonly name: string;
  /** In the managed namespace. */
  readonly secretName: string;
  readonly serviceAccountNames?: readonly string[];
  /** Of the Secret, for whoever makes it by hand; nobody else does on platform External. */
  readonly keys?: readonly string[];
  /** As the credentials operator takes it. */
  readonly providerSpec: Readonly<Record<string, unknown>>;
}

export interface ConditionOverride {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export interface LintWaiver {
  readonly rule: string;
  /** `Deployment/aws-cloud-controller-manager`; all objects unless told otherwise. */
  readonly object?: string;
  readonly reason: string;
}

/** Everything that decides what is rendered. */
export interface RenderContext {
  readonly infra: Infrastructure;
  readonly platformType: PlatformType;
  readonly platformName: string;
  readonly managedNamespace: string;
  readonly singleReplica: boolean;
  readonly proxy?: Proxy;
  /** By the keys of `images.json`. */
  readonly images: ReadonlyMap<string, string>;
  readonly gates: FeatureGates;
  /** `A=true,B=true`; may be empty (R13). */
  readonly ccmFeatureGates: string;
  /** Empty: nothing is said (R7). */
  readonly tls: { readonly minVersion: string; readonly cipherSuites: string };
}

/** What the operator calls. Both return fresh copies, the same for the same input (R27). */
export interface CloudProvider {
  readonly definition: CloudProviderDefinition;
  getResources(context: RenderContext): KubeObject[];
  getBootstrapResources(context: RenderContext): KubeObject[];
}

/** Where the cloud controller managers of OpenShift run, unless told otherwise. */
export const MANAGED_NAMESPACE = 'openshift-cloud-controller-manager';

import type { TemplateMeta, V1beta1Condition } from '../cluster-api/core-v1beta2.ts';
import type { Condition, Kind, KubeObject } from '../object.ts';

/** `bootstrap.cluster.x-k8s.io/v1alpha2`, the stored version: how one machine is booted into the assisted installer. */

export const BOOTSTRAP_GROUP = 'bootstrap.cluster.x-k8s.io';
export const CONFIG_FINALIZER = 'openshiftassistedconfig.bootstrap.cluster.x-k8s.io/deprovision';
/** JSON that assisted-service merges into the ignition of discovery. */
export const DISCOVERY_IGNITION_OVERRIDE = 'openshiftassistedconfig.cluster.x-k8s.io/discovery-ignition-override';
/** JSON that is merged into the ignition of the installed node. */
export const IGNITION_OVERRIDE = 'openshiftassistedconfig.cluster.x-k8s.io/ignition-override';
/** `ignition` (the default) or `live-iso`: how the host gets into discovery. */
export const BOOT_METHOD = 'openshiftassistedconfig.cluster.x-k8s.io/boot-method';
/** On InfraEnvs: the config that it was made for. */
export const INFRA_ENV_CONFIG_LABEL = 'bootstrap.cluster.x-k8s.io/openshiftAssistedConfig';

export interface LocalReference {
  readonly name?: string;
}

export interface ProxySettings {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  readonly noProxy?: string;
}

export interface KernelArgument {
  readonly operation: 'append' | 'replace' | 'delete';
  readonly value: string;
}

export interface LabelSelectorTerm {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** What both versions have. */
export interface CommonConfigSpec {
  readonly proxy?: ProxySettings;
  readonly pullSecretRef?: LocalReference;
  readonly additionalNTPSources?: readonly string[];
  readonly sshAuthorizedKey?: string;
  readonly nmStateConfigLabelSelector?: LabelSelectorTerm;
  readonly cpuArchitecture?: string;
  readonly kernelArguments?: readonly KernelArgument[];
  readonly additionalTrustBundle?: string;
  readonly osImageVersion?: string;
  readonly nodeRegistration?: {
    readonly name?: string;
    readonly kubeletExtraLabels?: readonly string[];
  };
}

export interface OpenshiftAssistedConfigSpec extends Omit<CommonConfigSpec, 'nodeRegistration'> {
  readonly preBootstrapCommands?: readonly string[];
  readonly postBootstrapCommands?: readonly string[];
  readonly bootstrapCommandSentinelDir?: string;
  readonly postBootstrapKubeconfigPath?: string;
  readonly nodeRegistration?: NonNullable<CommonConfigSpec['nodeRegistration']> & { readonly providerID?: string };
}

export interface OpenshiftAssistedConfig extends KubeObject {
  readonly spec?: OpenshiftAssistedConfigSpec;
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly initialization?: { readonly dataSecretCreated?: boolean };
    readonly dataSecretName?: string;
    readonly observedGeneration?: number;
    readonly v1beta1Conditions?: readonly V1beta1Condition[];
  };
}

export interface OpenshiftAssistedConfigTemplate extends KubeObject {
  readonly spec: {
    readonly template: { readonly metadata?: TemplateMeta; readonly spec?: OpenshiftAssistedConfigSpec };
  };
}

const bootstrapKind = <T extends KubeObject>(kind: string, plural: string): Kind<T> => ({
  group: BOOTSTRAP_GROUP,
  version: 'v1alpha2',
  kind,
  plural,
  scope: 'Namespaced',
});

export const OpenshiftAssistedConfig = bootstrapKind<OpenshiftAssistedConfig>(
  'OpenshiftAssistedConfig',
  'openshiftassistedconfigs',
);
export const OpenshiftAssistedConfigTemplate = bootstrapKind<OpenshiftAssistedConfigTemplate>(
  'OpenshiftAssistedConfigTemplate',
  'openshiftassistedconfigtemplates',
);

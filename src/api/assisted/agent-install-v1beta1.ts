import type { LabelSelectorTerm, ProxySettings } from '../agent/bootstrap-v1alpha2.ts';
import type { Kind, KubeObject } from '../object.ts';

/** The part of `agent-install.openshift.io/v1beta1` that we read and write; what a type does not name is kept. */

const AGENT_INSTALL_GROUP = 'agent-install.openshift.io';
/** On Agents: the InfraEnv whose image they booted. */
export const INFRA_ENV_LABEL = 'infraenvs.agent-install.openshift.io';

/** As assisted-service and Hive write them: the last two fields are Hive's and assisted-service's own. */
export interface AssistedCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastProbeTime?: string;
  readonly lastHeartbeatTime?: string;
}

export interface InfraEnv extends KubeObject {
  readonly spec?: {
    readonly clusterRef?: { readonly name: string; readonly namespace: string };
    readonly additionalNTPSources?: readonly string[];
    readonly additionalTrustBundle?: string;
    readonly cpuArchitecture?: string;
    readonly nmStateConfigLabelSelector?: LabelSelectorTerm;
    readonly osImageVersion?: string;
    readonly proxy?: ProxySettings;
    readonly pullSecretRef?: { readonly name?: string };
    readonly sshAuthorizedKey?: string;
    readonly imageType?: 'full-iso' | 'minimal-iso';
    readonly ignitionConfigOverride?: string;
    readonly kernelArguments?: readonly { readonly operation?: string; readonly value?: string }[];
  };
  readonly status?: {
    readonly isoDownloadURL?: string;
    readonly createdTime?: string;
    readonly conditions?: readonly AssistedCondition[];
    readonly agentLabelSelector?: LabelSelectorTerm;
    readonly debugInfo?: { readonly eventsURL?: string; readonly staticNetworkDownloadURL?: string };
    readonly bootArtifacts?: {
      readonly initrd?: string;
      readonly rootfs?: string;
      readonly kernel?: string;
      readonly ipxeScript?: string;
      readonly discoveryIgnitionURL?: string;
    };
  };
}

export interface AgentInterface {
  readonly name?: string;
  readonly macAddress?: string;
  readonly flags?: readonly string[];
  readonly ipV4Addresses?: readonly string[];
  readonly ipV6Addresses?: readonly string[];
}

export interface Agent extends KubeObject {
  readonly spec: {
    readonly approved?: boolean;
    readonly role?: '' | 'auto-assign' | 'master' | 'worker' | 'bootstrap' | 'arbiter';
    readonly hostname?: string;
    readonly clusterDeploymentName?: { readonly name: string; readonly namespace: string };
    readonly ignitionConfigOverrides?: string;
    readonly installerArgs?: string;
    readonly nodeLabels?: Readonly<Record<string, string>>;
    readonly machineConfigPool?: string;
    readonly installation_disk_id?: string;
  };
  readonly status?: {
    readonly bootstrap?: boolean;
    readonly role?: string;
    readonly kind?: string;
    readonly conditions?: readonly AssistedCondition[];
    readonly debugInfo?: { readonly state?: string; readonly stateInfo?: string; readonly eventsURL?: string };
    readonly inventory?: {
      readonly hostname?: string;
      readonly cpu?: { readonly architecture?: string; readonly count?: number };
      readonly memory?: { readonly physicalBytes?: number; readonly usableBytes?: number };
      readonly interfaces?: readonly AgentInterface[];
      readonly systemVendor?: {
        readonly manufacturer?: string;
        readonly productName?: string;
        readonly serialNumber?: string;
        readonly virtual?: boolean;
      };
      readonly boot?: { readonly currentBootMode?: string; readonly deviceType?: string };
    };
    readonly progress?: {
      readonly currentStage?: string;
      readonly progressInfo?: string;
      readonly installationPercentage?: number;
      readonly stageStartTime?: string;
      readonly stageUpdateTime?: string;
      readonly progressStages?: readonly string[];
    };
  };
}

const agentInstallKind = <T extends KubeObject>(kind: string, plural: string): Kind<T> => ({
  group: AGENT_INSTALL_GROUP,
  version: 'v1beta1',
  kind,
  plural,
  scope: 'Namespaced',
});

export const InfraEnv = agentInstallKind<InfraEnv>('InfraEnv', 'infraenvs');
export const Agent = agentInstallKind<Agent>('Agent', 'agents');

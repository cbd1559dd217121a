import type { ClusterOperator, Infrastructure, PlatformStatus } from '../../api/openshift/config-v1.ts';
import { retryError, terminalError } from '../../base/errors.ts';
import type { OperandKind } from '../apply/applier.ts';
import type { CloudProvider } from '../definition.ts';
import type { ProviderChoice } from '../registry/providers.ts';
import { condition } from '../status/conditions.ts';
import type { OperatorCondition } from '../status/operator-status.ts';
import { auxiliaryGate } from './auxiliary-gate.ts';
import { managementState } from './management-state.ts';

/** The providers that this operator knows; `ProviderRegistry` is one. */
export interface KnownProviders {
  operandKinds(managedNamespace: string, choice?: ProviderChoice): readonly OperandKind[];
  resolve(infra: Infrastructure, choice?: ProviderChoice): CloudProvider | undefined;
  isCloudProviderExternal(status: PlatformStatus | undefined): boolean;
}

/** Everything that decides what this cluster gets from us. */
export interface ClusterFacts {
  readonly infra: Infrastructure | undefined;
  readonly operator: ClusterOperator | undefined;
  readonly providers: KnownProviders;
  /** `--provider`. */
  readonly provider?: string;
}

export type Decision =
  /** Nothing to do (R28, R30, R32, R93); the message where it is not the usual one. */
  | { readonly kind: 'available'; readonly message?: string }
  /** An administrator has taken over (D3). */
  | { readonly kind: 'unmanaged' }
  | { readonly kind: 'removed' }
  /** A provider could help, but the nodes do not wait for it (D2). */
  | { readonly kind: 'kubelet-not-external'; readonly message: string }
  /** The operands would not find their configuration yet (R29). */
  | { readonly kind: 'waiting'; readonly message: string }
  | { readonly kind: 'deploy'; readonly infra: Infrastructure; readonly provider: CloudProvider };

/** A leftover of clusters that were upgraded from before 4.16 (R31). */
export const OWNER_CONDITION = 'CloudControllerOwner';
const HOSTED = 'control plane is hosted externally';

/** Pure. Throws what ends in Degraded: a terminal error where only an edit helps, else one to retry. */
export function decide(facts: ClusterFacts): Decision {
  const { infra, operator } = facts;
  const { state } = managementState(operator);
  if (state === 'Unmanaged') return { kind: 'unmanaged' };
  if (state === 'Removed') return { kind: 'removed' };
  if (infra === undefined) return { kind: 'available' };
  // Nothing of ours would run there: whoever hosts the control plane runs the cloud controller manager (R93).
  if (infra.status?.controlPlaneTopology === 'External') return { kind: 'available', message: HOSTED };
  const gate = auxiliaryGate(operator);
  if (gate.state === 'failed') throw retryError('AuxiliaryControllerDegraded', gate.message);
  if (gate.state === 'waiting') return { kind: 'waiting', message: gate.message };
  return placed(infra, facts);
}

function placed(infra: Infrastructure, { operator, providers, provider: id }: ClusterFacts): Decision {
  const platform = infra.status?.platformStatus;
  if (platform === undefined) {
    throw terminalError('NoPlatformStatus', 'platform status is not populated on infrastructure');
  }
  const provider = providers.resolve(infra, id === undefined ? {} : { provider: id });
  // A platform that nobody knows, or whose cloud controller manager is somebody else's (R21, R30).
  if (provider === undefined) return { kind: 'available' };
  if (isTrue(operator, OWNER_CONDITION) || providers.isCloudProviderExternal(platform)) {
    return { kind: 'deploy', infra, provider };
  }
  if (platform.type !== 'External') return { kind: 'available' };
  const { cloudProvider: kubelet = 'external' } = provider.definition.kubelet ?? {};
  return kubelet === 'external'
    ? { kind: 'kubelet-not-external', message: kubeletAdvice(platform) }
    : { kind: 'deploy', infra, provider };
}

const isTrue = (operator: ClusterOperator | undefined, wanted: string): boolean =>
  operator?.status?.conditions?.some(({ type, status }) => type === wanted && status === 'True') ?? false;

function kubeletAdvice({ external }: PlatformStatus): string {
  const found = external?.cloudControllerManager?.state ?? '';
  return [
    'the kubelets of this cluster run without an external cloud provider:',
    'status.platformStatus.external.cloudControllerManager.state of Infrastructure cluster must be "External",',
    `not "${found}"; it is set at installation and cannot be changed:`,
    'install the cluster with platform.external.cloudControllerManager: External',
  ].join(' ');
}

/** The nodes would never be initialised; nobody has to hold back an upgrade for that (D2). */
export const kubeletNotExternal = (message: string): readonly OperatorCondition[] => [
  condition('Available', 'False', KUBELET_NOT_EXTERNAL, message),
  condition('Progressing', 'False', KUBELET_NOT_EXTERNAL),
  condition('Degraded', 'False'),
  condition('Upgradeable', 'True'),
];

const KUBELET_NOT_EXTERNAL = 'KubeletNotExternal';

/** Only what says that nothing is done; whatever else was true stays so (D3). */
export const unmanaged = (): readonly OperatorCondition[] => [
  condition('Progressing', 'False', 'Unmanaged', 'the operator writes nothing: its management state is Unmanaged'),
  condition('Upgradeable', 'True'),
];

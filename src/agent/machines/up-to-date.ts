import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { Machine, MachineDeletion } from '../../api/cluster-api/core-v1beta2.ts';
import { isRecord } from '../../object/record.ts';

/** What core fills in where nothing is said; objects that came through v1alpha2 do not have it (X8). */
const NODE_DELETION_TIMEOUT_SECONDS = 10;

/**
 * Timeouts for the Machines of a control plane. The place of the contract, where a ClusterClass writes them, counts where
 * the old one says nothing (X6); the default of the old one, which every object has, says nothing either.
 */
export function machineDeletion({ spec: { machineTemplate } }: OpenshiftAssistedControlPlane): MachineDeletion {
  const { deletion = {}, spec: { deletion: alias = {} } = {} } = machineTemplate;
  const { nodeDeletionTimeoutSeconds: seconds = NODE_DELETION_TIMEOUT_SECONDS } = deletion;
  const nodeDeletionTimeoutSeconds =
    seconds === NODE_DELETION_TIMEOUT_SECONDS ? (alias.nodeDeletionTimeoutSeconds ?? seconds) : seconds;
  return { ...alias, ...deletion, nodeDeletionTimeoutSeconds };
}

const withDefault = (deletion: MachineDeletion): MachineDeletion => ({
  nodeDeletionTimeoutSeconds: NODE_DELETION_TIMEOUT_SECONDS,
  ...deletion,
});

/** What of a Machine is not as the control plane says now, one sentence each; empty when it is up to date (C17). Pure. */
export function outdatedParts(
  machine: Machine,
  object: OpenshiftAssistedControlPlane,
  configs: readonly OpenshiftAssistedConfig[],
): readonly string[] {
  const { bootstrap, deletion = {} } = machine.spec;
  const isDeletionSame = sameDeletion(withDefault(deletion), machineDeletion(object));
  const name = bootstrap.configRef?.name ?? '';
  const config = configs.find(({ metadata }) => metadata.name === name);
  return [
    ...(isDeletionSame ? [] : ['spec.deletion is not what spec.machineTemplate.deletion says']),
    ...(config === undefined
      ? [name === '' ? 'spec.bootstrap.configRef is empty' : `OpenshiftAssistedConfig ${name} does not exist`]
      : configDifference(config, object)),
  ];
}

const configDifference = (config: OpenshiftAssistedConfig, object: OpenshiftAssistedControlPlane) =>
  isConfigCurrent(config, object)
    ? []
    : [`OpenshiftAssistedConfig ${config.metadata.name} is not what spec.openshiftAssistedConfigSpec says`];

export const isConfigCurrent = (
  { spec = {} }: OpenshiftAssistedConfig,
  { spec: { openshiftAssistedConfigSpec = {} } }: OpenshiftAssistedControlPlane,
): boolean => holds(openshiftAssistedConfigSpec, spec);

const sameDeletion = (a: MachineDeletion, b: MachineDeletion): boolean =>
  a.nodeDeletionTimeoutSeconds === b.nodeDeletionTimeoutSeconds &&
  a.nodeDrainTimeoutSeconds === b.nodeDrainTimeoutSeconds &&
  a.nodeVolumeDetachTimeoutSeconds === b.nodeVolumeDetachTimeoutSeconds;

/** Whether everything that is set in `wanted` is so in `found`; what is empty there is not set. */
function holds(wanted: unknown, found: unknown): boolean {
  if (isUnset(wanted)) return true;
  if (Array.isArray(wanted))
    return (
      Array.isArray(found) && wanted.length === found.length && wanted.every((item, at) => holds(item, found[at]))
    );
  if (!isRecord(wanted)) return wanted === found;
  return isRecord(found) && Object.entries(wanted).every(([key, value]) => holds(value, found[key]));
}

const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0);

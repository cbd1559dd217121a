import {
  type Cluster,
  type MachineDeployment,
  TOPOLOGY_DEPLOYMENT_LABEL,
} from '../../api/cluster-api/core-v1beta2.ts';

/** What core makes where nobody says a number (X20). */
const DEFAULT_REPLICAS = 1;

/**
 * Workers that the installation waits for. Core makes the MachineDeployments of a topology only when it knows the version
 * of the control plane: until then the topology says how many there will be, so that hosts which are quick do not begin
 * without them. Pure.
 */
export function expectedWorkers({ spec }: Cluster, deployments: readonly MachineDeployment[]): number {
  const made = deployments.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const names = new Set(deployments.map(({ metadata }) => metadata.labels?.[TOPOLOGY_DEPLOYMENT_LABEL]));
  const awaited = (spec?.topology?.workers?.machineDeployments ?? []).filter(({ name }) => !names.has(name));
  return [...made.map((deployment) => deployment.spec), ...awaited].reduce(
    (sum, { replicas = DEFAULT_REPLICAS }) => sum + replicas,
    0,
  );
}

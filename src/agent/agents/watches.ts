import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { Cluster, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { ClusterDeployment } from '../../api/hive/hive-v1.ts';
import { Metal3Machine } from '../../api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import { keyOf, type ObjectKey } from '../../api/object.ts';
import type { Cache } from '../../kube/cache/cache.ts';
import { type Controller, controllerFor } from '../../kube/controller/controller.ts';
import { annotationChanged, generationChanged, labelChanged, or } from '../../kube/controller/predicates.ts';
import type { Reconciler } from '../../kube/controller/reconcile.ts';
import { needs } from '../../kube/rbac/need.ts';
import { configsOf, deploymentChanged, installChanged, pauseChanged } from '../bootstrap/cluster-watches.ts';
import { configKeyOf, configOwnerOf } from '../cluster-facts/config-owner.ts';
import { METAL3_DEFINITIONS } from '../live-iso/metal3-kinds.ts';
import { sharedInfraEnvOf } from '../live-iso/shared-infra-env.ts';
import { machineNameOf } from './agent-machine.ts';

const AGENT_CONTROLLER = 'agent';

type Cached = Pick<Cache, 'informer'>;

const agentsIn = (cache: Cached, namespace: string, infraEnv: string): readonly Agent[] =>
  cache.informer(Agent).list({ namespace, labels: { [INFRA_ENV_LABEL]: infraEnv } });

/** Those that are, or may be, the host of a config: of many that share an InfraEnv mostly one. */
function agentsOfConfig(config: OpenshiftAssistedConfig, cache: Cached): readonly ObjectKey[] {
  const { namespace = '' } = config.metadata;
  const machine = configOwnerOf(config)?.name ?? '';
  const infraEnv = sharedInfraEnvOf(config) ?? machine;
  if (infraEnv === '') return [];
  return agentsIn(cache, namespace, infraEnv)
    .filter((agent) => (machineNameOf(agent) || machine) === machine)
    .map(keyOf);
}

function agentsOfMachine(machine: Machine, cache: Cached): readonly ObjectKey[] {
  const key = configKeyOf(machine);
  const config = key === undefined ? undefined : cache.informer(OpenshiftAssistedConfig).get(key);
  return config === undefined ? [] : agentsOfConfig(config, cache);
}

/** One worker: of two Agents of a Machine, the second sees what became of the first. */
export const agentController = (reconciler: Reconciler<Agent>): Controller =>
  controllerFor(Agent, { name: AGENT_CONTROLLER, maxConcurrent: 1 })
    .watches(
      InfraEnv,
      ({ metadata: { namespace = '', name } }, { cache }) => agentsIn(cache, namespace, name).map(keyOf),
      [or(generationChanged, labelChanged, annotationChanged)],
    )
    .watches(OpenshiftAssistedConfig, (config, { cache }) => agentsOfConfig(config, cache), [
      or(generationChanged, labelChanged, annotationChanged),
    ])
    .watches(Machine, (machine, { cache }) => agentsOfMachine(machine, cache), [
      or(generationChanged, labelChanged),
    ])
    .watches(
      AgentClusterInstall,
      (install, { cache }) => configsOf(install, cache).flatMap((config) => agentsOfConfig(config, cache)),
      [installChanged],
    )
    .watches(
      ClusterDeployment,
      (deployment, { cache }) => configsOf(deployment, cache).flatMap((config) => agentsOfConfig(config, cache)),
      [deploymentChanged],
    )
    .watches(
      Cluster,
      (cluster, { cache }) => configsOf(cluster, cache).flatMap((config) => agentsOfConfig(config, cache)),
      [pauseChanged],
    )
    .needs(
      needs(Agent, ['patch']),
      // Only where something boots an ISO.
      needs(CustomResourceDefinition, ['get'], { names: METAL3_DEFINITIONS }),
      needs(Metal3Machine, ['list']),
      needs(BareMetalHost, ['list']),
    )
    .reconcile(reconciler);

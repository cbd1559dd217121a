import { BOOTSTRAP_GROUP, OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Agent, InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { Cluster, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { ConfigMap, Secret } from '../../api/generated/core-v1.ts';
import { ClusterDeployment } from '../../api/hive/hive-v1.ts';
import { Metal3Machine, Metal3MachineTemplate } from '../../api/metal3/infrastructure-v1beta2.ts';
import { keyOf } from '../../api/object.ts';
import type { Cache } from '../../kube/cache/cache.ts';
import { type Controller, controllerFor } from '../../kube/controller/controller.ts';
import type { MappedKey } from '../../kube/controller/event-keys.ts';
import type { Reconciler } from '../../kube/controller/reconcile.ts';
import { type Need, needs } from '../../kube/rbac/need.ts';
import { infraEnvNameOf, machineNameOf } from '../agents/agent-machine.ts';
import { configKeyOf } from '../cluster-facts/config-owner.ts';
import { factsChanged, wishesOf } from '../cluster-facts/facts-changed.ts';
import type { AssistedSettings } from '../infra-env/assisted-settings.ts';
import { METAL3_DEFINITIONS } from '../live-iso/metal3-kinds.ts';
import { SHARED_INFRA_ENV_LABEL } from '../live-iso/shared-infra-env.ts';
import { clusterChanged, configsOf, deploymentChanged, installChanged } from './cluster-watches.ts';

const CONFIG_CONTROLLER = 'openshiftassistedconfig';

/** What a config itself, and who looks after it, says; not what this controller says of it. */
const configChanged = factsChanged<OpenshiftAssistedConfig>((config) => {
  const { initialization, dataSecretName } = config.status ?? {};
  return [wishesOf(config), config.metadata.finalizers, initialization, dataSecretName];
});

/** How a Machine does after its bootstrap data is out is told often, and means nothing here. */
const machineChanged = factsChanged<Machine>(({ metadata, spec }) => {
  const { uid, deletionTimestamp, labels } = metadata;
  const { clusterName, infrastructureRef, bootstrap } = spec;
  return [uid, deletionTimestamp, labels, clusterName, infrastructureRef, bootstrap.configRef];
});

const infraEnvChanged = factsChanged<InfraEnv>(({ metadata: { uid, deletionTimestamp }, status }) => {
  const { isoDownloadURL, debugInfo, bootArtifacts } = status ?? {};
  return [uid, deletionTimestamp, isoDownloadURL, debugInfo?.eventsURL, bootArtifacts?.discoveryIgnitionURL];
});

/** Its owner, or all that share it. */
function configsOfInfraEnv({ metadata }: InfraEnv, cache: Pick<Cache, 'informer'>): readonly MappedKey[] {
  const { namespace = '', name, ownerReferences = [] } = metadata;
  const isConfig = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) =>
    kind === OpenshiftAssistedConfig.kind && apiVersion.startsWith(`${BOOTSTRAP_GROUP}/`);
  const sharing = cache
    .informer(OpenshiftAssistedConfig)
    .list({ namespace, labels: { [SHARED_INFRA_ENV_LABEL]: name } });
  return [
    ...ownerReferences.filter(isConfig).map((owner) => ({ namespace, name: owner.name })),
    ...sharing.map(keyOf),
  ];
}

const agentChanged = factsChanged<Agent>((agent) => [
  machineNameOf(agent),
  infraEnvNameOf(agent),
  agent.spec.approved,
]);

/** The config of its Machine; one that has none is named by all configs of its InfraEnv. */
function configsOfAgent(agent: Agent, cache: Pick<Cache, 'informer'>): readonly MappedKey[] {
  const { namespace = '' } = agent.metadata;
  const name = machineNameOf(agent);
  if (name === undefined) return [];
  if (name === '') {
    const labels = { [SHARED_INFRA_ENV_LABEL]: infraEnvNameOf(agent) };
    return cache.informer(OpenshiftAssistedConfig).list({ namespace, labels }).map(keyOf);
  }
  const machine = cache.informer(Machine).get({ namespace, name });
  const key = machine === undefined ? undefined : configKeyOf(machine);
  return key === undefined ? [] : [key];
}

/** Exactly what is done; what only one boot method does as well. */
const configNeeds = (settings: AssistedSettings): readonly Need[] => [
  needs(OpenshiftAssistedConfig, ['patch']),
  needs(OpenshiftAssistedConfig, ['patch'], { subresource: 'status' }),
  // Who makes an owner wait for its objects must be allowed to hold it back: OpenShift asks for it.
  needs(OpenshiftAssistedConfig, ['update'], { subresource: 'finalizers' }),
  needs(InfraEnv, ['create', 'delete']),
  needs(Agent, ['delete']),
  needs(Secret, ['get', 'create', 'patch'], {
    reason: 'Bootstrap data is named like its config, in any namespace',
  }),
  needs(CustomResourceDefinition, ['get'], { names: METAL3_DEFINITIONS }),
  needs(Metal3Machine, ['get', 'patch']),
  needs(Metal3MachineTemplate, ['get', 'create', 'patch']),
  ...bundleNeeds(settings),
];

/** A Secret with authorities may be read with the others. */
const bundleNeeds = ({ caBundleResource, caBundleNamespace, caBundleName }: AssistedSettings): readonly Need[] =>
  caBundleResource === 'configmap' && caBundleName !== ''
    ? [needs(ConfigMap, ['get'], { namespace: caBundleNamespace, names: [caBundleName] })]
    : [];

/** Each waits for the ignition of its own InfraEnv: with one worker, the last host would wait for all others. */
const WORKERS = 5;

export const configController = (
  reconciler: Reconciler<OpenshiftAssistedConfig>,
  settings: AssistedSettings,
): Controller =>
  controllerFor(OpenshiftAssistedConfig, {
    name: CONFIG_CONTROLLER,
    maxConcurrent: WORKERS,
    predicates: [configChanged],
  })
    .watches(Machine, (machine) => [configKeyOf(machine) ?? {}], [machineChanged])
    .watches(InfraEnv, (infraEnv, { cache }) => configsOfInfraEnv(infraEnv, cache), [infraEnvChanged])
    .watches(ClusterDeployment, (object, { cache }) => configsOf(object, cache).map(keyOf), [deploymentChanged])
    .watches(AgentClusterInstall, (object, { cache }) => configsOf(object, cache).map(keyOf), [installChanged])
    .watches(Cluster, (object, { cache }) => configsOf(object, cache).map(keyOf), [clusterChanged])
    .watches(Agent, (agent, { cache }) => configsOfAgent(agent, cache), [agentChanged])
    .needs(...configNeeds(settings))
    .reconcile(reconciler);

import { Agent, InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import { Secret } from '../../../api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../../api/hive/hive-v1.ts';
import { keyOf, type ObjectKey } from '../../../api/object.ts';
import { withFinalizer } from '../../../kube/apply/with-finalizer.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { byType, type Predicate } from '../../../kube/controller/predicates.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { AGENT_FINALIZER, AgentReconciler } from './agent-reconcile.ts';
import type { AssistedOptions } from './assisted-options.ts';
import { boundAgentsIn, deploymentKeyOf, installsIn, known } from './bound-agents.ts';
import { DEPLOYMENT_FINALIZER, DeploymentReconciler } from './deployment-reconcile.ts';
import { INFRA_ENV_FINALIZER, InfraEnvReconciler } from './infra-env-reconcile.ts';
import { INSTALL_FINALIZER, InstallReconciler } from './install-reconcile.ts';
import { installStateOf } from './install-state.ts';

/** Many hosts are on their way at the same time, and each may wait for the scripts of its machine. */
const AGENTS_AT_ONCE = 8;

/** Stands in for assisted-service and for Hive's part in its ClusterDeployments (spec 8.4). */
export const assistedControllers = (options: AssistedOptions): readonly Controller[] => [
  infraEnvController(options),
  deploymentController(options),
  installController(options),
  agentController(options),
];

/** Progress of an installation concerns nobody but those who look at it; its state concerns others. */
const stateChanged: Predicate<AgentClusterInstall> = byType({
  update: ({ old, object }) => old === undefined || installStateOf(old) !== installStateOf(object),
});

const infraEnvsOf =
  <T extends ClusterDeployment | AgentClusterInstall>(deployment: (object: T) => ObjectKey): MapFunction<T> =>
  (object, tools) => {
    const { namespace, name } = deployment(object);
    const isForIt = ({ spec }: InfraEnv) =>
      spec?.clusterRef?.name === name && spec.clusterRef.namespace === namespace;
    return known(tools, InfraEnv).filter(isForIt).map(keyOf);
  };

const writing = (kind: typeof InfraEnv | typeof Agent | typeof AgentClusterInstall | typeof ClusterDeployment) => [
  needs(kind, ['patch']),
  needs(kind, ['patch'], { subresource: 'status' }),
];

const infraEnvController = (options: AssistedOptions): Controller => {
  const builder = controllerFor(InfraEnv)
    .watches(ClusterDeployment, infraEnvsOf(keyOf))
    .watches(AgentClusterInstall, infraEnvsOf(deploymentKeyOf), [stateChanged])
    .needs(...writing(InfraEnv), needs(Secret, ['get'], { reason: 'users name their pull secrets' }));
  const { faults } = options;
  if (faults !== undefined) builder.watchesChannel(faults.changes.infraEnvs);
  return builder.reconcile(withFinalizer(InfraEnv, INFRA_ENV_FINALIZER, new InfraEnvReconciler(options)));
};

const deploymentController = (options: AssistedOptions): Controller =>
  controllerFor(ClusterDeployment)
    .watches(AgentClusterInstall, (install) => [deploymentKeyOf(install)])
    .needs(...writing(ClusterDeployment), needs(AgentClusterInstall, ['delete']))
    .reconcile(withFinalizer(ClusterDeployment, DEPLOYMENT_FINALIZER, new DeploymentReconciler(options)));

const installController = (options: AssistedOptions): Controller => {
  const ofDeployment: MapFunction<ClusterDeployment> = (deployment, tools) =>
    installsIn(tools, keyOf(deployment)).map(keyOf);
  const ofAgent: MapFunction<Agent> = ({ spec }, tools) =>
    spec.clusterDeploymentName === undefined ? [] : installsIn(tools, spec.clusterDeploymentName).map(keyOf);
  const ofImageSet: MapFunction<ClusterImageSet> = ({ metadata: { name } }, tools) =>
    known(tools, AgentClusterInstall)
      .filter(({ spec }) => spec?.imageSetRef?.name === name)
      .map(keyOf);
  const builder = controllerFor(AgentClusterInstall)
    .watches(ClusterDeployment, ofDeployment)
    .watches(Agent, ofAgent)
    .watches(ClusterImageSet, ofImageSet)
    .needs(
      ...writing(AgentClusterInstall),
      needs(Agent, ['delete']),
      needs(Secret, ['get', 'create', 'patch'], {
        reason: 'users name their pull secrets, and clusters name theirs',
      }),
    );
  const { faults } = options;
  if (faults !== undefined) builder.watchesChannel(faults.changes.installs);
  return builder.reconcile(withFinalizer(AgentClusterInstall, INSTALL_FINALIZER, new InstallReconciler(options)));
};

const agentController = (options: AssistedOptions): Controller => {
  const builder = controllerFor(Agent, { maxConcurrent: AGENTS_AT_ONCE })
    .watches(AgentClusterInstall, (install, tools) => boundAgentsIn(tools, deploymentKeyOf(install)).map(keyOf), [
      stateChanged,
    ])
    .needs(...writing(Agent));
  const { faults } = options;
  if (faults !== undefined) builder.watchesChannel(faults.changes.agents);
  return builder.reconcile(withFinalizer(Agent, AGENT_FINALIZER, new AgentReconciler(options)));
};

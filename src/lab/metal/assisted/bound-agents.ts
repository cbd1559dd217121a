import { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import type { Kind, KubeObject, ObjectKey } from '../../../api/object.ts';
import type { MapTools } from '../../../kube/controller/event-keys.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';

/** The ClusterDeployment that an installation is of. */
export const deploymentKeyOf = ({ metadata, spec }: AgentClusterInstall): ObjectKey => ({
  namespace: metadata.namespace ?? '',
  name: spec?.clusterDeploymentRef?.name ?? '',
});

const isBoundTo = ({ spec }: Agent, { namespace, name }: ObjectKey): boolean =>
  spec.clusterDeploymentName?.name === name && spec.clusterDeploymentName.namespace === namespace;

/** All Agents of a cluster, wherever they are, by the key of its ClusterDeployment. */
export async function boundAgents({ client }: ReconcileContext, deployment: ObjectKey): Promise<readonly Agent[]> {
  const { items } = await client.list(Agent);
  return items.filter((agent) => isBoundTo(agent, deployment));
}

/** What is known by now. What was not read yet comes as an event of its own. */
export function known<T extends KubeObject, I>({ cache }: MapTools, kind: Kind<T, I>): readonly T[] {
  const informer = cache.informer(kind);
  return informer.isSynced ? informer.list() : [];
}

export const boundAgentsIn = (tools: MapTools, deployment: ObjectKey): readonly Agent[] =>
  known(tools, Agent).filter((agent) => isBoundTo(agent, deployment));

const isOf = (install: AgentClusterInstall, { name }: ObjectKey): boolean =>
  install.spec?.clusterDeploymentRef?.name === name;

/** The installation of a cluster, by the key of its ClusterDeployment. */
export async function installOf(
  { client }: ReconcileContext,
  deployment: ObjectKey,
): Promise<AgentClusterInstall | undefined> {
  const { items } = await client.list(AgentClusterInstall, { namespace: deployment.namespace ?? '' });
  return items.find((install) => isOf(install, deployment));
}

export const installsIn = (tools: MapTools, deployment: ObjectKey): readonly AgentClusterInstall[] =>
  known(tools, AgentClusterInstall).filter(
    (install) => install.metadata.namespace === deployment.namespace && isOf(install, deployment),
  );

import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { CLUSTER_NAME_LABEL, type Cluster, MachineDeployment } from '../../api/cluster-api/core-v1beta2.ts';
import { ClusterDeployment } from '../../api/hive/hive-v1.ts';
import { keyOf } from '../../api/object.ts';
import { messageOf, SlipwayError } from '../../base/errors.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { isEmptyPatch, mergeFrom } from '../../kube/client/patches.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../kube/controller/reconcile.ts';
import { clusterInstallReference } from '../control-plane/cluster-deployment.ts';
import {
  CLUSTER_INSTALL_CONFIGURED,
  isMet,
  isUnmet,
  OF_CLUSTER_DEPLOYMENT_CONTROLLER,
} from '../control-plane/conditions.ts';
import {
  findOwnerCluster,
  hasSpec,
  isOfControlPlane,
  isWatched,
  namespaceOf,
  pauseReason,
} from '../control-plane/ownership.ts';
import { readPullSecret } from '../control-plane/pull-secret.ts';
import { clusterConfigs, type ReleaseFacts, releaseImageOf } from '../control-plane/release-facts.ts';
import { isPassing, StatusReport } from '../control-plane/status-report.ts';
import { architectureOf } from '../release/release-image.ts';
import { desiredInstall, frozenFields, type InstallFacts, installStage } from './agent-cluster-install.ts';
import { ensureImageSet } from './image-set.ts';
import { ensureMirrorConfigMap, mirrorSource } from './mirror-config-map.ts';

/** Nothing tells of a change of the ConfigMap with mirrors, and it matters only until the installation begins. */
const LOOK_AGAIN_MS = 60_000;

interface Scope {
  readonly deployment: ClusterDeployment;
  readonly object: OpenshiftAssistedControlPlane;
  readonly cluster: Cluster;
  readonly context: ReconcileContext;
}

/** Tells assisted-service what to install: release image, AgentClusterInstall, mirrors (D). */
export class ClusterDeploymentReconciler implements Reconciler<ClusterDeployment> {
  readonly #facts: ReleaseFacts;
  readonly #watchFilter: string | undefined;

  constructor(facts: ReleaseFacts, watchFilter: string | undefined) {
    this.#facts = facts;
    this.#watchFilter = watchFilter;
  }

  async reconcile(deployment: ClusterDeployment, context: ReconcileContext): Promise<Result> {
    const { labels = {}, deletionTimestamp } = deployment.metadata;
    if (deletionTimestamp !== undefined || labels[CLUSTER_NAME_LABEL] === undefined) return DONE;
    const object = await livingControlPlane(context.client, deployment);
    if (object === undefined || !hasSpec(object) || !isWatched(object, this.#watchFilter)) return DONE;
    const cluster = await findOwnerCluster(context.client, object);
    if (cluster === undefined || pauseReason(cluster, object) !== undefined) return DONE;
    const report = new StatusReport(object, context, { owned: OF_CLUSTER_DEPLOYMENT_CONTROLLER });
    return report.around(async () => {
      try {
        const { frozen, isOpen } = await this.#configure({ deployment, object, cluster, context });
        report.say(isMet(CLUSTER_INSTALL_CONFIGURED, frozenMessage(frozen)));
        return isOpen && mirrorSource(object) !== undefined ? after(LOOK_AGAIN_MS) : DONE;
      } catch (error) {
        const reason = error instanceof SlipwayError ? error.reason : 'InternalError';
        if (!isPassing(error)) report.say(isUnmet(CLUSTER_INSTALL_CONFIGURED, reason, messageOf(error)));
        throw error;
      }
    });
  }

  async #configure(scope: Scope): Promise<{ readonly frozen: readonly string[]; readonly isOpen: boolean }> {
    const { deployment, object, cluster, context } = scope;
    const { client } = context;
    const key = keyOf(deployment);
    const releaseImage = await this.#releaseImage(scope);
    // A registry takes its time, and a control plane that goes makes nothing any more.
    if ((await livingControlPlane(client, deployment)) === undefined) return { frozen: [], isOpen: false };
    const found = await client.find(AgentClusterInstall, key);
    const imageSetName = await ensureImageSet(client, object, { releaseImage, install: found });
    const mirrorConfigMap = await ensureMirrorConfigMap(client, object);
    const facts = { object, cluster, imageSetName, mirrorConfigMap, workers: await workersOf(client, cluster) };
    await ensureInstall(client, found, facts);
    await ensureInstallReference(client, deployment);
    return {
      frozen: found === undefined ? [] : frozenFields(found, facts),
      isOpen: installStage(found) === 'open',
    };
  }

  /** D2: by digest, so that every host gets the same. */
  async #releaseImage({ object, context }: Scope): Promise<string> {
    const { client, signal } = context;
    const image = releaseImageOf(object, architectureOf(await clusterConfigs(client, object)));
    const pullSecret = () =>
      readPullSecret(client, object).catch((error: unknown) => {
        throw explained('failed to get pull secret for digest resolution', error);
      });
    try {
      return await this.#facts.digestForm({ object, image, pullSecret, signal });
    } catch (error) {
      if (error instanceof SlipwayError && error.reason === 'PullSecretUnavailable') throw error;
      throw explained(`failed to resolve release image digest for ${image}`, error);
    }
  }
}

/** The same kind of failure with a word about what it was for. */
function explained(what: string, error: unknown): unknown {
  if (!(error instanceof SlipwayError) || isPassing(error)) return error;
  const { disposition, reason, retryAfterMs } = error;
  return new SlipwayError(disposition, reason, `${what}: ${error.message}`, {
    cause: error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const frozenMessage = (fields: readonly string[]): string =>
  fields.length === 0
    ? ''
    : `the installation has begun: ${fields.map((field) => `spec.${field}`).join(', ')} of the AgentClusterInstall stay as they are`;

/** D1: the one of the same name; not one that goes. */
async function livingControlPlane(
  client: KubeClient,
  deployment: ClusterDeployment,
): Promise<OpenshiftAssistedControlPlane | undefined> {
  const found = await client.find(OpenshiftAssistedControlPlane, keyOf(deployment));
  const isLiving = found !== undefined && found.metadata.deletionTimestamp === undefined;
  return isLiving && isOfControlPlane(deployment, found) ? found : undefined;
}

/** Of this namespace: a cluster of the same name elsewhere is another cluster (X4). */
async function workersOf(client: KubeClient, cluster: Cluster): Promise<readonly MachineDeployment[]> {
  const labels = { [CLUSTER_NAME_LABEL]: cluster.metadata.name };
  const { items } = await client.list(MachineDeployment, { namespace: namespaceOf(cluster), labels });
  return items;
}

async function ensureInstall(
  client: KubeClient,
  found: AgentClusterInstall | undefined,
  facts: InstallFacts,
): Promise<void> {
  if (found === undefined) {
    try {
      await client.create(AgentClusterInstall, desiredInstall(undefined, facts));
      return;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
  const current = found ?? (await client.live.get(AgentClusterInstall, keyOf(facts.object)));
  const patch = mergeFrom(current, desiredInstall(current, facts), { optimisticLock: true });
  if (!isEmptyPatch(patch)) await client.patch(AgentClusterInstall, keyOf(current), patch);
}

/** Only where it is wrong: Hive refuses needless changes once a cluster is installed (D7). */
async function ensureInstallReference(client: KubeClient, deployment: ClusterDeployment): Promise<void> {
  const wanted = clusterInstallReference(deployment.metadata.name);
  const { group, version, kind, name } = deployment.spec?.clusterInstallRef ?? {};
  const isSame =
    group === wanted.group && version === wanted.version && kind === wanted.kind && name === wanted.name;
  if (isSame) return;
  const body = { spec: { clusterInstallRef: { ...wanted } } };
  await client.patch(ClusterDeployment, keyOf(deployment), { type: 'merge', body });
}

import { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import { Secret } from '../../../api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../../api/hive/hive-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { keyOf } from '../../../api/object.ts';
import { ClusterVersion } from '../../../api/openshift/config-v1.ts';
import type { FinalizedReconciler } from '../../../kube/apply/with-finalizer.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { jsonEqual } from '../../../object/json.ts';
import { setOwnerReference } from '../../../object/owner-references.ts';
import type { WorkloadCluster } from '../workload/workload-clusters.ts';
import type { AssistedOptions, ReleaseFacts } from './assisted-options.ts';
import { boundAgents, deploymentKeyOf } from './bound-agents.ts';
import { type Delays, delaysAt } from './delays.ts';
import { isCompleted } from './install-conditions.ts';
import { adminSecrets, clusterMetadata, ensureSecret } from './install-secrets.ts';
import { installStateOf, installStep } from './install-state.ts';
import { API_BASE } from './service-urls.ts';
import { identity, patchStatus } from './status-patch.ts';
import { workloadWish } from './workload-wish.ts';

export const INSTALL_FINALIZER = 'agentclusterinstall.agent-install.openshift.io/ai-deprovision';

/** In these there is a cluster, if only a beginning of one. */
const WITH_CLUSTER = new Set([
  'installing',
  'installing-pending-user-action',
  'finalizing',
  'installed',
  'adding-hosts',
]);

/** What the installation is made of; `problem` says what is missing. */
interface Inputs {
  readonly deployment?: ClusterDeployment;
  readonly release?: ReleaseFacts & { readonly image: string };
  readonly problem?: string;
}

/** Installs a cluster on the hosts that were approved for it (S18–S21). Everything it knows is in the API. */
export class InstallReconciler implements FinalizedReconciler<AgentClusterInstall> {
  readonly #options: AssistedOptions;
  readonly #delays: Delays;
  /** By image: it never changes what it is. Bounded by the images of the lab. */
  readonly #releases = new Map<string, ReleaseFacts>();
  /** What was given to administrators, by uid: only the first look in a state asks the server. One per installation. */
  readonly #given = new Map<string, string>();

  constructor(options: AssistedOptions) {
    this.#options = options;
    this.#delays = delaysAt(options.pace);
  }

  async reconcile(install: AgentClusterInstall, context: ReconcileContext): Promise<Result> {
    const inputs = await this.#inputs(install, context);
    const { deployment } = inputs;
    if (deployment !== undefined && (await adopt(install, deployment, context))) return DONE;
    if (WITH_CLUSTER.has(installStateOf(install))) await this.#provide(install, inputs, context);
    const { status, waitMs } = installStep({
      install,
      problem: inputs.problem,
      agents: await boundAgents(context, deploymentKeyOf(install)),
      fault: this.#options.faults?.install(keyOf(install)),
      eventsUrl: this.#eventsUrl(install),
      delays: this.#delays,
      now: context.now(),
    });
    await this.#complete(install, status.debugInfo?.state ?? '');
    await patchStatus(context, AgentClusterInstall, install, status);
    announce(install, status.debugInfo, context);
    // Secrets are not watched.
    const isWaiting = inputs.problem !== undefined && installStateOf(install) === '';
    const dueMs = waitMs ?? (isWaiting ? this.#delays.pollMs : undefined);
    return dueMs === undefined ? DONE : after(dueMs);
  }

  /** Its Agents go first (S23); the cluster itself goes with them. */
  async finalize(install: AgentClusterInstall, context: ReconcileContext): Promise<'done' | Result> {
    const deployment = deploymentKeyOf(install);
    const agents = await boundAgents(context, deployment);
    for (const agent of agents) {
      if (agent.metadata.deletionTimestamp === undefined) await context.client.delete(Agent, keyOf(agent));
    }
    if (agents.length > 0) return after(this.#delays.pollMs);
    await this.#options.clusters.remove(deployment);
    this.#given.delete(install.metadata.uid ?? '');
    return 'done';
  }

  #eventsUrl({ metadata }: AgentClusterInstall): string {
    return `${this.#options.address.baseUrl}${API_BASE}/events?cluster_id=${metadata.uid ?? ''}`;
  }

  async #inputs(install: AgentClusterInstall, context: ReconcileContext): Promise<Inputs> {
    const { client, signal } = context;
    const key = deploymentKeyOf(install);
    const deployment = await client.find(ClusterDeployment, key);
    if (deployment === undefined) return { problem: `there is no ClusterDeployment ${key.name}; create it` };
    if (deployment.metadata.deletionTimestamp !== undefined)
      return { deployment, problem: `ClusterDeployment ${key.name} is being deleted` };
    const { name: secretName = '' } = deployment.spec?.pullSecretRef ?? {};
    const isRegistered = installStateOf(install) !== '';
    const pullSecret = { namespace: key.namespace ?? '', name: secretName };
    if (
      !isRegistered &&
      (secretName === '' || (await client.live.find(Secret, pullSecret, { signal })) === undefined)
    )
      return {
        deployment,
        problem: `there is no pull secret "${secretName}"; create it and name it in the ClusterDeployment`,
      };
    return { deployment, ...(await this.#release(install, context)) };
  }

  async #release(
    { spec }: AgentClusterInstall,
    { client }: ReconcileContext,
  ): Promise<Pick<Inputs, 'release' | 'problem'>> {
    const { name = '' } = spec?.imageSetRef ?? {};
    if (name === '') return { problem: 'spec.imageSetRef names no ClusterImageSet; name one' };
    const { releaseImage: image } = (await client.find(ClusterImageSet, { name }))?.spec ?? {};
    if (image === undefined) return { problem: `there is no ClusterImageSet ${name}; create it` };
    const release = this.#releases.get(image) ?? (await this.#options.versionOfImage(image));
    if (release === undefined)
      return {
        problem: `nobody has the release image ${image} of ClusterImageSet ${name}; name one that can be pulled`,
      };
    this.#releases.set(image, release);
    return { release: { ...release, image } };
  }

  /** The cluster with its API, and what administrators need for it (S20). */
  async #provide(install: AgentClusterInstall, inputs: Inputs, context: ReconcileContext): Promise<void> {
    const { deployment, release } = inputs;
    if (deployment === undefined || release === undefined) return;
    const wish = workloadWish(install, deployment, release);
    const cluster = await this.#options.clusters.ensure(keyOf(deployment), wish);
    const state = installStateOf(install);
    const { uid = '' } = install.metadata;
    const given = `${isCompleted(state)} ${cluster.kubeconfig}`;
    if (this.#given.get(uid) === given) return;
    for (const secret of adminSecrets(deployment, { state, kubeconfig: cluster.kubeconfig }))
      await ensureSecret(secret, context);
    const clusterId = await clusterIdOf(cluster, install);
    const metadata = clusterMetadata(deployment, { state, clusterId, infraId: wish.infraId });
    await this.#tell(install, metadata, context);
    this.#given.set(uid, given);
  }

  async #tell(
    install: AgentClusterInstall,
    metadata: ReturnType<typeof clusterMetadata>,
    { client, signal }: ReconcileContext,
  ): Promise<void> {
    // Plain JSON that goes to the server, or came from there.
    const [before, wanted] = [install.spec?.clusterMetadata ?? {}, metadata] as unknown as readonly [
      JsonObject,
      JsonObject,
    ];
    if (jsonEqual(before, wanted)) return;
    const body = { metadata: identity(install), spec: { clusterMetadata: wanted } };
    await client.patch(AgentClusterInstall, keyOf(install), { type: 'merge', body }, { signal });
  }

  /** The cluster says so itself before anybody else does. */
  async #complete(install: AgentClusterInstall, state: string): Promise<void> {
    if (state !== 'installed') return;
    await this.#options.clusters.find(deploymentKeyOf(install))?.installCompleted();
  }
}

/** The ClusterDeployment is one of its owners. True when that had to be written: the event of it comes. */
async function adopt(
  install: AgentClusterInstall,
  deployment: ClusterDeployment,
  { client, signal }: ReconcileContext,
): Promise<boolean> {
  const { uid, ownerReferences = [], resourceVersion = '' } = install.metadata;
  if (ownerReferences.some((owner) => owner.uid === deployment.metadata.uid)) return false;
  const owned = setOwnerReference(deployment, install, { kind: ClusterDeployment });
  // A list is replaced whole: only in the version it was made for.
  const body = {
    metadata: {
      ...(uid !== undefined && { uid }),
      resourceVersion,
      ownerReferences: owned.metadata.ownerReferences ?? [],
    },
  } as unknown as JsonObject;
  await client.patch(AgentClusterInstall, keyOf(install), { type: 'merge', body }, { signal });
  return true;
}

/** The cluster's own, where it has one. */
async function clusterIdOf({ client }: WorkloadCluster, { metadata }: AgentClusterInstall): Promise<string> {
  const version = await client.find(ClusterVersion, { name: 'version' }).catch(() => undefined);
  return version?.spec?.clusterID ?? metadata.uid ?? '';
}

function announce(
  install: AgentClusterInstall,
  told: { readonly state?: string; readonly stateInfo?: string } | undefined,
  { events }: ReconcileContext,
): void {
  const { state = '', stateInfo = '' } = told ?? {};
  if (state === installStateOf(install) || state === '') return;
  if (state === 'error') events.warning(install, 'InstallationFailed', stateInfo);
  else events.normal(install, 'StateChanged', `The installation is ${state}: ${stateInfo}`);
}

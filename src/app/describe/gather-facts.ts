import { Agent, InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { CLUSTER_NAME_LABEL, Machine, MachineDeployment, MachineSet } from '../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../api/hive/hive-v1.ts';
import { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { ClusterFacts, NodeFacts } from './facts.ts';
import type { FoundCluster } from './find-cluster.ts';
import type { Hub, Listing, ListTarget } from './hub.ts';
import {
  type GroupKind,
  isAssistedConfig,
  isAssistedControlPlane,
  isMetal3Machine,
  kindText,
} from './known-kinds.ts';
import { isBeingDeleted, isTrueAt, type Reference, referenceAt, textAt } from './object-fields.ts';
import { isTold } from './told-condition.ts';

export interface GatherOptions {
  readonly hub: Hub;
  /** Kinds, too, that only `--all` shows and documents hold. */
  readonly isComplete: boolean;
  /** Asked once the control plane is there. */
  readonly readNodes: (cluster: KubeObject) => Promise<NodeFacts>;
  readonly now: () => Date;
}

/**
 * Reads what belongs to a cluster, in lists: twelve for one on bare metal (experience X46), whatever the number of its
 * Machines. What would only repeat others is left out unless everything is wanted.
 */
export async function gatherFacts(found: FoundCluster, options: GatherOptions): Promise<ClusterFacts> {
  const { hub, readNodes, now, isComplete } = options;
  const { cluster } = found;
  const { name, namespace = '' } = cluster.metadata;
  const reading = new Reading(hub, namespace);
  reading.keep({ group: 'cluster.x-k8s.io', kind: 'Cluster' }, found.listing);
  const ofCluster = { labels: { [CLUSTER_NAME_LABEL]: name } };
  const refs = [referenceAt(cluster, 'spec', 'infrastructureRef'), controlPlaneOf(cluster)];
  const isAgentWay = refs.some((ref) => ref !== undefined && isAssistedControlPlane(ref));
  const nodes = isUp(cluster) ? readNodes(cluster) : Promise.resolve<NodeFacts>({ type: 'none' });
  // A failure is for whoever awaits it below; until then it must not be nobody's.
  nodes.catch(() => {});
  await Promise.all([
    reading.list(Machine, ofCluster),
    reading.list(MachineDeployment, ofCluster),
    ...(isComplete ? [reading.list(MachineSet, ofCluster)] : []),
    ...refs.flatMap((ref) => (ref === undefined ? [] : [reading.named(ref)])),
    ...(isAgentWay ? [reading.list(AgentClusterInstall)] : []),
  ]);
  await readParts(reading, ofCluster, isComplete);
  if (isAgentWay && (isComplete || isInstallGone(reading, refs))) await reading.list(ClusterDeployment);
  if (isAgentWay && isComplete) await reading.listAnywhere(ClusterImageSet);
  return { at: now(), cluster, listings: reading.listings, nodes: await nodes };
}

const controlPlaneOf = (cluster: KubeObject): Reference | undefined =>
  referenceAt(cluster, 'spec', 'controlPlaneRef');

/** What Machines are made of. */
async function readParts(reading: Reading, ofCluster: Partial<ListTarget>, isComplete: boolean): Promise<void> {
  const machines = reading.objects(Machine);
  const configs = kindsAt(machines, 'spec', 'bootstrap', 'configRef');
  const infrastructure = kindsAt(machines, 'spec', 'infrastructureRef');
  const isAgentWay = configs.some(isAssistedConfig);
  // Of a Machine that has its Node, the bootstrap data is spent.
  const needsSecrets =
    isComplete || machines.some((machine) => textAt(machine, 'status', 'nodeRef', 'name') === '');
  await Promise.all([
    ...[...configs, ...infrastructure].map((kind) => reading.list(kind)),
    ...(isAgentWay ? [reading.list(InfraEnv), reading.list(Agent)] : []),
    ...(infrastructure.some(isMetal3Machine) ? [reading.list(BareMetalHost)] : []),
    ...(needsSecrets && machines.length > 0 ? [reading.list(Secret, { ...ofCluster, metadataOnly: true })] : []),
  ]);
}

function kindsAt(machines: readonly KubeObject[], ...path: readonly string[]): readonly GroupKind[] {
  const kinds = machines.flatMap((machine) => {
    const ref = referenceAt(machine, ...path);
    return ref === undefined ? [] : [[kindText(ref), { group: ref.group, kind: ref.kind }] as const];
  });
  return [...new Map(kinds).values()];
}

/** Where the installation is missing or going, its ClusterDeployment tells why; else it only repeats it. */
function isInstallGone(reading: Reading, refs: readonly (Reference | undefined)[]): boolean {
  const installs = reading.objects(AgentClusterInstall);
  const owners = refs.flatMap((ref) => (ref === undefined ? [] : reading.objects(ref)));
  return installs.length === 0 || [...installs, ...owners].some(isBeingDeleted);
}

/** Whether there is an API server to ask, in the words of both contracts. */
const isUp = (cluster: KubeObject): boolean =>
  isTrueAt(cluster, 'status', 'initialization', 'controlPlaneInitialized') ||
  isTrueAt(cluster, 'status', 'controlPlaneReady') ||
  isTold(cluster, 'ControlPlaneInitialized', 'True');

/** Lists as they come in. */
class Reading {
  readonly #hub: Hub;
  readonly #namespace: string;
  readonly listings = new Map<string, Listing>();

  constructor(hub: Hub, namespace: string) {
    this.#hub = hub;
    this.#namespace = namespace;
  }

  keep(kind: GroupKind, listing: Listing): void {
    this.listings.set(kindText(kind), listing);
  }

  objects(kind: GroupKind): readonly KubeObject[] {
    return this.listings.get(kindText(kind))?.objects ?? [];
  }

  async list(kind: GroupKind, options: Partial<ListTarget> = {}): Promise<void> {
    const target = { ...options, group: kind.group, kind: kind.kind, namespace: this.#namespace };
    this.keep(kind, await this.#hub.list(target));
  }

  async named({ name, ...kind }: Reference): Promise<void> {
    await this.list(kind, { fields: `metadata.name=${name}` });
  }

  async listAnywhere({ group, kind }: GroupKind): Promise<void> {
    this.keep({ group, kind }, await this.#hub.list({ group, kind }));
  }
}

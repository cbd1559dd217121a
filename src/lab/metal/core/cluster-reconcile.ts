import {
  type ApiEndpoint,
  CLUSTER_FINALIZER,
  CLUSTER_NAME_LABEL,
  Cluster,
  type ContractReference,
  Machine,
} from '../../../api/cluster-api/core-v1beta2.ts';
import { keyOf } from '../../../api/object.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { deleteInOrder, isControlPlane } from './cluster-deletion.ts';
import { type ClusterFacts, desiredClusterStatus, newEndpoint } from './cluster-desired.ts';
import { isPaused, tellPaused } from './cluster-scope.ts';
import type { External, ExternalObjects } from './external-objects.ts';
import { claimedByCluster } from './machine-claim.ts';
import { writeChanges } from './write-changes.ts';

/** While an object that the Cluster refers to is missing: nobody tells when it comes. */
const SOON_MS = 10_000;

/** Brings together the infrastructure and the control plane of a Cluster (S1–S3), and takes both down (S10). */
export class ClusterReconciler implements Reconciler<Cluster> {
  readonly #externals: ExternalObjects;

  constructor(externals: ExternalObjects) {
    this.#externals = externals;
  }

  async reconcile(stored: Cluster, context: ReconcileContext): Promise<Result> {
    if (isPaused(stored, stored)) return tellPaused(Cluster, stored, context);
    if (stored.metadata.deletionTimestamp !== undefined) return this.#delete(stored, context);
    const cluster = await context.client.addFinalizer(Cluster, stored, CLUSTER_FINALIZER);
    const { infrastructureRef, controlPlaneRef } = cluster.spec ?? {};
    const infrastructure = await this.#claimed(cluster, infrastructureRef, context);
    const controlPlane = await this.#claimed(cluster, controlPlaneRef, context);
    const facts: ClusterFacts = { infrastructure, controlPlane, workers: await workersOf(cluster, context) };
    await tell(cluster, facts, context);
    const isMissing =
      (infrastructureRef !== undefined && infrastructure === undefined) ||
      (controlPlaneRef !== undefined && controlPlane === undefined);
    return isMissing ? after(SOON_MS) : DONE;
  }

  async #delete(cluster: Cluster, context: ReconcileContext): Promise<Result> {
    if (cluster.metadata.finalizers?.includes(CLUSTER_FINALIZER) !== true) return DONE;
    const deletion = await deleteInOrder(cluster, this.#externals, context);
    if (deletion === undefined) {
      await context.client.removeFinalizer(Cluster, cluster, CLUSTER_FINALIZER);
      return DONE;
    }
    await tell(cluster, { infrastructure: undefined, controlPlane: undefined, workers: [], deletion }, context);
    return after(SOON_MS);
  }

  async #claimed(
    cluster: Cluster,
    reference: ContractReference | undefined,
    context: ReconcileContext,
  ): Promise<External | undefined> {
    if (reference === undefined) return undefined;
    const found = await this.#externals.find(reference, cluster.metadata.namespace ?? '', context);
    if (found === undefined || found.object.metadata.deletionTimestamp !== undefined) return found;
    return this.#externals.claim(found, (object) => claimedByCluster(object, cluster), context);
  }
}

async function workersOf(cluster: Cluster, { client }: ReconcileContext): Promise<readonly Machine[]> {
  const { namespace = '', name } = cluster.metadata;
  const { items } = await client.list(Machine, { namespace, labels: { [CLUSTER_NAME_LABEL]: name } });
  return items.filter((machine) => !isControlPlane(machine));
}

async function tell(stored: Cluster, facts: ClusterFacts, context: ReconcileContext): Promise<void> {
  // Before the status: whoever sees that the infrastructure is there also sees the endpoint.
  const cluster = await locate(stored, newEndpoint(stored, facts), context);
  const { client, now } = context;
  await writeChanges(client, Cluster, cluster, { status: desiredClusterStatus(cluster, facts, now()) });
}

async function locate(
  cluster: Cluster,
  endpoint: ApiEndpoint | undefined,
  { client }: ReconcileContext,
): Promise<Cluster> {
  if (endpoint === undefined) return cluster;
  const body = { spec: { controlPlaneEndpoint: { ...endpoint } } };
  return client.patch(Cluster, keyOf(cluster), { type: 'merge', body });
}

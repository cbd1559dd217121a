import { CLUSTER_NAME_LABEL, Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { Metal3Cluster } from '../../../api/metal3/infrastructure-v1beta2.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { isPaused, tellPaused } from '../core/cluster-scope.ts';
import { condition, paused, type Told, toldStatus, v1beta1 } from '../core/told-conditions.ts';
import { writeChanges } from '../core/write-changes.ts';
import { provisionedFlags } from './provisioned-flags.ts';

const METAL3_CLUSTER_FINALIZER = 'metal3cluster.infrastructure.cluster.x-k8s.io';
const AGAIN_MS = 30_000;

/** There is nothing to provision for a cluster of hosts: it is enough to know where its API server will be (S11). */
export class Metal3ClusterReconciler implements Reconciler<Metal3Cluster> {
  async reconcile(stored: Metal3Cluster, context: ReconcileContext): Promise<Result> {
    const cluster = await clusterOf(stored, context);
    if (cluster !== undefined && isPaused(cluster, stored)) return tellPaused(Metal3Cluster, stored, context);
    if (stored.metadata.deletionTimestamp !== undefined) return remove(stored, context);
    const metal3Cluster = await context.client.addFinalizer(Metal3Cluster, stored, METAL3_CLUSTER_FINALIZER);
    if (cluster !== undefined) await tell(metal3Cluster, context);
    return DONE;
  }
}

async function clusterOf(
  { metadata: { namespace = '', ownerReferences = [] } }: Metal3Cluster,
  { client }: ReconcileContext,
): Promise<Cluster | undefined> {
  const owner = ownerReferences.find(
    ({ kind, apiVersion }) => kind === 'Cluster' && apiVersion.startsWith(`${Cluster.group}/`),
  );
  return owner === undefined ? undefined : client.find(Cluster, { namespace, name: owner.name });
}

async function tell(metal3Cluster: Metal3Cluster, { client, now }: ReconcileContext): Promise<void> {
  const { host = '', port = 0 } = metal3Cluster.spec?.controlPlaneEndpoint ?? {};
  const isProvisioned = host !== '' && port > 0;
  await writeChanges(client, Metal3Cluster, metal3Cluster, {
    status: {
      ...metal3Cluster.status,
      ...toldStatus(metal3Cluster, toldOf(isProvisioned), now()),
      ...(isProvisioned && provisionedFlags(metal3Cluster.status)),
    },
  });
}

function toldOf(isProvisioned: boolean): Told {
  const message = 'spec.controlPlaneEndpoint has no host or no port; set both';
  return {
    conditions: [
      isProvisioned
        ? condition('Ready', { status: 'True', reason: 'Ready' })
        : condition('Ready', { status: 'False', reason: 'NotReady', message }),
      paused(false),
    ],
    v1beta1: [v1beta1('BaremetalInfrastructureReady', isProvisioned, 'ControlPlaneEndpointFailed', message)],
  };
}

/** Machines of the cluster need it until they are gone. */
async function remove(metal3Cluster: Metal3Cluster, { client }: ReconcileContext): Promise<Result> {
  const { namespace = '', labels = {}, finalizers = [] } = metal3Cluster.metadata;
  if (!finalizers.includes(METAL3_CLUSTER_FINALIZER)) return DONE;
  const { [CLUSTER_NAME_LABEL]: name } = labels;
  const { items } =
    name === undefined
      ? { items: [] }
      : await client.list(Machine, { namespace, labels: { [CLUSTER_NAME_LABEL]: name } });
  if (items.length > 0) return after(AGAIN_MS);
  await client.removeFinalizer(Metal3Cluster, metal3Cluster, METAL3_CLUSTER_FINALIZER);
  return DONE;
}

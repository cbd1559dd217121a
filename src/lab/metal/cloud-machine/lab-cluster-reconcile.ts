import { Cluster } from '../../../api/cluster-api/core-v1beta2.ts';
import { LabCluster } from '../../../api/lab-infrastructure/infrastructure-v1beta2.ts';
import { DONE, type ReconcileContext, type Reconciler, type Result } from '../../../kube/controller/reconcile.ts';
import { isPaused, tellPaused } from '../core/cluster-scope.ts';
import { condition, paused, type Told, toldStatus, v1beta1 } from '../core/told-conditions.ts';
import { writeChanges } from '../core/write-changes.ts';

/** The cloud needs nothing for a cluster: it is enough to know where its API server will be. */
export class LabClusterReconciler implements Reconciler<LabCluster> {
  async reconcile(labCluster: LabCluster, context: ReconcileContext): Promise<Result> {
    if (labCluster.metadata.deletionTimestamp !== undefined) return DONE;
    const { namespace = '', ownerReferences = [] } = labCluster.metadata;
    const owner = ownerReferences.find(({ kind }) => kind === Cluster.kind);
    const cluster =
      owner === undefined ? undefined : await context.client.find(Cluster, { namespace, name: owner.name });
    if (cluster === undefined) return DONE;
    if (isPaused(cluster, labCluster)) return tellPaused(LabCluster, labCluster, context);
    await writeChanges(context.client, LabCluster, labCluster, { status: statusOf(labCluster, context.now()) });
    return DONE;
  }
}

function statusOf(labCluster: LabCluster, now: Date): NonNullable<LabCluster['status']> {
  const { controlPlaneEndpoint: { host = '', port = 0 } = {}, zones = [] } = labCluster.spec ?? {};
  const isProvisioned = host !== '' && port > 0;
  return {
    ...labCluster.status,
    ...toldStatus(labCluster, toldOf(isProvisioned), now),
    ...(zones.length > 0 && { failureDomains: zones.map((name) => ({ name, controlPlane: true })) }),
    ...(isProvisioned && { initialization: { provisioned: true } }),
  };
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
    v1beta1: [v1beta1('Ready', isProvisioned, 'NotReady', message)],
  };
}

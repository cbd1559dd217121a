import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { CLUSTER_NAME_LABEL } from '../../api/cluster-api/core-v1beta2.ts';
import { messageOf } from '../../base/errors.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../kube/controller/reconcile.ts';
import { findCondition } from '../../object/conditions.ts';
import {
  AVAILABLE,
  isMet,
  isUnmet,
  KUBECONFIG_AVAILABLE,
  OF_CLUSTER_INSTALL_CONTROLLER,
} from '../control-plane/conditions.ts';
import type { ControlPlaneMetrics } from '../control-plane/control-plane-metrics.ts';
import {
  controlPlaneKeyOf,
  findOwnerCluster,
  isWatched,
  ownerClusterName,
  pauseReason,
} from '../control-plane/ownership.ts';
import { isPassing, StatusReport } from '../control-plane/status-report.ts';
import { availability, isInstalled } from './availability.ts';
import { publishKubeconfig } from './kubeconfig.ts';

/** Nothing tells of a kubeconfig that was written anew: to read all Secrets for that would be too much. */
const REREAD_MS = 600_000;

interface Scope {
  readonly install: AgentClusterInstall;
  readonly object: OpenshiftAssistedControlPlane;
  readonly context: ReconcileContext;
  readonly report: StatusReport;
}

/** Tells core how far the installation is, and gives it the kubeconfig (K). */
export class ClusterInstallReconciler implements Reconciler<AgentClusterInstall> {
  readonly #metrics: ControlPlaneMetrics | undefined;
  readonly #watchFilter: string | undefined;

  constructor(metrics: ControlPlaneMetrics | undefined, watchFilter: string | undefined) {
    this.#metrics = metrics;
    this.#watchFilter = watchFilter;
  }

  async reconcile(install: AgentClusterInstall, context: ReconcileContext): Promise<Result> {
    const key = controlPlaneKeyOf(install);
    // Of another installer: a hub has many (X12).
    if (key === undefined) return DONE;
    const object = await context.client.find(OpenshiftAssistedControlPlane, key);
    if (object === undefined || !isWatched(object, this.#watchFilter)) return DONE;
    if (object.metadata.deletionTimestamp !== undefined) return DONE;
    if (pauseReason(await findOwnerCluster(context.client, object), object) !== undefined) return DONE;
    const report = new StatusReport(object, context, { owned: OF_CLUSTER_INSTALL_CONTROLLER });
    const result = await report.around(() => this.#tell({ install, object, context, report }));
    this.#measure({ install, object, context, report });
    return result;
  }

  async #tell({ install, object, context, report }: Scope): Promise<Result> {
    report.say(availability(install));
    if (isInstalled(install)) report.set({ initialization: { controlPlaneInitialized: true } });
    const source = install.spec?.clusterMetadata?.adminKubeconfigSecretRef?.name ?? '';
    const clusterName = object.metadata.labels?.[CLUSTER_NAME_LABEL] ?? ownerClusterName(object);
    if (source === '' || clusterName === undefined) {
      report.say(isUnmet(KUBECONFIG_AVAILABLE, 'KubeconfigUnavailable', 'Kubeconfig not available'));
      return DONE;
    }
    try {
      await publishKubeconfig(context.client, { object, clusterName, source });
    } catch (error) {
      if (!isPassing(error)) report.say(isUnmet(KUBECONFIG_AVAILABLE, 'KubeconfigUnavailable', messageOf(error)));
      throw error;
    }
    report.say(isMet(KUBECONFIG_AVAILABLE));
    report.set({ initialization: { controlPlaneInitialized: true } });
    return after(REREAD_MS);
  }

  /** Once: when it turned from installing to available. */
  #measure({ install, object, context, report }: Scope): void {
    const isNew =
      findCondition(object, AVAILABLE)?.reason === 'ControlPlaneInstalling' &&
      report.said(AVAILABLE)?.status === 'True';
    const { creationTimestamp } = install.metadata;
    if (!isNew || typeof creationTimestamp !== 'string') return;
    this.#metrics?.installed((context.now().getTime() - Date.parse(creationTimestamp)) / 1000);
  }
}

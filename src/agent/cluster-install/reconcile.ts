import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { CLUSTER_NAME_LABEL } from '../../api/cluster-api/core-v1beta2.ts';
import type { Json } from '../../api/json.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../kube/controller/reconcile.ts';
import { findCondition } from '../../object/conditions.ts';
import { RecentLooks } from '../cluster-facts/recent-looks.ts';
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
import { availability, installState, isInstalled } from './availability.ts';
import { type KubeconfigFacts, publishKubeconfig } from './kubeconfig.ts';

/** Nothing tells of a kubeconfig that was written anew: to read all Secrets for that would be too much. */
const REREAD_MS = 600_000;

export interface ClusterInstallOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly metrics: ControlPlaneMetrics | undefined;
  readonly watchFilter: string | undefined;
}

interface Scope {
  readonly install: AgentClusterInstall;
  readonly object: OpenshiftAssistedControlPlane;
  readonly context: ReconcileContext;
  readonly report: StatusReport;
}

/** Tells core how far the installation is, and gives it the kubeconfig (K). */
export class ClusterInstallReconciler implements Reconciler<AgentClusterInstall> {
  readonly #options: ClusterInstallOptions;
  readonly #looks: RecentLooks;

  constructor(options: ClusterInstallOptions) {
    this.#options = options;
    this.#looks = new RecentLooks({ clock: options.clock, lifeMs: REREAD_MS });
  }

  async reconcile(install: AgentClusterInstall, context: ReconcileContext): Promise<Result> {
    const key = controlPlaneKeyOf(install);
    // Of another installer: a hub has many (X12).
    if (key === undefined) return DONE;
    const object = await context.client.find(OpenshiftAssistedControlPlane, key);
    if (object === undefined || !isWatched(object, this.#options.watchFilter)) return DONE;
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
      await this.#publish({ object, clusterName, source }, { install, context });
    } catch (error) {
      if (!isPassing(error)) report.say(isUnmet(KUBECONFIG_AVAILABLE, 'KubeconfigUnavailable', messageOf(error)));
      throw error;
    }
    report.say(isMet(KUBECONFIG_AVAILABLE));
    report.set({ initialization: { controlPlaneInitialized: true } });
    return after(Math.max(1, this.#looks.remainingMs(uidOf(object), looksFor(object, install))));
  }

  /** Progress is told often, and is no reason to read Secrets again. */
  async #publish(facts: KubeconfigFacts, { install, context }: Pick<Scope, 'install' | 'context'>): Promise<void> {
    const { object } = facts;
    const [uid, wanted] = [uidOf(object), looksFor(object, install)];
    if (this.#looks.remainingMs(uid, wanted) > 0) return;
    await publishKubeconfig(context.client, facts);
    this.#looks.remember(uid, wanted);
  }

  /** Once: when it turned from installing to available. */
  #measure({ install, object, context, report }: Scope): void {
    const isNew =
      findCondition(object, AVAILABLE)?.reason === 'ControlPlaneInstalling' &&
      report.said(AVAILABLE)?.status === 'True';
    const { creationTimestamp } = install.metadata;
    if (!isNew || typeof creationTimestamp !== 'string') return;
    this.#options.metrics?.installed((context.now().getTime() - Date.parse(creationTimestamp)) / 1000);
  }
}

const uidOf = ({ metadata: { uid = '' } }: OpenshiftAssistedControlPlane): string => uid;

/**
 * What brings another look at both Secrets before its time: assisted-service writes the kubeconfig anew when the
 * installation has come further (X21), and people who want something done touch the control plane.
 */
function looksFor({ metadata }: OpenshiftAssistedControlPlane, install: AgentClusterInstall): Json {
  const { generation = 0, labels = {}, annotations = {}, ownerReferences = [] } = metadata;
  const source = install.spec?.clusterMetadata?.adminKubeconfigSecretRef?.name ?? '';
  const owners = ownerReferences.map(({ name }) => name);
  return [source, installState(install), generation, { ...labels }, { ...annotations }, owners];
}

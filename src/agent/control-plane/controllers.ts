import { type Clock, SystemClock } from '../../base/clock.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import type { Metrics } from '../../kube/metrics/metrics.ts';
import { ClusterDeploymentReconciler } from '../cluster-deployment/reconcile.ts';
import { clusterDeploymentController } from '../cluster-deployment/watches.ts';
import { ClusterInstallReconciler } from '../cluster-install/reconcile.ts';
import { clusterInstallController } from '../cluster-install/watches.ts';
import { Replicas } from '../machines/replicas.ts';
import type { ReleaseImages } from '../release/release-images.ts';
import { Upgrades, type WorkloadConnector } from '../upgrade/upgrades.ts';
import { ControlPlaneMetrics } from './control-plane-metrics.ts';
import { ControlPlaneReconciler } from './reconcile.ts';
import { ReleaseFacts } from './release-facts.ts';
import { controlPlaneController, type InfrastructureKind, METAL3 } from './watches.ts';

export interface ControlPlaneOptions {
  readonly releases: ReleaseImages;
  readonly connectWorkload: WorkloadConnector;
  /** Only objects whose label `cluster.x-k8s.io/watch-filter` has this value; all unless told otherwise. */
  readonly watchFilter?: string;
  /** For names of Machines and for what is remembered; that of the machine unless told otherwise. */
  readonly clock?: Clock;
  /** Nothing is counted unless told where. */
  readonly metrics?: Metrics;
  /** Whose machines may be made; Metal3's unless told otherwise. */
  readonly infrastructure?: readonly InfrastructureKind[];
}

/** The control-plane provider: what makes OpenShift control planes out of Clusters, with assisted-service. */
export function controlPlaneControllers(options: ControlPlaneOptions): readonly Controller[] {
  const { releases, connectWorkload, watchFilter, clock = new SystemClock(), infrastructure = [METAL3] } = options;
  const facts = new ReleaseFacts(releases, clock);
  const metrics = options.metrics === undefined ? undefined : new ControlPlaneMetrics(options.metrics);
  const controlPlane = new ControlPlaneReconciler({
    facts,
    replicas: new Replicas(clock),
    upgrades: new Upgrades(connectWorkload, facts, clock),
    metrics,
    watchFilter,
  });
  return [
    controlPlaneController(controlPlane, infrastructure),
    clusterDeploymentController(new ClusterDeploymentReconciler(facts, watchFilter)),
    clusterInstallController(new ClusterInstallReconciler({ clock, metrics, watchFilter })),
  ];
}

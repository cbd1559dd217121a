import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { CONTROL_PLANE_FINALIZER, OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { messageOf, SlipwayError, userError } from '../../base/errors.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../kube/controller/reconcile.ts';
import { isTrue } from '../../object/conditions.ts';
import type { Replicas } from '../machines/replicas.ts';
import { architectureOf, unsupportedVersion } from '../release/release-image.ts';
import type { UpgradeOutcome, Upgrades } from '../upgrade/upgrades.ts';
import { askedVersionProblem, isVersionReached } from './asked-version.ts';
import { ensureClusterDeployment } from './cluster-deployment.ts';
import {
  DELETING,
  isMet,
  isUnmet,
  KUBECONFIG_AVAILABLE,
  KUBERNETES_VERSION_AVAILABLE,
  MACHINES_CREATED,
  OF_CONTROL_PLANE_CONTROLLER,
  PAUSED,
  readySummary,
  UPGRADE_AVAILABLE,
} from './conditions.ts';
import type { ControlPlaneMetrics } from './control-plane-metrics.ts';
import { takeApart } from './deletion.ts';
import { machineSelector } from './labels.ts';
import { findOwnerCluster, hasSpec, isWatched, pauseReason } from './ownership.ts';
import { ensurePullSecret, readPullSecret } from './pull-secret.ts';
import { clusterConfigs, type ReleaseFacts, releaseImageOf } from './release-facts.ts';
import { isPassing, StatusReport } from './status-report.ts';

const NO_SPEC = 'spec is missing; give it a distributionVersion and a machineTemplate';
const WAIT_FOR_CLUSTER_MS = 10_000;
const WAIT_FOR_INFRASTRUCTURE_MS = 20_000;

export interface ControlPlaneParts {
  readonly facts: ReleaseFacts;
  readonly replicas: Replicas;
  readonly upgrades: Upgrades;
  readonly metrics: ControlPlaneMetrics | undefined;
  readonly watchFilter: string | undefined;
}

interface Scope {
  readonly object: OpenshiftAssistedControlPlane;
  readonly context: ReconcileContext;
  readonly report: StatusReport;
}

/** Brings a control plane from a Cluster to Machines that assisted-service installs, and keeps it at its version. */
export class ControlPlaneReconciler implements Reconciler<OpenshiftAssistedControlPlane> {
  readonly #parts: ControlPlaneParts;

  constructor(parts: ControlPlaneParts) {
    this.#parts = parts;
  }

  async reconcile(found: OpenshiftAssistedControlPlane, context: ReconcileContext): Promise<Result> {
    const { watchFilter, replicas, metrics } = this.#parts;
    if (!isWatched(found, watchFilter)) return DONE;
    const options = { owned: OF_CONTROL_PLANE_CONTROLLER, summary: readySummary, isObserver: true };
    if (found.metadata.deletionTimestamp !== undefined) {
      metrics?.gone(found);
      const report = new StatusReport(found, context, options);
      return takeApart({ object: found, context, report }, replicas);
    }
    const object = await context.client.addFinalizer(
      OpenshiftAssistedControlPlane,
      found,
      CONTROL_PLANE_FINALIZER,
    );
    const report = new StatusReport(object, context, options);
    return report.around(() => this.#prepare({ object, context, report }));
  }

  /** C3–C7: what has to be there before anything is made. */
  async #prepare(scope: Scope): Promise<Result> {
    const { object, context, report } = scope;
    report.say(isUnmet(DELETING, 'NotDeleting', ''));
    const unusable = hasSpec(object) ? unsupportedVersion(object.spec.distributionVersion) : NO_SPEC;
    if (unusable !== undefined) {
      report.say(isUnmet(MACHINES_CREATED, 'MachineGenerationFailed', unusable));
      return DONE;
    }
    const cluster = await findOwnerCluster(context.client, object);
    if (cluster === undefined) return waiting(report, 'WaitingForCluster', WAIT_FOR_CLUSTER_MS);
    const paused = pauseReason(cluster, object);
    report.say(paused === undefined ? isUnmet(PAUSED, 'NotPaused', '') : isMet(PAUSED, paused));
    if (paused !== undefined) return DONE;
    const missing = missingInfrastructure(cluster);
    if (missing !== undefined) return waiting(report, missing, WAIT_FOR_INFRASTRUCTURE_MS);
    return this.#install(scope, cluster);
  }

  async #install(scope: Scope, cluster: Cluster): Promise<Result> {
    const { object, context, report } = scope;
    const { client } = context;
    await this.#told(report, () => ensurePullSecret(client, object));
    await this.#told(report, () => ensureClusterDeployment(client, object, cluster.metadata.name));
    report.set({ selector: machineSelector(object, cluster.metadata.name) });
    const configs = await clusterConfigs(client, object);
    const problems: unknown[] = [];
    const keep = (error: unknown): undefined => void problems.push(error);
    const version = await this.#kubernetesVersion(scope, configs).catch(keep);
    // Nothing is made from an image that cannot be read; what runs goes on without it (X22).
    if (problems.length > 0 && !isInitialized(object)) throw problems[0];
    await this.#told(report, () => judgeAskedVersion(object, version, report));
    await this.#scale(scope, cluster, configs).catch(keep);
    const { fields, requeueAfterMs } = await this.#upgrade(scope, cluster, configs);
    if (version !== undefined && isVersionReached(object, fields.distributionVersion)) report.set({ version });
    if (problems.length > 0) throw problems[0];
    return requeueAfterMs === undefined ? DONE : after(requeueAfterMs);
  }

  /** What stands in the way of Machines is told where people look for them. */
  async #told(report: StatusReport, act: () => void | Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (error instanceof SlipwayError && !isPassing(error))
        report.say(isUnmet(MACHINES_CREATED, error.reason, error.message));
      throw error;
    }
  }

  /** C10 with X22: the version of Kubernetes that the wanted release has. */
  async #kubernetesVersion(
    { object, context, report }: Scope,
    configs: readonly OpenshiftAssistedConfig[],
  ): Promise<string> {
    const image = releaseImageOf(object, architectureOf(configs));
    const pullSecret = () => readPullSecret(context.client, object);
    try {
      const version = await this.#parts.facts.kubernetesVersion({
        object,
        image,
        pullSecret,
        signal: context.signal,
      });
      report.say(isMet(KUBERNETES_VERSION_AVAILABLE));
      return version;
    } catch (error) {
      if (isPassing(error)) throw error;
      const message = `failed to get k8s version from release image: ${messageOf(error)}`;
      report.say(isUnmet(KUBERNETES_VERSION_AVAILABLE, 'KubernetesVersionUnavailable', message));
      if (error instanceof SlipwayError && error.reason === 'ReleaseImageNotFound')
        report.say(
          isUnmet(UPGRADE_AVAILABLE, 'UpgradeImageUnavailable', `upgrade unavailable: ${messageOf(error)}`),
        );
      throw error;
    }
  }

  async #scale(scope: Scope, cluster: Cluster, configs: readonly OpenshiftAssistedConfig[]): Promise<void> {
    const machines = await this.#parts.replicas.reconcile({ ...scope, cluster, configs });
    this.#parts.metrics?.machines(scope.object, machines);
  }

  async #upgrade(
    { object, context, report }: Scope,
    cluster: Cluster,
    configs: readonly OpenshiftAssistedConfig[],
  ): Promise<UpgradeOutcome> {
    // Nobody can ask the cluster before (C11).
    if (!isTrue(object, KUBECONFIG_AVAILABLE)) return { conditions: [], fields: {} };
    const image = releaseImageOf(object, architectureOf(configs));
    const outcome = await this.#parts.upgrades.reconcile({ object, cluster, image, context });
    report.set(outcome.fields);
    report.say(...outcome.conditions);
    return outcome;
  }
}

/** Throws before anything is made for a version that core would wait for in vain; later it only tells. */
function judgeAskedVersion(
  object: OpenshiftAssistedControlPlane,
  version: string | undefined,
  report: StatusReport,
): void {
  if (version === undefined) return;
  const problem = askedVersionProblem(object, version);
  if (problem === undefined) {
    if (report.said(UPGRADE_AVAILABLE)?.status === 'False') report.say(isMet(UPGRADE_AVAILABLE));
    return;
  }
  if (!isInitialized(object)) throw userError('KubernetesVersionTooNew', problem);
  report.say(isUnmet(UPGRADE_AVAILABLE, 'KubernetesVersionTooNew', problem));
}

const isInitialized = ({ status }: OpenshiftAssistedControlPlane): boolean =>
  status?.initialization?.controlPlaneInitialized === true;

/** C6, C7. */
function missingInfrastructure({ spec, status }: Cluster): string | undefined {
  const { host = '', port = 0 } = spec?.controlPlaneEndpoint ?? {};
  if (host === '' || port === 0) return 'WaitingForControlPlaneEndpoint';
  return status?.initialization?.infrastructureProvisioned === true
    ? undefined
    : 'WaitingForClusterInfrastructure';
}

const WAITS_FOR: Readonly<Record<string, string>> = {
  WaitingForCluster: 'no Cluster owns this control plane yet; name it in spec.controlPlaneRef of a Cluster',
  WaitingForControlPlaneEndpoint:
    'the Cluster has no spec.controlPlaneEndpoint yet; its infrastructure gives it one',
  WaitingForClusterInfrastructure: 'the infrastructure of the Cluster is not provisioned yet',
};

function waiting(report: StatusReport, reason: string, ms: number): Result {
  report.say(isUnmet(MACHINES_CREATED, reason, WAITS_FOR[reason] ?? reason));
  return after(ms);
}

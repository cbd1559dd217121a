import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { ClusterVersion } from '../../api/openshift/config-v1.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, retryError } from '../../base/errors.ts';
import { isLeadershipLost } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { mergeFrom } from '../../kube/client/patches.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile.ts';
import { withDeadline } from '../../kube/deadline.ts';
import { type ConditionFields, findCondition } from '../../object/conditions.ts';
import { isUnmet, UPGRADE_COMPLETED } from '../control-plane/conditions.ts';
import { namespaceOf } from '../control-plane/ownership.ts';
import { readPullSecret } from '../control-plane/pull-secret.ts';
import { type ReleaseFacts, repositoryOverride } from '../control-plane/release-facts.ts';
import { ExpiringCache } from '../release/expiring-cache.ts';
import { isDefaultRepository, isGeneralAvailability } from '../release/release-image.ts';
import { type DesiredUpdate, isRequested, upgradeConditions, upgradeStep, versionProgress } from './plan.ts';

/** To a workload cluster; rejects when it cannot. */
export type WorkloadConnector = (kubeconfig: string) => Promise<KubeClient>;

export interface UpgradeScope {
  readonly object: OpenshiftAssistedControlPlane;
  readonly cluster: Cluster;
  /** Of the wanted version. */
  readonly image: string;
  readonly context: ReconcileContext;
}

/** What is to be said of a control plane. */
export interface UpgradeOutcome {
  readonly conditions: readonly ConditionFields[];
  readonly fields: { readonly distributionVersion?: string };
  readonly requeueAfterMs?: number;
}

const LOOK_AGAIN_MS = 60_000;
/** The other cluster may be away, and its control plane has other things to wait for. */
const PATIENCE_MS = 15_000;
const VERSION = { name: 'version' };
/** Control planes ask at every turn, and kubeconfigs seldom change; one that does not work is not used again. */
const KUBECONFIG_LASTS_MS = 600_000;
const MOST_KUBECONFIGS = 256;

/** Keeps workload clusters at the version of their control planes, in place, through their ClusterVersion (U). */
export class Upgrades {
  readonly #connect: WorkloadConnector;
  readonly #facts: ReleaseFacts;
  readonly #clock: Clock;
  readonly #kubeconfigs: ExpiringCache<string>;

  constructor(connect: WorkloadConnector, facts: ReleaseFacts, clock: Clock) {
    this.#connect = connect;
    this.#facts = facts;
    this.#clock = clock;
    this.#kubeconfigs = new ExpiringCache({ clock, lifeMs: KUBECONFIG_LASTS_MS, mostEntries: MOST_KUBECONFIGS });
  }

  /** Never throws because of the other cluster: what is wrong there is told in a condition (X29). */
  async reconcile(scope: UpgradeScope): Promise<UpgradeOutcome> {
    try {
      const client = await this.#client(scope);
      return await this.#upgrade(scope, client);
    } catch (error) {
      if (isLeadershipLost(error) || scope.context.signal.aborted) throw error;
      // It may be the kubeconfig that is wrong, and another one may be there by now.
      this.#kubeconfigs.forget(uidOf(scope));
      return unreachable(scope.object, error);
    }
  }

  async #client(scope: UpgradeScope): Promise<KubeClient> {
    const kubeconfig = await this.#kubeconfigs.get(uidOf(scope), () => readKubeconfig(scope));
    return this.#patiently(scope.context, () => this.#connect(kubeconfig));
  }

  async #upgrade(scope: UpgradeScope, client: KubeClient): Promise<UpgradeOutcome> {
    const { object, context } = scope;
    const { distributionVersion: wanted } = object.spec;
    const version = await this.#patiently(context, (signal) =>
      client.live.get(ClusterVersion, VERSION, { signal }),
    );
    const progress = versionProgress(version, wanted);
    const step = upgradeStep(progress, wanted);
    const fields = progress.running === undefined ? {} : { distributionVersion: progress.running };
    const isFresh = step === 'request' && (await this.#request(scope, client, version));
    const before = findCondition(object, UPGRADE_COMPLETED)?.status;
    return {
      fields,
      conditions: upgradeConditions({ wanted, progress, isFresh, before }),
      ...(step !== 'done' && { requeueAfterMs: LOOK_AGAIN_MS }),
    };
  }

  /** Whether something was asked for that was not asked for before (U5). */
  async #request(scope: UpgradeScope, client: KubeClient, version: ClusterVersion): Promise<boolean> {
    const { object, context } = scope;
    const wanted = await this.#desiredUpdate(scope);
    if (isRequested(version, wanted)) return false;
    context.log.info({ version: object.spec.distributionVersion }, 'Asking the cluster for another version');
    const patch = mergeFrom(version, { ...version, spec: { ...version.spec, desiredUpdate: wanted } });
    await this.#patiently(context, (signal) => client.patch(ClusterVersion, VERSION, patch, { signal }));
    const note = `Asked the workload cluster for version ${object.spec.distributionVersion}`;
    context.events.normal(object, 'UpgradeRequested', note);
    return true;
  }

  /**
   * A release that the update service knows goes by its version, with all checks of the cluster. Others go by their
   * digest, and by force: the cluster would refuse what nobody signed (X1).
   */
  async #desiredUpdate({ object, image, context }: UpgradeScope): Promise<DesiredUpdate> {
    const { distributionVersion: version } = object.spec;
    if (isGeneralAvailability(version) && isDefaultRepository(repositoryOverride(object))) return { version };
    const pullSecret = () => readPullSecret(context.client, object);
    return {
      image: await this.#facts.digestForm({ object, image, pullSecret, signal: context.signal }),
      force: true,
    };
  }

  #patiently<T>({ signal }: ReconcileContext, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const onTimeout = () => retryError('WorkloadClusterUnreachable', `no answer within ${PATIENCE_MS / 1000} s`);
    return withDeadline({ clock: this.#clock, timeoutMs: PATIENCE_MS, signal, onTimeout }, work);
  }
}

const uidOf = ({ object: { metadata } }: UpgradeScope): string => metadata.uid ?? '';

async function readKubeconfig({ cluster, object, context }: UpgradeScope): Promise<string> {
  const key = { namespace: namespaceOf(object), name: `${cluster.metadata.name}-kubeconfig` };
  const secret = await context.client.live.find(Secret, key);
  const encoded = secret?.data?.['value'];
  if (encoded === undefined)
    throw retryError('KubeconfigUnavailable', `Secret ${key.name} does not exist or has no key value`);
  return Buffer.from(encoded, 'base64').toString('utf8');
}

/** A cluster that was at its version when it was last seen is not said to be at another. */
function unreachable({ spec, status }: OpenshiftAssistedControlPlane, error: unknown): UpgradeOutcome {
  const isThere = status?.distributionVersion === spec.distributionVersion;
  const message = `the version of the workload cluster is not known: ${messageOf(error)}`;
  return {
    fields: {},
    conditions: isThere ? [] : [isUnmet(UPGRADE_COMPLETED, 'WorkloadClusterUnreachable', message)],
    requeueAfterMs: LOOK_AGAIN_MS,
  };
}

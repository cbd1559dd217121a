import { ConfigMap } from '../../../api/generated/core-v1.ts';
import { keyText } from '../../../api/object.ts';
import {
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  Network,
  SINGLETON,
} from '../../../api/openshift/config-v1.ts';
import type { Clock } from '../../../base/clock.ts';
import { retryError, userError } from '../../../base/errors.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { ClusterGates, type FeatureGates } from '../../config/feature-gates.ts';
import type { CloudConfigPolicy } from '../../definition.ts';
import { ensureConfigMap } from '../config-map-write.ts';
import { Notices } from '../notices.ts';
import { CLOUD_CONF, SHARED_CLOUD_CONFIG, USER_NAMESPACE } from '../places.ts';
import { SyncReport } from '../sync-report.ts';
import { type DesiredCloudConfig, desiredCloudConfig, type ObservedCloudConfig } from './desired.ts';

export interface CloudConfigOptions {
  /**
   * Whether and how the cloud config of a cluster is synced: undefined where it is not. Throws where nobody can say which
   * provider it has.
   */
  readonly policyFor: (infra: Infrastructure) => CloudConfigPolicy | undefined;
  readonly managedNamespace: string;
  readonly clusterOperator: string;
  readonly gatesVersion: string;
  readonly clock: Clock;
}

/** The name of the one ClusterVersion. */
const VERSION = { name: 'version' } as const;

/** Keeps the cloud config that cloud controller managers mount like the one that users and the installer wrote (11). */
export class CloudConfigReconciler {
  readonly #options: CloudConfigOptions;
  /** What it tells the cluster of itself. */
  readonly report: SyncReport;
  readonly #notices = new Notices();
  readonly #clusterGates: ClusterGates;

  constructor(options: CloudConfigOptions) {
    const { clusterOperator, gatesVersion, clock } = options;
    this.#options = options;
    this.#clusterGates = new ClusterGates(gatesVersion);
    this.report = new SyncReport({ controller: 'CloudConfigController', clusterOperator, clock });
  }

  reconcile(context: ReconcileContext): Promise<Result> {
    return this.report.around(context, () => this.#sync(context));
  }

  async #sync({ client, events }: ReconcileContext): Promise<Result> {
    const infra = await client.find(Infrastructure, SINGLETON);
    if (infra === undefined) return DONE;
    const network = await client.find(Network, SINGLETON);
    if (network === undefined) throw retryError('NetworkMissing', 'there is no Network cluster yet');
    const policy = this.#policyFor(infra);
    if (policy === undefined) return DONE;
    const gates = await this.#gates(client);
    const desired = desiredCloudConfig(policy, {
      infra,
      network,
      gates,
      ...(await sources(client, policy, infra)),
    });
    await this.#write(client, desired);
    this.#tell(events, desired);
    return DONE;
  }

  #policyFor(infra: Infrastructure): CloudConfigPolicy | undefined {
    // The server may hold a null.
    if ((infra.status?.platformStatus ?? undefined) === undefined)
      throw userError(
        'PlatformStatusMissing',
        'failed to check cloud config sync requirements: platformStatus is required',
      );
    return this.#options.policyFor(infra);
  }

  async #gates(client: KubeClient): Promise<FeatureGates> {
    const featureGate = await client.find(FeatureGate, SINGLETON);
    return this.#clusterGates.observed(featureGate, await client.find(ClusterVersion, VERSION));
  }

  async #write(client: KubeClient, { content, isPublished }: DesiredCloudConfig): Promise<void> {
    // Others read it too, so one that cannot be changed is not taken away from under them.
    if (isPublished) await ensureConfigMap(client, { key: SHARED_CLOUD_CONFIG, content, isOurs: false });
    const key = { namespace: this.#options.managedNamespace, name: CLOUD_CONF };
    await ensureConfigMap(client, { key, content, isOurs: true });
  }

  #tell(events: ReconcileContext['events'], { source, sourceText, warnings }: DesiredCloudConfig): void {
    if (source === undefined) return;
    const notices = warnings.map((note) => ({ regarding: source, reason: 'CloudConfigPartlyIgnored', note }));
    const { uid = '' } = source.metadata;
    this.#notices.tell(events, notices, [keyText(source.metadata), uid, sourceText].join('\n'));
  }
}

async function sources(
  client: KubeClient,
  policy: CloudConfigPolicy,
  { spec }: Infrastructure,
): Promise<Pick<ObservedCloudConfig, 'managed' | 'user'>> {
  const { name = '' } = spec?.cloudConfig ?? {};
  return {
    managed: policy.sources.includes('managed') ? await client.find(ConfigMap, SHARED_CLOUD_CONFIG) : undefined,
    user: name === '' ? undefined : await client.find(ConfigMap, { namespace: USER_NAMESPACE, name }),
  };
}

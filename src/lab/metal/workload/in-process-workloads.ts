import type { ObjectKey } from '../../../api/object.ts';
import { openshiftDefinitions } from '../../../api/openshift/definitions.schema.ts';
import type { ApiServer } from '../../../apiserver/options.ts';
import { startApiServer } from '../../../apiserver/start.ts';
import type { Clock } from '../../../base/clock.ts';
import { type Log, SILENT_LOG } from '../../../base/log.ts';
import { NetworkError } from '../../../kube/client/api-error.ts';
import { createClient } from '../../../kube/client/create-client.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { createManager } from '../../../kube/manager/create-manager.ts';
import type { Activity } from '../../../kube/quiet/activity.ts';
import type { Transport } from '../../../kube/transport/transport.ts';
import { printYaml } from '../../../object/yaml.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import { ApiLink } from '../../node/registration/api-link.ts';
import {
  type ClusterVersionOptions,
  clusterVersionController,
  type VersionOfImage,
} from './cluster-version-controller.ts';
import { beginInstallation, completeInstallation } from './installed-openshift.ts';
import { loseNode, registerPretendNode } from './pretend-node.ts';
import { ReleaseLookup } from './release-lookup.ts';
import { tagVersion } from './tag-version.ts';
import type { WorkloadCluster, WorkloadClusters, WorkloadNode, WorkloadWish } from './workload-clusters.ts';
import { isSameServer } from './workload-kubeconfig.ts';

export interface InProcessWorkloadsOptions extends Partial<ClusterVersionOptions> {
  readonly clock: Clock;
  /** Counts what moves, so that virtual time can stand still for it; nobody counts unless given. */
  readonly activity?: Pick<Activity, 'around' | 'hold'>;
  readonly log?: Log;
  /** Where API servers listen for programs outside of this process; port 0 for any that is free. Nowhere unless given. */
  readonly listen?: Endpoint;
}

/**
 * Clusters without sockets, processes or nodes that run, for tests on virtual time: an API server in this process for
 * each, and Nodes that are objects only. Disposing it ends them all.
 */
export class InProcessWorkloads implements WorkloadClusters, AsyncDisposable {
  readonly #options: InProcessWorkloadsOptions;
  readonly #releases: ReleaseLookup;
  /** By key; bounded by what was ensured and not removed. */
  readonly #starting = new Map<string, Promise<InProcessCluster>>();
  readonly #running = new Map<string, InProcessCluster>();

  constructor(options: InProcessWorkloadsOptions) {
    this.#releases = new ReleaseLookup(options.versionOfImage);
    this.#options = { ...options, versionOfImage: this.#releases.versionOfImage };
  }

  /** Those that are there, for tests. */
  get clusters(): readonly WorkloadCluster[] {
    return [...this.#running.values()];
  }

  async ensure(key: ObjectKey, wish: WorkloadWish): Promise<WorkloadCluster> {
    const text = textOf(key);
    const starting = this.#starting.get(text) ?? this.#start(key, wish);
    this.#starting.set(text, starting);
    try {
      const cluster = await starting;
      this.#running.set(text, cluster);
      return cluster;
    } catch (error) {
      this.#starting.delete(text);
      throw error;
    }
  }

  find(key: ObjectKey): WorkloadCluster | undefined {
    return this.#running.get(textOf(key));
  }

  byKubeconfig(kubeconfig: string): WorkloadCluster | undefined {
    return this.#byKubeconfig(kubeconfig);
  }

  async connect(kubeconfig: string): Promise<KubeClient> {
    const cluster = this.#byKubeconfig(kubeconfig);
    if (cluster === undefined)
      throw new NetworkError('no API server answers where the kubeconfig leads', { mayHaveHappened: false });
    return cluster.connect();
  }

  async remove(key: ObjectKey): Promise<void> {
    const text = textOf(key);
    const starting = this.#starting.get(text);
    this.#starting.delete(text);
    this.#running.delete(text);
    await (await starting?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }

  async leave(hostId: string): Promise<void> {
    await Promise.all([...this.#running.values()].map((cluster) => cluster.leave(hostId)));
  }

  useReleases(versionOfImage: VersionOfImage): Disposable {
    return this.#releases.use(versionOfImage);
  }

  /** The API server of a cluster is out of reach for whoever has its kubeconfig, while it is on. */
  outage(key: ObjectKey, isOn: boolean): void {
    const cluster = this.#running.get(textOf(key));
    if (cluster === undefined) throw new Error(`there is no cluster ${textOf(key)}`);
    cluster.outage(isOn);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#starting.values()];
    this.#starting.clear();
    this.#running.clear();
    await Promise.all(all.map(async (one) => (await one.catch(() => undefined))?.[Symbol.asyncDispose]()));
  }

  #byKubeconfig(kubeconfig: string): InProcessCluster | undefined {
    return [...this.#running.values()].find((cluster) => isSameServer(cluster.kubeconfig, kubeconfig));
  }

  async #start(key: ObjectKey, wish: WorkloadWish): Promise<InProcessCluster> {
    using _hold = this.#options.activity?.hold(`cluster ${textOf(key)} starts`);
    return await InProcessCluster.start(key, wish, this.#options);
  }
}

const textOf = ({ namespace, name }: ObjectKey): string => `${namespace ?? ''}/${name}`;

/** Nobody is asked for it: two clusters of one name in two namespaces have two addresses. */
const serverOf = ({ namespace = 'default', name }: ObjectKey): string =>
  `https://api.${name}.${namespace}.workload.invalid:6443`;

interface ClusterParts {
  readonly key: ObjectKey;
  readonly wish: WorkloadWish;
  readonly kubeconfig: string;
  readonly server: ApiServer;
  readonly options: InProcessWorkloadsOptions;
  readonly all: AsyncDisposableStack;
}

class InProcessCluster implements WorkloadCluster, AsyncDisposable {
  readonly key: ObjectKey;
  readonly kubeconfig: string;
  readonly client: KubeClient;
  readonly #parts: ClusterParts;
  /** The way of whoever comes with the kubeconfig. */
  readonly #link: ApiLink;
  /** Names of nodes by their machines. */
  readonly #hosts = new Map<string, string>();
  #isAway = false;

  private constructor(parts: ClusterParts) {
    const { key, kubeconfig, server, options } = parts;
    this.key = key;
    this.kubeconfig = kubeconfig;
    this.#parts = parts;
    const transport = around(options, server.client());
    this.client = clientOf(transport, options);
    this.#link = new ApiLink(transport, `whoever has the kubeconfig of cluster ${textOf(key)}`);
  }

  static async start(
    key: ObjectKey,
    wish: WorkloadWish,
    options: InProcessWorkloadsOptions,
  ): Promise<InProcessCluster> {
    const { clock, log = SILENT_LOG, listen = false } = options;
    await using parts = new AsyncDisposableStack();
    const crds = openshiftDefinitions();
    const server = parts.use(await startApiServer({ listen, storage: 'memory', clock, log, crds }));
    const config = await server.kubeconfig();
    const clusters = config.clusters.map(({ name, cluster }) => ({
      name,
      cluster: { ...cluster, server: server.url === '' ? serverOf(key) : server.url },
    }));
    await beginInstallation(clientOf(server.client(), options), wish, clock);
    startUpdates(server, options, parts);
    const kubeconfig = printYaml({ ...config, clusters });
    return new InProcessCluster({ key, wish, kubeconfig, server, options, all: parts.move() });
  }

  async join(node: WorkloadNode): Promise<void> {
    const { wish, options } = this.#parts;
    if (this.#hosts.get(node.hostId) === node.name) return;
    await registerPretendNode(this.client, { node, wish, now: options.clock.now() });
    this.#hosts.set(node.hostId, node.name);
  }

  async leave(hostId: string): Promise<void> {
    const name = this.#hosts.get(hostId);
    if (name === undefined) return;
    this.#hosts.delete(hostId);
    await loseNode(this.client, name, this.#parts.options.clock.now());
  }

  installCompleted(): Promise<void> {
    return completeInstallation(this.client, this.#parts.options.clock);
  }

  connect(): KubeClient {
    if (this.#isAway)
      throw new NetworkError(`the API server of cluster ${textOf(this.key)} does not answer`, {
        mayHaveHappened: false,
      });
    return clientOf(this.#link.transport, this.#parts.options);
  }

  outage(isOn: boolean): void {
    this.#isAway = isOn;
    this.#link.partition(isOn);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isAway = true;
    this.#link.partition(true);
    await this.#parts.all.disposeAsync();
  }
}

const around = ({ activity }: InProcessWorkloadsOptions, transport: Transport): Transport =>
  activity === undefined ? transport : activity.around(transport);

const clientOf = (transport: Transport, { clock, log = SILENT_LOG }: InProcessWorkloadsOptions): KubeClient =>
  createClient({ transport, fieldManager: 'slipway/lab', clock, log });

/** The operator that updates the cluster runs in it, whoever else reaches it. */
function startUpdates(server: ApiServer, options: InProcessWorkloadsOptions, parts: AsyncDisposableStack): void {
  const { clock, log = SILENT_LOG, versionOfImage = tagVersion, updateMs } = options;
  const stop = new AbortController();
  const manager = createManager({
    kube: around(options, server.client()),
    name: 'cluster-version-operator',
    fieldManager: 'slipway/lab',
    hostname: 'lab',
    clock,
    log,
    selfCheck: false,
  });
  manager.add(clusterVersionController({ versionOfImage, ...(updateMs !== undefined && { updateMs }) }));
  const running = manager.start(stop.signal).catch(() => {});
  parts.defer(async () => {
    stop.abort();
    await running;
  });
}

import type { ObjectKey } from '../../src/api/object.ts';
import { openshiftDefinitions } from '../../src/api/openshift/definitions.schema.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { NetworkError } from '../../src/kube/client/api-error.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { createManager } from '../../src/kube/manager/create-manager.ts';
import type { Transport } from '../../src/kube/transport/transport.ts';
import {
  clusterVersionController,
  type VersionOfImage,
} from '../../src/lab/metal/workload/cluster-version-controller.ts';
import { beginInstallation, completeInstallation } from '../../src/lab/metal/workload/installed-openshift.ts';
import { loseNode, registerPretendNode } from '../../src/lab/metal/workload/pretend-node.ts';
import { ReleaseLookup } from '../../src/lab/metal/workload/release-lookup.ts';
import type {
  WorkloadCluster,
  WorkloadClusters,
  WorkloadNode,
  WorkloadWish,
} from '../../src/lab/metal/workload/workload-clusters.ts';
import { isSameServer } from '../../src/lab/metal/workload/workload-kubeconfig.ts';
import { printYaml } from '../../src/object/yaml.ts';

const clock = new SystemClock();
/** An update takes seconds, not the better part of an hour. */
const UPDATE_MS = 3000;

const textOf = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;

interface Running extends AsyncDisposable {
  readonly cluster: WorkloadCluster;
}

/** Installed clusters whose API servers listen on loopback, for programs of others; their nodes are objects only. */
export class ListeningWorkloads implements WorkloadClusters, AsyncDisposable {
  readonly #releases = new ReleaseLookup();
  readonly #starting = new Map<string, Promise<Running>>();
  readonly #running = new Map<string, Running>();

  get clusters(): readonly WorkloadCluster[] {
    return [...this.#running.values()].map(({ cluster }) => cluster);
  }

  async ensure(key: ObjectKey, wish: WorkloadWish): Promise<WorkloadCluster> {
    const text = textOf(key);
    const starting = this.#starting.get(text) ?? startCluster(key, wish, this.#releases.versionOfImage);
    this.#starting.set(text, starting);
    const running = await starting;
    this.#running.set(text, running);
    return running.cluster;
  }

  find(key: ObjectKey): WorkloadCluster | undefined {
    return this.#running.get(textOf(key))?.cluster;
  }

  byKubeconfig(kubeconfig: string): WorkloadCluster | undefined {
    return this.clusters.find((cluster) => isSameServer(cluster.kubeconfig, kubeconfig));
  }

  connect(kubeconfig: string): Promise<KubeClient> {
    const found = this.byKubeconfig(kubeconfig);
    return found === undefined
      ? Promise.reject(new NetworkError('no API server answers there', { mayHaveHappened: false }))
      : Promise.resolve(found.client);
  }

  async remove(key: ObjectKey): Promise<void> {
    const text = textOf(key);
    const starting = this.#starting.get(text);
    this.#starting.delete(text);
    this.#running.delete(text);
    await (await starting)?.[Symbol.asyncDispose]();
  }

  useReleases(versionOfImage: VersionOfImage): Disposable {
    return this.#releases.use(versionOfImage);
  }

  async leave(hostId: string): Promise<void> {
    for (const cluster of this.clusters) await cluster.leave(hostId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { key } of this.clusters) await this.remove(key);
  }
}

async function startCluster(key: ObjectKey, wish: WorkloadWish, versionOfImage: VersionOfImage): Promise<Running> {
  await using parts = new AsyncDisposableStack();
  const listen = { host: '127.0.0.1', port: 0 };
  const server = parts.use(await startApiServer({ storage: 'memory', listen, crds: openshiftDefinitions() }));
  const client = clientOf(server.client());
  await beginInstallation(client, wish, clock);
  startUpdates(server.client(), versionOfImage, parts);
  const hosts = new Map<string, string>();
  const cluster: WorkloadCluster = {
    key,
    kubeconfig: printYaml(await server.kubeconfig()),
    client,
    async join(node: WorkloadNode) {
      if (hosts.get(node.hostId) === node.name) return;
      await registerPretendNode(client, { node, wish, now: clock.now() });
      hosts.set(node.hostId, node.name);
    },
    async leave(hostId) {
      const name = hosts.get(hostId);
      if (name === undefined) return;
      hosts.delete(hostId);
      await loseNode(client, name, clock.now());
    },
    installCompleted: () => completeInstallation(client, clock),
  };
  const all = parts.move();
  return { cluster, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

const clientOf = (transport: Transport): KubeClient =>
  createClient({ transport, fieldManager: 'slipway/lab', clock, log: SILENT_LOG });

function startUpdates(kube: Transport, versionOfImage: VersionOfImage, parts: AsyncDisposableStack): void {
  const stop = new AbortController();
  const manager = createManager({
    kube,
    name: 'cluster-version-operator',
    clock,
    log: SILENT_LOG,
    selfCheck: false,
  });
  manager.add(clusterVersionController({ versionOfImage, updateMs: UPDATE_MS }));
  const running = manager.start(stop.signal).catch(() => {});
  parts.defer(async () => {
    stop.abort();
    await running;
  });
}

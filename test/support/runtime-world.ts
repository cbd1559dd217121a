import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CustomResourceDefinition } from '../../src/api/generated/apiextensions-v1.ts';
import { Namespace } from '../../src/api/generated/core-v1.ts';
import { type Kind, type KubeObject, resourceOf } from '../../src/api/object.ts';
import { type Clock, SystemClock } from '../../src/base/clock.ts';
import { until } from '../../src/kube/apply/until.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { ClusterAccess } from '../../src/kube/config/cluster-access.ts';
import { loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import { createManager, type Manager, type ManagerOptions } from '../../src/kube/manager/create-manager.ts';
import { type ConnectOptions, connect } from '../../src/kube/transport/connection.ts';
import { retrying } from '../../src/kube/transport/retrying.ts';
import type { Transport } from '../../src/kube/transport/transport.ts';
import { isTrue } from '../../src/object/conditions.ts';
import type { RuntimeServer } from './runtime-servers.ts';
import { scratchDirectory } from './scratch.ts';
import { type Line, recordedLog } from './store.ts';

/** How a way to the server differs from the administrator's. */
export interface WayOptions {
  /** Instead of the server itself: what carries the bytes there. */
  readonly url?: string;
  /** Instead of the administrator. */
  readonly token?: string;
  /** The administrator acts as this user. */
  readonly user?: { readonly name: string; readonly groups?: readonly string[] };
  /** Instead of the authority of the server. */
  readonly authorityPem?: string;
  readonly clientCertificate?: { readonly certificatePem: string; readonly keyPem: string };
  /** Of the context. */
  readonly namespace?: string;
}

export interface ClientSetup extends WayOptions, Partial<ConnectOptions> {
  readonly fieldManager?: string;
  /** True unless told otherwise. */
  readonly hasRetries?: boolean;
  /** Around the transport, nearest to the client. */
  readonly wrap?: (transport: Transport) => Transport;
}

export type ManagerSetup = Omit<ManagerOptions, 'kube' | 'name'> & {
  readonly name?: string;
  readonly way?: WayOptions;
  readonly setup?: (manager: Manager) => void;
};

export interface RunningManager extends AsyncDisposable {
  readonly manager: Manager;
  readonly lines: readonly Line[];
  /** What `start` rejected with, or undefined after a clean stop. */
  readonly ended: Promise<unknown>;
  stop(): Promise<unknown>;
}

interface Cluster {
  readonly server: string;
  readonly [field: string]: unknown;
}
interface KubeconfigDocument {
  readonly 'current-context': string;
  readonly contexts: readonly { name: string; context: { cluster: string; user: string } }[];
  readonly clusters: readonly { name: string; cluster: Cluster }[];
  readonly users: readonly { name: string; user: Readonly<Record<string, unknown>> }[];
}

const ESTABLISHED_MS = 30_000;
let worlds = 0;

/** The real stack against one server: kubeconfig files, sockets, the system's clock. Takes away what it made. */
export class RuntimeWorld implements AsyncDisposable {
  readonly server: RuntimeServer;
  readonly clock: Clock = new SystemClock();
  /** Makes the names of one run differ from those of another one. */
  readonly id = `${process.pid.toString(36)}${(++worlds).toString(36)}`;
  readonly #directory: Awaited<ReturnType<typeof scratchDirectory>>;
  readonly #document: KubeconfigDocument;
  readonly #made = new AsyncDisposableStack();
  readonly #defined = new Map<string, Promise<void>>();
  #client: KubeClient | undefined;
  #counter = 0;

  private constructor(
    server: RuntimeServer,
    directory: Awaited<ReturnType<typeof scratchDirectory>>,
    document: KubeconfigDocument,
  ) {
    this.server = server;
    this.#directory = directory;
    this.#document = document;
    this.#made.use(server);
    this.#made.use(directory);
  }

  static async start(server: RuntimeServer): Promise<RuntimeWorld> {
    const document = parse(await readFile(server.kubeconfig, 'utf8')) as KubeconfigDocument;
    const world = new RuntimeWorld(server, await scratchDirectory(), document);
    world.#client = await world.#ownClient();
    return world;
  }

  /** The administrator; reads ask the server. */
  get client(): KubeClient {
    if (this.#client === undefined) throw new Error('the world has not started');
    return this.#client;
  }

  /** A name that nobody else uses. */
  unique(word: string): string {
    return `${word}-${this.id}-${++this.#counter}`;
  }

  /** A file of a name that nobody else uses. */
  file(name: string): string {
    return join(this.#directory.path, this.unique(name));
  }

  /** A kubeconfig file that differs from the administrator's. */
  async kubeconfig(way: WayOptions = {}): Promise<string> {
    const { contexts, clusters, users, 'current-context': current } = this.#document;
    const context = contexts.find(({ name }) => name === current)?.context;
    const cluster = clusters.find(({ name }) => name === context?.cluster)?.cluster;
    const user = users.find(({ name }) => name === context?.user)?.user;
    if (cluster === undefined || user === undefined) throw new Error(`${this.server.kubeconfig} has no context`);
    const { namespace } = way;
    const document = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [
        { name: 'test', context: { cluster: 'c', user: 'u', ...(namespace !== undefined && { namespace }) } },
      ],
      clusters: [{ name: 'c', cluster: clusterWith(cluster, way) }],
      users: [{ name: 'u', user: userWith(user, way) }],
    };
    const file = this.file('kubeconfig');
    await writeFile(file, JSON.stringify(document), { mode: 0o600 });
    return file;
  }

  async access(way: WayOptions = {}): Promise<ClusterAccess> {
    return loadKubeconfig({ env: {}, homeDir: homedir(), kubeconfigFlag: await this.kubeconfig(way) });
  }

  /** A client with sockets of its own, which end with `await using`. */
  async connect(
    setup: ClientSetup = {},
  ): Promise<AsyncDisposable & { readonly client: KubeClient; readonly lines: readonly Line[] }> {
    const { fieldManager = 'test', wrap = (transport: Transport) => transport, clock = this.clock } = setup;
    const { log, lines } = recordedLog();
    const connection = connect(await this.access(setup), { log, ...setup, clock });
    const { hasRetries = true } = setup;
    const transport = wrap(hasRetries ? retrying(connection.transport, { clock }) : connection.transport);
    const client = createClient({ transport, fieldManager, clock, log });
    return { client, lines, [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose]() };
  }

  /** A new namespace; it goes with the world. */
  async namespace(word = 'runtime'): Promise<string> {
    const name = this.unique(word);
    await this.client.create(Namespace, { metadata: { name } });
    this.#goesAtTheEnd(Namespace, name);
    return name;
  }

  /** Installs a kind, once, and waits until its objects can be read; it goes with the world. */
  define(kind: Kind & { toCRD(): unknown }): Promise<void> {
    const defined = this.#defined.get(resourceOf(kind));
    if (defined !== undefined) return defined;
    const installed = this.install(kind.toCRD() as CustomResourceDefinition, [kind]);
    this.#defined.set(resourceOf(kind), installed);
    return installed;
  }

  async install(definition: CustomResourceDefinition, kinds: readonly Kind[]): Promise<void> {
    const { client, clock } = this;
    const key = { name: definition.metadata.name };
    await client.apply(CustomResourceDefinition, definition, { force: true });
    this.#goesAtTheEnd(CustomResourceDefinition, key.name, kinds);
    const options = { clock, timeoutMs: ESTABLISHED_MS, what: 'to be established' };
    await until({ client, kind: CustomResourceDefinition, key }, (crd) => isTrue(crd, 'Established'), options);
    for (const kind of kinds)
      await this.eventually(() => client.live.list(kind).then(() => true), `${resourceOf(kind)} are served`);
  }

  /** Runs a manager until it is stopped or disposed. */
  async manager({
    name = 'test-manager',
    way = {},
    setup,
    ...options
  }: ManagerSetup = {}): Promise<RunningManager> {
    const { log, lines } = recordedLog();
    const kube = await this.access(way);
    const manager = createManager({ log, clock: this.clock, hostname: 'test-host', ...options, name, kube });
    setup?.(manager);
    const stop = new AbortController();
    const ended = manager.start(stop.signal).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const end = () => {
      stop.abort(new Error('the test is over'));
      return ended;
    };
    return { manager, lines, ended, stop: end, [Symbol.asyncDispose]: async () => void (await end()) };
  }

  /** Waits for what no event tells; failures on the way are no answer. */
  async eventually(isSo: () => boolean | Promise<boolean>, what: string, timeoutMs = 20_000): Promise<void> {
    let last: unknown;
    for (const endMs = performance.now() + timeoutMs; performance.now() < endMs; await this.clock.sleep(20)) {
      try {
        if (await isSo()) return;
      } catch (thrown) {
        last = thrown;
      }
    }
    throw new Error(`after ${timeoutMs} ms still not so: ${what}`, { cause: last });
  }

  /** The newest state of an object, once it is as expected. */
  async state<T extends KubeObject, I>(
    kind: Kind<T, I>,
    key: { namespace?: string; name: string },
    isSo: (object: T) => boolean,
  ): Promise<T> {
    const { client, clock } = this;
    const found = await until({ client, kind, key }, (object) => object !== undefined && isSo(object), {
      clock,
      timeoutMs: 20_000,
    });
    if (found === undefined) throw new Error(`${key.name} is gone`);
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#made.disposeAsync();
  }

  /** A server of our own goes itself; in somebody's cluster nothing is left behind. */
  #goesAtTheEnd(kind: Kind, name: string, freed: readonly Kind[] = []): void {
    if (this.server.name !== 'given') return;
    this.#made.defer(async () => {
      for (const held of freed) await this.#free(held).catch(() => {});
      await this.client.delete(kind, { name }).catch(() => {});
    });
  }

  /** Nobody runs any more who would take the finalizers off. */
  async #free(kind: Kind): Promise<void> {
    for (const { metadata } of (await this.client.list(kind)).items) {
      const { name, namespace, finalizers = [] } = metadata;
      const key = { name, ...(namespace !== undefined && { namespace }) };
      if (finalizers.length === 0) continue;
      await this.client.patch(kind, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    }
  }

  async #ownClient(): Promise<KubeClient> {
    const own = await this.connect();
    this.#made.use(own);
    return own.client;
  }
}

function clusterWith(cluster: Cluster, { url, authorityPem }: WayOptions): Cluster {
  const { hostname } = new URL(cluster.server);
  return {
    ...cluster,
    // A relay has another address; the certificate of the server stays what it is.
    ...(url !== undefined && { server: url, ...(hostname !== '127.0.0.1' && { 'tls-server-name': hostname }) }),
    ...(authorityPem !== undefined && {
      'certificate-authority-data': Buffer.from(authorityPem).toString('base64'),
    }),
  };
}

function userWith(user: Readonly<Record<string, unknown>>, way: WayOptions): Readonly<Record<string, unknown>> {
  const { token, clientCertificate, user: as } = way;
  if (token !== undefined) return { token };
  if (clientCertificate !== undefined) {
    const { certificatePem, keyPem } = clientCertificate;
    const text = (pem: string) => Buffer.from(pem).toString('base64');
    return { 'client-certificate-data': text(certificatePem), 'client-key-data': text(keyPem) };
  }
  return as === undefined ? user : { ...user, as: as.name, 'as-groups': as.groups ?? [] };
}

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Service, type ServiceSpec } from '../../src/api/generated/core-v1.ts';
import { EndpointSlice } from '../../src/api/generated/discovery-v1.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { type Log, SILENT_LOG } from '../../src/base/log.ts';
import type { Cache } from '../../src/kube/cache/cache.ts';
import { createCache } from '../../src/kube/cache/create-cache.ts';
import type { AddressPlan, Endpoint } from '../../src/lab/address/address-plan.ts';
import { startAddressPlan } from '../../src/lab/address/start-address-plan.ts';
import type { ProxyNode } from '../../src/lab/proxy/service-frontends.ts';
import { type Proxy, type ProxyNodes, startProxy } from '../../src/lab/proxy/start-proxy.ts';
import { dial } from '../../src/lab/tcp/dial.ts';
import { TestEnv } from '../../src/testing/test-env.ts';

const real = new SystemClock();
const WEB = { namespace: 'default', name: 'web' };
const PORT = 8080;
const PATIENCE_MS = 10_000;

/** Nodes that a test switches on and off. */
class SwitchedNodes implements ProxyNodes {
  readonly #listeners = new Set<() => void>();
  #nodes: readonly ProxyNode[] = [];

  list(): readonly ProxyNode[] {
    return this.#nodes;
  }

  subscribe(changed: () => void): Disposable {
    this.#listeners.add(changed);
    return { [Symbol.dispose]: () => void this.#listeners.delete(changed) };
  }

  set(nodes: readonly ProxyNode[]): void {
    this.#nodes = nodes;
    for (const changed of this.#listeners) changed();
  }
}

/** Serves on an address of a pod: each line is answered by its name, who asked, and the line. */
export interface Backend {
  readonly name: string;
  readonly node: string;
  readonly api: string;
  readonly server: Server;
  readonly conditions: { readonly ready: boolean; readonly serving?: boolean; readonly terminating?: boolean };
}

export interface ProxyWorldOptions {
  readonly network?: 'auto' | 'loopback' | 'ports';
  readonly log?: Log;
  /** Where ClusterIPs come from; the lab's own range unless told otherwise. */
  readonly serviceRange?: string;
}

/** An API server, a plan of addresses and a proxy between both; the test plays the nodes and the pods. */
export class ProxyWorld implements AsyncDisposable {
  readonly env: TestEnv;
  readonly plan: AddressPlan;
  readonly cache: Cache;
  readonly proxy: Proxy;
  readonly nodes: SwitchedNodes;
  readonly #started: AsyncDisposableStack;
  readonly #sockets = new Set<Socket>();

  private constructor(
    parts: Pick<ProxyWorld, 'env' | 'plan' | 'cache' | 'proxy' | 'nodes'>,
    stack: AsyncDisposableStack,
  ) {
    this.env = parts.env;
    this.plan = parts.plan;
    this.cache = parts.cache;
    this.proxy = parts.proxy;
    this.nodes = parts.nodes;
    this.#started = stack;
  }

  static async start(options: ProxyWorldOptions = {}): Promise<ProxyWorld> {
    const { network = 'auto', log = SILENT_LOG } = options;
    await using stack = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), 'slipway-proxy-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const plan = stack.use(await startAddressPlan({ directory, network }));
    const env = stack.use(
      await TestEnv.start({ server: { serviceRange: options.serviceRange ?? plan.serviceRange } }),
    );
    const { clock } = env;
    const cache = createCache({ live: env.client.live, clock, log: SILENT_LOG });
    const stop = new AbortController();
    const running = cache.run(stop.signal);
    stack.defer(async () => {
      stop.abort();
      await running;
    });
    const nodes = new SwitchedNodes();
    nodes.set([1, 2].map((number) => ({ name: `n${number}`, address: plan.node(1, number) })));
    const proxy = stack.use(await env.throughTime(startProxy({ plan, cache, nodes, clock, real, log })));
    return new ProxyWorld({ env, plan, cache, proxy, nodes }, stack.move());
  }

  /** Everything that was written is served. */
  async settle(): Promise<void> {
    await this.env.settle();
    await this.proxy.settled();
  }

  async addService(spec: Partial<ServiceSpec> = {}): Promise<Service> {
    const ports = [{ name: 'http', port: 8000, targetPort: PORT }];
    const service = await this.env.client.create(Service, { metadata: WEB, spec: { ports, ...spec } });
    await this.settle();
    return service;
  }

  /** Where it can be reached, as its clients do it. */
  async clusterPlace(port = 8000): Promise<Endpoint> {
    const { spec } = await this.env.client.get(Service, WEB);
    return { host: spec?.clusterIP ?? '', port };
  }

  async nodePlace(node: number): Promise<Endpoint> {
    const { spec } = await this.env.client.get(Service, WEB);
    return { host: this.plan.node(1, node).api, port: spec?.ports?.[0]?.nodePort ?? 0 };
  }

  backend(name: string, node = 'n1'): Promise<Backend> {
    return this.#backend(name, node, (socket) => {
      socket.on('data', (line) => socket.write(`${name} ${socket.remoteAddress} ${line.toString()}`));
      socket.on('end', () => socket.end());
    });
  }

  /** One that gives back every byte. */
  echo(node: string): Promise<Backend> {
    return this.#backend('echo', node, (socket) => void socket.pipe(socket));
  }

  async #backend(name: string, node: string, answer: (socket: Socket) => void): Promise<Backend> {
    const { api } = this.plan.pods.take();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      answer(socket);
    });
    await this.plan.listen(server, { host: api, port: PORT });
    this.#started.defer(() => void server.close());
    return { name, node, api, server, conditions: { ready: true } };
  }

  /** Which backends there are, as the controller of endpoints says it. */
  async serve(backends: readonly Backend[]): Promise<void> {
    const { client } = this.env;
    const key = { namespace: 'default', name: 'web-1' };
    const endpoints = backends.map(({ api, node, conditions }) => ({
      addresses: [api],
      nodeName: node,
      conditions,
    }));
    const slice = {
      metadata: { ...key, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4' as const,
      ports: [{ name: 'http', port: PORT, protocol: 'TCP' as const }],
      endpoints,
    };
    const found = await client.find(EndpointSlice, key);
    if (found === undefined) await client.create(EndpointSlice, slice);
    else await client.update(EndpointSlice, { ...found, endpoints });
    await this.settle();
  }

  /** A connection of a client, maybe from a certain address of the lab. */
  async connect(to: Endpoint, from?: string): Promise<Socket> {
    const localAddress = from === undefined ? {} : { localAddress: this.plan.toWire(from) };
    const socket = await dial(this.plan.target(to), { real, timeoutMs: PATIENCE_MS, ...localAddress });
    this.#sockets.add(socket);
    return socket;
  }

  /** What a client hears that asks once: `a 127.0.0.1 hello`. */
  async ask(to: Endpoint, from?: string): Promise<string> {
    const socket = await this.connect(to, from);
    socket.end('hello');
    return textOf(socket);
  }

  /** The names of those who answer, one after the other. */
  async askers(to: Endpoint, times: number, from?: string): Promise<string> {
    const names: string[] = [];
    for (let at = 0; at < times; at++) names.push((await this.ask(to, from)).split(' ', 1)[0] ?? '');
    return names.join(' ');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#started.disposeAsync();
  }
}

/** Everything until the other side ends; rejects when it breaks off. */
export async function textOf(socket: Socket, encoding: 'utf8' | 'base64' = 'utf8'): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'end');
  return Buffer.concat(chunks).toString(encoding);
}

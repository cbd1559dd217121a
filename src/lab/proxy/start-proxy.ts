import type { Socket } from 'node:net';
import { Pod, Service } from '../../api/generated/core-v1.ts';
import { EndpointSlice } from '../../api/generated/discovery-v1.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Cache } from '../../kube/cache/cache.ts';
import type { AddressPlan } from '../address/address-plan.ts';
import { brokenOff } from '../tcp/reset.ts';
import { hasEnded } from '../workloads/pods/pod-state.ts';
import { HealthFrontend } from './health-frontend.ts';
import { ListenerSet } from './listener-set.ts';
import {
  type Frontend,
  type HealthCheck,
  healthChecks,
  type ProxyNode,
  placeOf,
  type ServiceFacts,
  serviceFrontends,
} from './service-frontends.ts';
import { type FrontendTools, TcpFrontend } from './tcp-frontend.ts';
import { UdpFrontend } from './udp-frontend.ts';

/** The nodes that run now: a node that is off serves no node ports. */
export interface ProxyNodes {
  list(): readonly ProxyNode[];
  /** Called after a node came or went. */
  subscribe(changed: () => void): Disposable;
}

export interface ProxyOptions {
  readonly plan: AddressPlan;
  /** Of the cluster: Services and EndpointSlices, and Pods to find out where clients are. Somebody else runs it. */
  readonly cache: Cache;
  readonly nodes: ProxyNodes;
  /** Lab time, for clients that stay with their backend. */
  readonly clock: Clock;
  readonly real: Clock;
  readonly log: Log;
}

/** Serves what the services of a cluster promise. Disposing closes every listener and every connection. */
export interface Proxy extends AsyncDisposable {
  /** Resolves when what is known is served. */
  settled(): Promise<void>;
}

/** A place that was taken is tried again after so much real time. */
const RETRY_MS = 5000;

/** Stands in for the kube-proxy of every node (X11). Resolves when all services that there are are served. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  await using started = new AsyncDisposableStack();
  const proxy = started.use(new RunningProxy(options));
  await proxy.start();
  started.move();
  return proxy;
}

class RunningProxy implements Proxy {
  readonly #options: ProxyOptions;
  readonly #tcp: ListenerSet<Frontend>;
  readonly #udp: ListenerSet<Frontend>;
  readonly #health: ListenerSet<HealthCheck>;
  readonly #subscriptions = new DisposableStack();
  readonly #sockets = new Set<Socket>();
  readonly #stop = new AbortController();
  #isStale = false;
  #isStrangenessTold = false;
  #syncing = Promise.resolve();
  #retry: Disposable | undefined;

  constructor(options: ProxyOptions) {
    this.#options = options;
    const { plan, clock, real, log } = options;
    const tools: FrontendTools = {
      plan,
      clock,
      real,
      log,
      nodeAt: (wire) => this.#nodeAt(wire),
      sockets: this.#sockets,
      signal: this.#stop.signal,
    };
    this.#tcp = new ListenerSet({ open: (frontend) => TcpFrontend.open(frontend, tools), log });
    this.#udp = new ListenerSet({ open: (frontend) => UdpFrontend.open(frontend, tools), log });
    this.#health = new ListenerSet({ open: (check) => HealthFrontend.open(check, tools), log });
  }

  async start(): Promise<void> {
    const { cache, nodes } = this.#options;
    const changed = () => this.#changed();
    const services = this.#subscriptions.use(cache.informer(Service).subscribe(changed));
    const slices = this.#subscriptions.use(cache.informer(EndpointSlice).subscribe(changed));
    this.#subscriptions.use(cache.informer(Pod).subscribe(() => {}));
    this.#subscriptions.use(nodes.subscribe(changed));
    await Promise.all([services.synced, slices.synced]);
    this.#changed();
    await this.settled();
  }

  async settled(): Promise<void> {
    // What happens meanwhile makes another round.
    for (let seen = this.#syncing; ; seen = this.#syncing) {
      await seen;
      if (seen === this.#syncing) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriptions.dispose();
    this.#stop.abort(new Error('the proxy stops'));
    await this.settled();
    this.#retry?.[Symbol.dispose]();
    for (const set of [this.#tcp, this.#udp, this.#health]) await set[Symbol.asyncDispose]();
    await Promise.all([...this.#sockets].map(brokenOff));
  }

  /** One round for all changes that come while another one waits or runs. */
  #changed(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    this.#syncing = this.#syncing
      .then(() => this.#sync())
      .catch((error: unknown) => this.#options.log.error({ err: error }, 'Could not bring services up to date'));
  }

  async #sync(): Promise<void> {
    this.#isStale = false;
    const { cache, nodes, real } = this.#options;
    const [services, slices] = [cache.informer(Service), cache.informer(EndpointSlice)];
    // Not everything is known yet: what is missing would look like something that nobody serves.
    if (this.#stop.signal.aborted || !services.isSynced || !slices.isSynced) return;
    const facts: ServiceFacts = { services: services.list(), slices: slices.list(), nodes: nodes.list() };
    const frontends = this.#reachable(serviceFrontends(facts));
    const wanted = (protocol: Frontend['protocol']) =>
      new Map(frontends.filter((one) => one.protocol === protocol).map((one) => [placeOf(one), one]));
    const checks = healthChecks(facts).map((check) => [`${check.at.host}:${check.at.port}`, check] as const);
    const isOpen = [
      await this.#tcp.sync(wanted('TCP')),
      await this.#udp.sync(wanted('UDP')),
      await this.#health.sync(new Map(checks)),
    ];
    this.#retry?.[Symbol.dispose]();
    this.#retry = isOpen.every(Boolean) ? undefined : real.timer(RETRY_MS, () => this.#changed());
  }

  /** Services of a cluster that somebody else runs may have addresses that this machine cannot have (X1). */
  #reachable(frontends: readonly Frontend[]): readonly Frontend[] {
    const { plan, log } = this.#options;
    const [strange] = frontends.filter(({ at }) => !plan.owns(at.host));
    if (strange === undefined) return frontends;
    if (!this.#isStrangenessTold)
      log.warn(
        { service: strange.service, clusterIP: strange.at.host, range: plan.serviceRange },
        'ClusterIPs of this cluster are not addresses of the lab and are not reachable; node ports and pods are. ' +
          'Start its API server with this range as --service-cluster-ip-range, and the lab with the same octet',
      );
    this.#isStrangenessTold = true;
    return frontends.filter(({ at }) => plan.owns(at.host));
  }

  /** Undefined when the address says nothing: whoever is on no node, or where all addresses are one. */
  #nodeAt(wire: string): string | undefined {
    const { plan, nodes, cache } = this.#options;
    if (plan.mode === 'ports') return undefined;
    const node = nodes.list().find(({ address }) => address.wire === wire);
    if (node !== undefined) return node.name;
    const pods = cache.informer(Pod);
    const api = plan.toApi(wire);
    if (!pods.isSynced) return undefined;
    // A pod that has ended keeps the address in its status when another one has it.
    return pods.list().find((pod) => pod.status?.podIP === api && !hasEnded(pod))?.spec.nodeName;
  }
}

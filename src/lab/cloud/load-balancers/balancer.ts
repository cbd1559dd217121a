import { createServer, type Server, type Socket } from 'node:net';
import type { Endpoint } from '../../address/address-plan.ts';
import { dial } from '../../tcp/dial.ts';
import { type BalancerConfig, type ListenerConfig, listenerChanges } from './balancer-config.ts';
import { type BalancerSurroundings, sourceOf } from './balancer-surroundings.ts';
import { ProxiedConnection } from './proxied-connection.ts';
import { proxyHeader } from './proxy-header.ts';
import { type SourceFilter, sourceFilter } from './source-ranges.ts';
import { type Candidate, chosenTarget } from './target-choice.ts';
import { TargetHealth } from './target-health.ts';

/** A target at one port of the balancer. */
export interface TargetStatus {
  readonly target: string;
  readonly port: number;
  readonly isHealthy: boolean;
  readonly problem: string | undefined;
}

export interface BalancerStatus {
  /** By listener, then by target, as in the configuration. */
  readonly targets: readonly TargetStatus[];
  /** By target; those being drained among them. */
  readonly connections: ReadonlyMap<string, number>;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Of one listener; more clients are turned away. */
const MOST_CONNECTIONS = 16_384;

/** One load balancer: real listeners, real connections (C15–C18). Its calls must not overlap. */
export class Balancer implements AsyncDisposable {
  readonly #surroundings: BalancerSurroundings;
  readonly #health: TargetHealth;
  #config: BalancerConfig | undefined;
  #admits: SourceFilter = () => false;
  /** By port. */
  readonly #servers = new Map<number, Server>();
  /** Bounded by `MOST_CONNECTIONS` of each listener; each leaves when it is over. */
  readonly #connections = new Set<ProxiedConnection>();
  /** Of each target that has any. */
  readonly #counts = new Map<string, number>();
  /** Targets that were removed, until their connections are cut. */
  readonly #drains = new Map<string, Disposable>();
  /** By target; those that are gone are forgotten. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  constructor(surroundings: BalancerSurroundings) {
    this.#surroundings = surroundings;
    this.#health = new TargetHealth(surroundings);
  }

  /** Does as it is told from now on. Rejects when it cannot listen, and goes on as before. */
  async apply(config: BalancerConfig): Promise<void> {
    const before = this.#config ?? { listeners: [], targets: [] };
    const { opened, changed, closed } = listenerChanges(before.listeners, config.listeners);
    const admits = sourceFilter(config.sourceRanges);
    await this.#open(config.address, opened);
    const removed = before.targets.filter((target) => !config.targets.includes(target));
    this.#config = config;
    this.#admits = admits;
    this.#health.follow(config);
    this.#drain(removed, config);
    const ended = new Set([...changed, ...closed].map(({ port }) => port));
    this.#cut(({ port }) => ended.has(port));
    await Promise.all(closed.map(({ port }) => this.#close(port)));
  }

  get status(): BalancerStatus {
    const { listeners, targets } = this.#config ?? { listeners: [], targets: [] };
    return {
      targets: listeners.flatMap(({ port }) =>
        targets.map((target) => {
          const { isHealthy, problem } = this.#health.trackOf(port, target);
          return { target, port, isHealthy, problem };
        }),
      ),
      connections: new Map(this.#counts),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#health[Symbol.dispose]();
    for (const drain of this.#drains.values()) drain[Symbol.dispose]();
    this.#cut(() => true);
    await Promise.all([...this.#servers.keys()].map((port) => this.#close(port)));
  }

  /** All or none. */
  async #open(host: string, listeners: readonly ListenerConfig[]): Promise<void> {
    const { network, log } = this.#surroundings;
    const opened: number[] = [];
    try {
      for (const { port } of listeners) {
        const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
        server.maxConnections = MOST_CONNECTIONS;
        server.on('connection', (client) => void this.#accept(client, port));
        await network.listen(server, { host, port });
        server.on('error', (err) => log.warn({ err, port }, 'Load balancer failed to accept a connection'));
        this.#servers.set(port, server);
        opened.push(port);
      }
    } catch (error) {
      await Promise.all(opened.map((port) => this.#close(port)));
      throw error;
    }
  }

  async #close(port: number): Promise<void> {
    const server = this.#servers.get(port);
    this.#servers.delete(port);
    await server?.[Symbol.asyncDispose]();
  }

  #drain(removed: readonly string[], { targets, drainSeconds }: BalancerConfig): void {
    for (const target of removed) {
      this.#turns.delete(target);
      const end = () => {
        this.#drains.delete(target);
        this.#cut((connection) => connection.target === target);
      };
      this.#drains.set(target, this.#surroundings.clock.timer(drainSeconds * 1000, end));
    }
    // Whoever comes back in time keeps its connections.
    for (const target of targets) {
      this.#drains.get(target)?.[Symbol.dispose]();
      this.#drains.delete(target);
    }
  }

  #cut(isMeant: (connection: ProxiedConnection) => boolean): void {
    for (const connection of this.#connections) if (isMeant(connection)) connection.cut();
  }

  async #accept(client: Socket, port: number): Promise<void> {
    const connection = this.#config && this.#connectionOf(client, port, this.#config);
    // Not a byte is sent, and none is read (C16).
    if (connection === undefined) return void client.destroy();
    const { target } = connection;
    this.#connections.add(connection);
    this.#count(target, 1);
    this.#turns.set(target, ++this.#turn);
    try {
      await connection.run();
    } catch (err) {
      this.#surroundings.log.debug({ err, target, port }, 'Target could not be reached');
    } finally {
      this.#connections.delete(connection);
      this.#count(target, -1);
    }
  }

  #count(target: string, change: 1 | -1): void {
    const count = (this.#counts.get(target) ?? 0) + change;
    if (count === 0) this.#counts.delete(target);
    else this.#counts.set(target, count);
  }

  /** Undefined for a client that is turned away. */
  #connectionOf(client: Socket, port: number, config: BalancerConfig): ProxiedConnection | undefined {
    const { network, addressOf, clock, real } = this.#surroundings;
    const listener = config.listeners.find((entry) => entry.port === port);
    const { remoteAddress: host, remotePort } = client;
    if (listener === undefined || host === undefined || remotePort === undefined) return undefined;
    if (!this.#admits([host, network.toApi(host)])) return undefined;
    const target = this.#chosen(port, config);
    const address = target === undefined ? undefined : addressOf(target);
    if (target === undefined || address === undefined) return undefined;
    const wanted = { host: network.toWire(config.address), port };
    const to = network.target({ host: address, port: listener.targetPort });
    const options = { real, timeoutMs: CONNECT_TIMEOUT_MS, ...sourceOf(network, config.address) };
    return new ProxiedConnection({
      client,
      port,
      target,
      dial: (signal) => dial(to, { ...options, signal }),
      header: headerOf(listener, { host, port: remotePort }, wanted),
      clock,
      idleMs: config.idleTimeoutSeconds * 1000,
    });
  }

  #chosen(port: number, { targets, failOpen }: BalancerConfig): string | undefined {
    const healthy = targets.filter((target) => this.#health.trackOf(port, target).isHealthy);
    const candidates = (healthy.length === 0 && failOpen ? targets : healthy).map(
      (target): Candidate => ({
        target,
        connections: this.#counts.get(target) ?? 0,
        lastTurn: this.#turns.get(target) ?? 0,
      }),
    );
    return chosenTarget(candidates);
  }
}

function headerOf({ proxyProtocol }: ListenerConfig, client: Endpoint, wanted: Endpoint): Buffer | undefined {
  return proxyProtocol === undefined ? undefined : proxyHeader(proxyProtocol, client, wanted);
}

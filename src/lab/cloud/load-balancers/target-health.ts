import type { BalancerConfig, ListenerConfig } from './balancer-config.ts';
import { type BalancerSurroundings, sourceOf } from './balancer-surroundings.ts';
import { healthProblem } from './health-check.ts';
import { type HealthTrack, UNKNOWN_HEALTH } from './health-track.ts';
import { HealthWorker, type HealthWorkerOptions } from './health-worker.ts';
import { ownProxyHeader } from './proxy-header.ts';

/** The health of all targets of a balancer, for each of its listeners by itself: one port may work where another does not. */
export class TargetHealth implements Disposable {
  readonly #surroundings: BalancerSurroundings;
  /** One for each listener and target of the configuration. */
  #workers: ReadonlyMap<string, HealthWorker> = new Map();

  constructor(surroundings: BalancerSurroundings) {
    this.#surroundings = surroundings;
  }

  /** Checks what the configuration says; what stays keeps its health. */
  follow(config: BalancerConfig): void {
    const workers = new Map<string, HealthWorker>();
    for (const listener of config.listeners)
      for (const target of config.targets) {
        const key = keyOf(listener.port, target);
        workers.set(key, this.#worker(key, this.#optionsOf(config, listener, target)));
      }
    for (const [key, worker] of this.#workers) if (!workers.has(key)) worker[Symbol.dispose]();
    this.#workers = workers;
  }

  trackOf(port: number, target: string): HealthTrack {
    return this.#workers.get(keyOf(port, target))?.track ?? UNKNOWN_HEALTH;
  }

  [Symbol.dispose](): void {
    for (const worker of this.#workers.values()) worker[Symbol.dispose]();
  }

  #worker(key: string, options: HealthWorkerOptions): HealthWorker {
    const known = this.#workers.get(key);
    if (known !== undefined) {
      known.configure(options);
      return known;
    }
    const worker = new HealthWorker(options);
    worker.start();
    return worker;
  }

  #optionsOf(config: BalancerConfig, listener: ListenerConfig, target: string): HealthWorkerOptions {
    const { network, addressOf, clock, real, hold } = this.#surroundings;
    const { healthCheck: check, address } = config;
    const { targetPort, proxyProtocol } = listener;
    const port = check.port ?? targetPort;
    // Another port is another program, which knows nothing of the header.
    const isTold = proxyProtocol !== undefined && port === targetPort;
    return {
      clock,
      hold: () => hold(`load balancer ${address} checks ${target}`),
      settings: check,
      identity: JSON.stringify([check, listener, address]),
      check: async (signal) => {
        const host = addressOf(target);
        if (host === undefined) return `${target} has no address`;
        const shown = { host, port };
        const header = isTold ? { header: ownProxyHeader(proxyProtocol) } : {};
        const at = network.target(shown);
        return healthProblem({ check, at, shown, real, signal, ...header, ...sourceOf(network, address) });
      },
    };
  }
}

const keyOf = (port: number, target: string): string => `${port} ${target}`;

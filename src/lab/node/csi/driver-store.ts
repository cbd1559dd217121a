import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { Plugin, PluginHandler } from '../plugins/plugin-handler.ts';
import { DriverCall } from './driver-call.ts';

/** A CSI driver that is registered on the node. */
export interface RegisteredDriver {
  readonly name: string;
  /** Where it serves, on this machine. */
  readonly endpoint: string;
  readonly version: readonly number[];
  /** What the driver calls this node. */
  readonly nodeId: string;
  readonly topology: Readonly<Record<string, string>>;
  /** How many volumes the node can have; 0 or less when nobody knows. */
  readonly maxVolumes: bigint;
}

export interface DriverStoreOptions {
  /** Real time. */
  readonly real: Clock;
  readonly log: Log;
}

/** The CSI drivers of one node (N36). Bounded by the plugins that register. */
export class DriverStore implements PluginHandler {
  readonly #options: DriverStoreOptions;
  readonly #drivers = new Map<string, RegisteredDriver>();
  /** Drivers that were here in this life and went. */
  readonly #gone = new Set<string>();
  readonly #listeners = new Set<() => void>();

  constructor(options: DriverStoreOptions) {
    this.#options = options;
  }

  get registered(): readonly RegisteredDriver[] {
    return [...this.#drivers.values()];
  }

  /** Names of drivers that went: only of these the node knows that they are not there. */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  find(name: string): RegisteredDriver | undefined {
    return this.#drivers.get(name);
  }

  subscribe(changed: () => void): Disposable {
    const listener = () => changed();
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  problem({ name, versions, endpoint }: Plugin): string | undefined {
    const failed = `validation failed for CSI Driver ${name} at endpoint ${endpoint}`;
    if (versions.length === 0) return `${failed}: Plugin returned an empty list for supported versions`;
    const highest = highestVersion(versions);
    if (highest === undefined) {
      return `${failed}: None of the versions specified ${JSON.stringify(versions)} are supported; 1.x is`;
    }
    const known = this.#drivers.get(name);
    if (known === undefined || isLess(known.version, highest)) return undefined;
    const version = known.version.join('.');
    return `${failed}: Another driver with the same name is already registered with a higher supported version: "${version}"`;
  }

  async register(plugin: Plugin, signal: AbortSignal): Promise<void> {
    const { name, endpoint, versions } = plugin;
    const { real, log } = this.#options;
    using call = new DriverCall({ endpoint, real, log });
    const { nodeId, maxVolumesPerNode, accessibleTopology } = await call.info(signal);
    if (nodeId === '') throw new Error(`CSI driver ${name} does not say what it calls this node`);
    this.#gone.delete(name);
    this.#drivers.set(name, {
      name,
      endpoint,
      version: highestVersion(versions) ?? [],
      nodeId,
      topology: accessibleTopology?.segments ?? {},
      maxVolumes: maxVolumesPerNode,
    });
    this.#tell();
  }

  async deregister({ name, endpoint }: Plugin): Promise<void> {
    // Another socket of the same driver may have taken its place.
    if (this.#drivers.get(name)?.endpoint !== endpoint) return;
    this.#drivers.delete(name);
    this.#gone.add(name);
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Only 1.x is known; what is no version counts nothing. */
function highestVersion(versions: readonly string[]): readonly number[] | undefined {
  const known = versions
    .filter((version) => /^v?1(\.\d{1,9})*$/.test(version))
    .map((version) => version.replace(/^v/, '').split('.').map(Number));
  return known.reduce<readonly number[] | undefined>(
    (highest, version) => (highest === undefined || isLess(highest, version) ? version : highest),
    undefined,
  );
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [left = 0, right = 0] = [a[index], b[index]];
    if (left !== right) return left < right;
  }
  return false;
}

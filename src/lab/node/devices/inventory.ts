import type { Clock } from '../../../base/clock.ts';
import { type Devices, healthyIds, unhealthy } from './device.ts';
import type { DeviceEndpoint } from './device-endpoint.ts';

/** A resource whose plugin does not come back leaves the node after this (D10). */
const GRACE_MS = 5 * 60_000;

export interface ResourceAmount {
  /** All devices. */
  readonly capacity: number;
  /** Healthy ones. */
  readonly allocatable: number;
}

interface Resource {
  /** Connected ones, the newest last; at least one unless the plugin is gone. */
  readonly endpoints: readonly DeviceEndpoint[];
  readonly devices: Devices;
  /** Runs while no plugin is connected. */
  readonly removal?: Disposable;
}

/** Resources and devices that plugins of the node advertise. Bounded by what plugins report. */
export class Inventory implements Disposable {
  readonly #clock: Clock;
  readonly #changed: () => void;
  readonly #resources = new Map<string, Resource>();
  /** Resources that left, until they come again: bounded by the resources that the node ever had. */
  readonly #removed = new Set<string>();

  constructor(clock: Clock, changed: () => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  /** A resource of an earlier life: nothing can be had of it until its plugin is back (D11). */
  recall(resource: string): void {
    this.#set(resource, { endpoints: [], devices: new Map() });
  }

  has(resource: string): boolean {
    return this.#resources.has(resource);
  }

  /** A plugin of it is connected. */
  isServed(resource: string): boolean {
    return (this.#resources.get(resource)?.endpoints.length ?? 0) > 0;
  }

  /** The plugin that serves at a socket, if it is connected. */
  endpointAt(resource: string, socket: string): DeviceEndpoint | undefined {
    return this.#resources.get(resource)?.endpoints.find((endpoint) => endpoint.socket === socket);
  }

  /** Whom to ask: the newest that said what it has (D9). */
  endpoint(resource: string): DeviceEndpoint | undefined {
    const endpoints = this.#resources.get(resource)?.endpoints ?? [];
    return endpoints.findLast(({ devices }) => devices !== undefined) ?? endpoints.at(-1);
  }

  devices(resource: string): Devices {
    return this.#resources.get(resource)?.devices ?? new Map();
  }

  amounts(): Readonly<Record<string, ResourceAmount>> {
    const amounts = [...this.#resources].map(
      ([name, { devices }]) => [name, { capacity: devices.size, allocatable: healthyIds(devices).size }] as const,
    );
    return Object.fromEntries(amounts);
  }

  /** Healthy devices of each resource. */
  registered(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries([...this.#resources].map(([name, { devices }]) => [name, [...healthyIds(devices)]]));
  }

  get removed(): readonly string[] {
    return [...this.#removed];
  }

  /** A plugin is there; the newest one is asked from its first list on. */
  add(endpoint: DeviceEndpoint): void {
    const { endpoints = [], devices = new Map() } = this.#resources.get(endpoint.resource) ?? {};
    this.#set(endpoint.resource, { endpoints: [...endpoints, endpoint], devices });
  }

  /** A plugin reported its devices. */
  refresh({ resource }: DeviceEndpoint): void {
    const known = this.#resources.get(resource);
    if (known !== undefined) this.#set(resource, known);
  }

  /** A plugin is gone: another one takes its place, or its devices cannot be had any more (D9). */
  remove(endpoint: DeviceEndpoint): void {
    const known = this.#resources.get(endpoint.resource);
    if (known?.endpoints.includes(endpoint) !== true) return;
    const endpoints = known.endpoints.filter((one) => one !== endpoint);
    const devices = endpoints.length > 0 ? known.devices : unhealthy(known.devices);
    this.#set(endpoint.resource, { endpoints, devices });
  }

  [Symbol.dispose](): void {
    for (const { endpoints, removal } of this.#resources.values()) {
      removal?.[Symbol.dispose]();
      for (const endpoint of endpoints) endpoint[Symbol.dispose]();
    }
  }

  #set(resource: string, { endpoints, devices }: Resource): void {
    this.#resources.get(resource)?.removal?.[Symbol.dispose]();
    this.#removed.delete(resource);
    const reported = endpoints.findLast((endpoint) => endpoint.devices !== undefined)?.devices ?? devices;
    const removal = endpoints.length > 0 ? undefined : this.#clock.timer(GRACE_MS, () => this.#drop(resource));
    this.#resources.set(resource, { endpoints, devices: reported, ...(removal !== undefined && { removal }) });
    this.#changed();
  }

  #drop(resource: string): void {
    this.#resources.delete(resource);
    this.#removed.add(resource);
    this.#changed();
  }
}

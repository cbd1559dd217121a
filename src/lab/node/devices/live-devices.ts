import { join } from 'node:path';
import type { Container, Node, Pod } from '../../../api/generated/core-v1-types.ts';
import { messageOf } from '../../../base/errors.ts';
import type { RpcServer } from '../../../rpc/serve-rpc.ts';
import { briefHold } from '../plugins/brief-hold.ts';
import type { FactsAddition } from '../registration/node-facts.ts';
import { ContainerProblem } from '../runtime/container-runtime.ts';
import { Allocations } from './allocations.ts';
import { type Checkpoint, readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { healthyIds } from './device.ts';
import { chosenDevices } from './device-choice.ts';
import { DeviceEndpoint } from './device-endpoint.ts';
import type { DeviceManager, DeviceManagerOptions, DevicesOfResource } from './device-manager.ts';
import { clearDeviceDirectory, deviceHandler, serveRegistration } from './device-registration.ts';
import { containersInOrder, deviceRequests, nodeForAdmission } from './device-requests.ts';
import { type DeviceSettings, deviceSettings, NO_DEVICES } from './device-settings.ts';
import { Inventory } from './inventory.ts';

const CHECKPOINT = 'kubelet_internal_checkpoint';

type Reusable = Map<string, ReadonlySet<string>>;

export class LiveDevices implements DeviceManager {
  readonly plugins = deviceHandler(
    (resource, socket, signal) => this.#connect(resource, socket, signal),
    (resource, socket) => this.#disconnect(resource, socket),
  );
  readonly #options: DeviceManagerOptions;
  readonly #inventory: Inventory;
  readonly #listeners = new Set<() => void>();
  #allocations = new Allocations();
  #checkpoint = '';
  #server: RpcServer | undefined;
  #isStopped = false;
  #isWriteDue = false;
  /** Allocation and everything that is written, one after the other. Never rejects. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: DeviceManagerOptions) {
    this.#options = options;
    this.#inventory = new Inventory(options.clock, () => this.#changed());
  }

  async start(): Promise<void> {
    const { root, real, log } = this.#options;
    this.#checkpoint = join(await clearDeviceDirectory(root), CHECKPOINT);
    const known = await readCheckpoint(this.#checkpoint).catch((err: unknown) => {
      log.error({ err }, 'Cannot read which container has which devices; all of them count as free');
      return undefined;
    });
    this.#recall(known ?? { allocations: [], registered: {} });
    this.#server = await serveRegistration(root, real, (resource, socket, signal) =>
      this.#connect(resource, socket, signal),
    );
  }

  resources() {
    return this.#inventory.amounts();
  }

  facts(): FactsAddition {
    const amounts = Object.entries(this.resources());
    return {
      capacity: Object.fromEntries(amounts.map(([resource, { capacity }]) => [resource, String(capacity)])),
      allocatable: Object.fromEntries(
        amounts.map(([resource, { allocatable }]) => [resource, String(allocatable)]),
      ),
      removedResources: this.#inventory.removed,
    };
  }

  nodeForAdmission(node: Node): Node {
    const resources = new Set([...Object.keys(this.resources()), ...this.#allocations.resources()]);
    const counts = [...resources].map((resource) => {
      const inUse = this.#allocations.inUse(resource).size;
      return [resource, { isServed: this.#inventory.isServed(resource), inUse }] as const;
    });
    return nodeForAdmission(node, new Map(counts));
  }

  async admit(pod: Pod): Promise<string | undefined> {
    const containers = containersInOrder(pod);
    if (containers.every(({ container }) => this.#requests(container).size === 0)) return undefined;
    return await this.#inTurn(async () => {
      using _hold = briefHold(this.#options, `devices of pod ${pod.metadata.name}`);
      this.#forgetOthersThan(uidOf(pod));
      try {
        const reusable: Reusable = new Map();
        for (const { container, isPassedOn } of containers) {
          await this.#give(pod, container, reusable);
          this.#passOn(uidOf(pod), container.name, reusable, isPassedOn);
        }
        await this.#write();
        return undefined;
      } catch (error) {
        if (this.#allocations.release((uid) => uid === uidOf(pod))) await this.#write().catch(() => {});
        return `Allocate failed due to ${messageOf(error)}, which is unexpected`;
      }
    });
  }

  async allocate(pod: Pod, container: Container): Promise<DeviceSettings> {
    const requests = this.#requests(container);
    if (requests.size === 0) return NO_DEVICES;
    const uid = uidOf(pod);
    using _hold = briefHold(this.#options, `devices of container ${container.name} of pod ${pod.metadata.name}`);
    try {
      const isMissing = [...requests.keys()].some(
        (resource) => this.#allocations.find(uid, container.name, resource) === undefined,
      );
      // It was let in by an earlier life that did not come to write it down.
      if (isMissing) await this.#inTurn(() => this.#give(pod, container, new Map()).then(() => this.#write()));
      const has = this.#allocations.of(uid, container.name);
      for (const { resource, devices } of has) await this.#inventory.endpoint(resource)?.preStart(devices);
      return await deviceSettings(
        this.#options.root,
        has.map(({ response }) => response),
      );
    } catch (error) {
      throw new ContainerProblem('CreateContainerConfigError', messageOf(error));
    }
  }

  async release(uid: string): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#allocations.release((one) => one === uid)) await this.#write();
    });
  }

  assigned(uid: string, container: string): readonly DevicesOfResource[] {
    return this.#allocations
      .of(uid, container)
      .flatMap(({ resource, devices, numaNodes }) =>
        devices.map((device) => ({ resource, device, numaNodes: numaNodes.get(device) ?? [] })),
      );
  }

  healthy(): readonly DevicesOfResource[] {
    return Object.keys(this.resources()).flatMap((resource) =>
      [...this.#inventory.devices(resource).values()]
        .filter(({ isHealthy }) => isHealthy)
        .map(({ id, numaNodes }) => ({ resource, device: id, numaNodes })),
    );
  }

  subscribe(changed: () => void): Disposable {
    const listener = () => changed();
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#server?.[Symbol.asyncDispose]();
    this.#inventory[Symbol.dispose]();
    await this.#turn;
  }

  #recall({ allocations, registered }: Checkpoint): void {
    this.#allocations = new Allocations(allocations);
    for (const resource of Object.keys(registered)) this.#inventory.recall(resource);
  }

  #requests(container: Container): ReadonlyMap<string, number> {
    const given = this.#allocations.resources();
    return deviceRequests(container, (resource) => this.#inventory.has(resource) || given.has(resource));
  }

  /** D13. Rejects with a sentence. */
  async #give(pod: Pod, container: Container, reusable: Reusable): Promise<void> {
    for (const [resource, count] of this.#requests(container)) {
      const has = this.#allocations.find(uidOf(pod), container.name, resource)?.devices;
      if (has !== undefined && has.length !== count) {
        const change = `from ${has.length} to ${count}`;
        throw new Error(
          `pod "${uidOf(pod)}" container "${container.name}" changed request for resource "${resource}" ${change}`,
        );
      }
      this.#checkHealth(resource, has ?? []);
      if (has === undefined) await this.#giveNew(pod, container, { resource, count, reusable });
    }
  }

  #checkHealth(resource: string, has: readonly string[]): void {
    if (!this.#inventory.has(resource)) throw new Error(`cannot allocate unregistered device ${resource}`);
    const healthy = healthyIds(this.#inventory.devices(resource));
    if (healthy.size === 0)
      throw new Error(`no healthy devices present; cannot allocate unhealthy devices ${resource}`);
    if (has.some((device) => !healthy.has(device))) {
      throw new Error(
        `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`,
      );
    }
  }

  async #giveNew(
    pod: Pod,
    container: Container,
    { resource, count, reusable }: { resource: string; count: number; reusable: Reusable },
  ): Promise<void> {
    const endpoint = this.#inventory.endpoint(resource);
    if (endpoint === undefined) throw new Error(`endpoint of ${resource} has been stopped`);
    const affinity = this.#options.affinity?.(pod, container);
    const known = this.#inventory.devices(resource);
    const devices = await chosenDevices({
      resource,
      count,
      devices: known,
      inUse: this.#allocations.inUse(resource),
      reusable: reusable.get(resource) ?? new Set(),
      ...(affinity !== undefined && { affinity }),
      preference: endpoint.preference,
    });
    const response = await endpoint.allocate(devices);
    const numaNodes = new Map(devices.map((device) => [device, known.get(device)?.numaNodes ?? []]));
    this.#allocations.add({ uid: uidOf(pod), container: container.name, resource, devices, numaNodes, response });
  }

  #passOn(uid: string, container: string, reusable: Reusable, isPassedOn: boolean): void {
    for (const { resource, devices } of this.#allocations.of(uid, container)) {
      const before = reusable.get(resource) ?? new Set();
      reusable.set(
        resource,
        isPassedOn ? new Set([...before, ...devices]) : new Set([...before].filter((id) => !devices.includes(id))),
      );
    }
  }

  #forgetOthersThan(uid: string): void {
    const active = this.#options.activePods?.();
    if (active !== undefined) this.#allocations.release((one) => one !== uid && !active.has(one));
  }

  async #connect(resource: string, socket: string, signal: AbortSignal): Promise<void> {
    const { real, log } = this.#options;
    this.#requireFree(resource, socket);
    using _hold = briefHold(this.#options, `device plugin of ${resource}`);
    const endpoint = new DeviceEndpoint({ resource, socket, real });
    try {
      await endpoint.connect(signal);
      if (this.#isStopped) throw new Error('the node does not work any more');
      // It may have registered twice at once.
      this.#requireFree(resource, socket);
    } catch (error) {
      endpoint[Symbol.dispose]();
      throw error;
    }
    log.info({ resource, socket }, 'Device plugin connected');
    this.#inventory.add(endpoint);
    void endpoint.watch(() => this.#inventory.refresh(endpoint)).then(() => this.#lose(endpoint));
  }

  #requireFree(resource: string, socket: string): void {
    if (this.#inventory.endpointAt(resource, socket) === undefined) return;
    throw new Error(`the plugin at ${socket} is already connected for ${resource}`);
  }

  #disconnect(resource: string, socket: string): void {
    const endpoint = this.#inventory.endpointAt(resource, socket);
    if (endpoint !== undefined) this.#lose(endpoint);
  }

  #lose(endpoint: DeviceEndpoint): void {
    endpoint[Symbol.dispose]();
    if (this.#isStopped) return;
    const { resource, socket } = endpoint;
    this.#options.log.info({ resource, socket }, 'Device plugin disconnected');
    this.#inventory.remove(endpoint);
  }

  #changed(): void {
    if (this.#isStopped) return;
    if (!this.#isWriteDue && this.#checkpoint !== '') {
      this.#isWriteDue = true;
      void this.#inTurn(async () => {
        this.#isWriteDue = false;
        await this.#write().catch((err: unknown) => {
          this.#options.log.error({ err }, 'Cannot write down the devices of the node');
        });
      });
    }
    for (const listener of this.#listeners) listener();
  }

  #write(): Promise<void> {
    const { all: allocations } = this.#allocations;
    return writeCheckpoint(this.#checkpoint, { allocations, registered: this.#inventory.registered() });
  }

  async #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(act);
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }
}

const uidOf = ({ metadata }: Pod): string => metadata.uid ?? '';

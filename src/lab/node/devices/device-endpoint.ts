import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { dialRpc, type RpcConnection } from '../../../rpc/dial-rpc.ts';
import { type AllocatedContainer, DevicePlugin, type PluginOptions } from '../../../rpc/kubelet/device-plugin.ts';
import type { RpcClient } from '../../../rpc/rpc-service.ts';
import { type Devices, devicesOf } from './device.ts';
import type { Preference } from './device-choice.ts';

const DIAL_MS = 10_000;
/** Upstream waits for ever; a plugin that hangs must not keep every pod of the node from starting. */
const CALL_MS = 30_000;

export interface EndpointOptions {
  readonly resource: string;
  /** Where the plugin serves, on this machine. */
  readonly socket: string;
  /** Real time. */
  readonly real: Clock;
}

/** One plugin of one resource, connected. Disposing it ends its stream and all calls. */
export class DeviceEndpoint implements Disposable {
  readonly resource: string;
  readonly socket: string;
  readonly #connection: RpcConnection;
  readonly #client: RpcClient<typeof DevicePlugin>;
  #options: PluginOptions = { preStartRequired: false, getPreferredAllocationAvailable: false };
  #devices: Devices | undefined;

  constructor({ resource, socket, real }: EndpointOptions) {
    this.resource = resource;
    this.socket = socket;
    this.#connection = dialRpc({ address: { socket }, clock: real });
    this.#client = this.#connection.client(DevicePlugin);
  }

  /** As it reported them last; undefined before its first list. */
  get devices(): Devices | undefined {
    return this.#devices;
  }

  /** Dials and asks for options. Rejects with a sentence. */
  async connect(signal: AbortSignal): Promise<void> {
    try {
      await this.#connection.ready({ timeoutMs: DIAL_MS, signal });
    } catch (cause) {
      const socket = `failed to dial device plugin with socketPath ${this.socket}`;
      throw new Error(`${socket}: ${messageOf(cause)}`, { cause });
    }
    try {
      this.#options = await this.#client.getDevicePluginOptions({}, { timeoutMs: DIAL_MS, signal });
    } catch (cause) {
      throw new Error(`failed to get device plugin options: ${messageOf(cause)}`, { cause });
    }
  }

  /** Resolves when the plugin ends its list (D3), which is what it does when it dies, too. */
  async watch(changed: () => void): Promise<void> {
    try {
      for await (const { devices } of this.#client.listAndWatch({})) {
        this.#devices = devicesOf(devices);
        changed();
      }
    } catch {
      // Whatever ended it, its devices cannot be had any more.
    }
  }

  readonly preference: Preference = ({ available, mustInclude, size }) => {
    if (!this.#options.getPreferredAllocationAvailable) return undefined;
    const request = {
      availableDeviceIDs: available,
      mustIncludeDeviceIDs: mustInclude,
      allocationSize: size,
    };
    return this.#client
      .getPreferredAllocation({ containerRequests: [request] }, { timeoutMs: CALL_MS })
      .then(({ containerResponses }) => containerResponses[0]?.deviceIDs ?? []);
  };

  /** Rejects when the plugin does not give them. */
  async allocate(devices: readonly string[]): Promise<AllocatedContainer> {
    const request = { containerRequests: [{ devicesIds: devices }] };
    const { containerResponses } = await this.#client.allocate(request, { timeoutMs: CALL_MS });
    const [response] = containerResponses;
    if (response === undefined) throw new Error(`no containers return in allocation response of ${this.resource}`);
    return response;
  }

  /** Before every start of a container, if the plugin asked for it (D16). */
  async preStart(devices: readonly string[]): Promise<void> {
    if (!this.#options.preStartRequired) return;
    try {
      await this.#client.preStartContainer({ devicesIds: devices }, { timeoutMs: CALL_MS });
    } catch (cause) {
      throw new Error(`device plugin PreStartContainer rpc failed with err: ${messageOf(cause)}`, { cause });
    }
  }

  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }
}

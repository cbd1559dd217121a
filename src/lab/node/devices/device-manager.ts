import type { Container, Node, Pod } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { PluginHandler } from '../plugins/plugin-handler.ts';
import type { FactsAddition } from '../registration/node-facts.ts';
import type { DeviceSettings } from './device-settings.ts';
import type { ResourceAmount } from './inventory.ts';
import { LiveDevices } from './live-devices.ts';

export interface DeviceManagerOptions {
  /** What the node takes for `/`. */
  readonly root: string;
  /** Lab time: how long a resource stays without its plugin. */
  readonly clock: Clock;
  /** Real time: plugins are programs. */
  readonly real: Clock;
  readonly log: Log;
  /** Uids of the pods that have not ended; undefined while they are not known yet. Others lose their devices. */
  readonly activePods?: () => ReadonlySet<string> | undefined;
  /** NUMA nodes that a container is to be near to; nobody cares unless told otherwise. */
  readonly affinity?: (pod: Pod, container: Container) => ReadonlySet<bigint> | undefined;
  /** Keeps lab time still while plugins are asked. */
  readonly hold?: (reason: string) => Disposable;
}

/** Devices of one resource that are in one place. */
export interface DevicesOfResource {
  readonly resource: string;
  readonly device: string;
  readonly numaNodes: readonly bigint[];
}

/** The devices of one node: who advertises them, and who has them (hardware D9–D18). */
export interface DeviceManager extends AsyncDisposable {
  /** What plugins advertise, by resource (D10). */
  resources(): Readonly<Record<string, ResourceAmount>>;
  /** The same for the status of the node. */
  facts(): FactsAddition;
  /** The node as admission is to see it (D10, D11). */
  nodeForAdmission(node: Node): Node;
  /**
   * Gives a pod the devices that it asks for, all or none; why it cannot, as a sentence. Pods come one after the other, so
   * that no device is given twice. A pod that has them already keeps exactly these. Never rejects.
   */
  admit(pod: Pod): Promise<string | undefined>;
  /**
   * What a container gets with its devices; to be asked before each of its starts, since a plugin may have to prepare
   * them (D16). Rejects with a ContainerProblem when that fails.
   */
  allocate(pod: Pod, container: Container): Promise<DeviceSettings>;
  /** The pod has ended. Idempotent. */
  release(uid: string): Promise<void>;
  /** What a container has. */
  assigned(uid: string, container: string): readonly DevicesOfResource[];
  /** All healthy devices, whoever has them. */
  healthy(): readonly DevicesOfResource[];
  /** For plugins that register through the registry of the node. */
  readonly plugins: PluginHandler;
  /** `changed` is called when `resources` may give another answer. */
  subscribe(changed: () => void): Disposable;
}

/**
 * Starts to serve device plugins: what an earlier life gave away is remembered, every socket of plugins is removed, so
 * that they notice and register again (D2), and `kubelet.sock` is served anew (N33).
 */
export async function startDeviceManager(options: DeviceManagerOptions): Promise<DeviceManager> {
  const devices = new LiveDevices(options);
  await devices.start();
  return devices;
}

import { qualifiedNameProblems } from '../../../object/names.ts';
import type { PluginDevice } from '../../../rpc/kubelet/device-plugin.ts';

/** One device, as its plugin reported it last. */
export interface Device {
  readonly id: string;
  readonly isHealthy: boolean;
  /** NUMA nodes that it is near to; empty when nobody said so. */
  readonly numaNodes: readonly bigint[];
}

/** By id, in the order in which the plugin lists them. */
export type Devices = ReadonlyMap<string, Device>;

/** Pure: a list of a plugin. Of two devices with one id the later one counts; numbers below zero name no NUMA node (D4). */
export const devicesOf = (reported: readonly PluginDevice[]): Devices =>
  new Map(
    reported.map(({ ID: id, health, topology }) => [
      id,
      {
        id,
        isHealthy: health === 'Healthy',
        numaNodes: (topology?.nodes ?? []).map(({ ID }) => ID).filter((node) => node >= 0n),
      },
    ]),
  );

/** Nobody can reach them any more (D3). */
export const unhealthy = (devices: Devices): Devices =>
  new Map([...devices].map(([id, device]) => [id, { ...device, isHealthy: false }]));

export const healthyIds = (devices: Devices): ReadonlySet<string> =>
  new Set([...devices.values()].filter(({ isHealthy }) => isHealthy).map(({ id }) => id));

/** Pure: whether a plugin may advertise under a name (D8): that of an extended resource. */
export const isExtendedResource = (name: string): boolean =>
  name.includes('/') &&
  !name.includes('kubernetes.io/') &&
  !name.startsWith('requests.') &&
  qualifiedNameProblems(`requests.${name}`).length === 0;

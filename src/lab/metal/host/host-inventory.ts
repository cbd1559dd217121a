import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../api/json.ts';
import type { BootedHost } from './host-power.ts';

const GIB = 2 ** 30;
const MEMORY_GIB = 32;

/** Pure: what a host finds when it looks at itself, in the form of `status.inventory` of an Agent. */
export const inventoryOf = (
  { id, architecture, macAddresses, boot }: BootedHost,
  hostname: string,
): JsonObject => ({
  hostname,
  cpu: { architecture: machineName(architecture), count: 8, modelName: 'Slipway lab' },
  memory: { physicalBytes: MEMORY_GIB * GIB, usableBytes: (MEMORY_GIB - 1) * GIB },
  interfaces: macAddresses.map((macAddress, at) => ({
    name: `eno${at + 1}`,
    macAddress,
    flags: ['up', 'broadcast', 'multicast'],
    hasCarrier: true,
    ipV4Addresses: [`${addressOf(macAddress)}/16`],
    ipV6Addresses: [],
  })),
  systemVendor: { manufacturer: 'Slipway', productName: 'Lab host', serialNumber: id, virtual: false },
  // How assisted-service knows a host that runs from its disk (spec section 7).
  boot: { currentBootMode: 'uefi', deviceType: boot.from === 'disk' ? 'persistent' : 'ephemeral' },
});

const MACHINE_NAMES: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };
const machineName = (architecture: string): string => MACHINE_NAMES[architecture] ?? architecture;

/** One of the addresses for tests, the same for the same interface. */
function addressOf(macAddress: string): string {
  const [first = 0, second = 0] = createHash('sha256').update(macAddress.toLowerCase()).digest();
  return `198.18.${first}.${Math.max(1, Math.min(254, second))}`;
}

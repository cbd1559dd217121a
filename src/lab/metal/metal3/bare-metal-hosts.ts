import { createHash } from 'node:crypto';
import type { BareMetalHost } from '../../../api/metal3/metal3-v1alpha1.ts';
import { fieldAt } from '../../../api/unstructured.ts';
import { hardwareId } from '../../machine/hardware-id.ts';

/** What is known of a host without looking at it: the lab has no hardware to look at. Pure. */

type Hardware = NonNullable<NonNullable<BareMetalHost['status']>['hardware']>;

const [CARDS, CPUS, RAM_MEBIBYTES] = [2, 16, 65_536];

/** Of the hardware: the same when the object that stands for it is deleted and made again. */
export const hostHardwareId = ({ metadata: { namespace = '', name } }: BareMetalHost): string =>
  hardwareId(`${namespace}/${name}`);

/** The first one is the one it boots from. */
export function macAddresses(host: BareMetalHost): readonly string[] {
  const { namespace = '', name } = host.metadata;
  const made = Array.from({ length: CARDS }, (_, card) => {
    const hex = digest(namespace, name, `card ${card}`).slice(0, 6);
    return `52:54:00:${hex.replace(/(..)(..)(..)/, '$1:$2:$3')}`;
  });
  const { bootMACAddress = '' } = host.spec ?? {};
  return bootMACAddress === '' ? made : [bootMACAddress.toLowerCase(), ...made.slice(1)];
}

/** As Kubernetes spells it. */
export const architectureOf = (host: BareMetalHost): 'amd64' | 'arm64' =>
  fieldAt(host, 'spec', 'architecture') === 'aarch64' ? 'arm64' : 'amd64';

/** What an inspection finds. */
export function hardwareOf(host: BareMetalHost): Hardware {
  const { namespace = '', name } = host.metadata;
  const [b = 0, c = 0] = Buffer.from(digest(namespace, name, 'address'), 'hex');
  return {
    hostname: name,
    nics: macAddresses(host).map((mac, card) => ({
      name: `enp${card + 1}s0`,
      mac,
      ...(card === 0 && { ip: `10.111.${b}.${(c % 253) + 1}` }),
    })),
    systemVendor: { manufacturer: 'Slipway', productName: 'Lab host', serialNumber: hostHardwareId(host) },
    cpu: { arch: architectureOf(host) === 'arm64' ? 'aarch64' : 'x86_64', count: CPUS },
    ramMebibytes: RAM_MEBIBYTES,
  };
}

const digest = (...texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('\n')).digest('hex');

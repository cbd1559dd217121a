import type {
  InstanceObservation,
  InstanceRef,
  NodeAddress,
  PresentInstance,
} from '../../sdk/capabilities/instances.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import type { LabInstance } from './lab-objects.ts';

/** `lab://<zone>/<id>` (lab/C13). */
export const PROVIDER_ID = /^lab:\/\/[a-z0-9](?:[-a-z0-9]{0,30}[a-z0-9])?\/i-[0-9a-f]{12}$/;

/** The identifier in the cloud; undefined for a provider ID of something else. */
export const instanceIdOf = (providerID: string): string | undefined =>
  PROVIDER_ID.test(providerID) ? providerID.slice(providerID.lastIndexOf('/') + 1) : undefined;

const TERMINATED = 'terminated';

/** What is on its way from one state to another may be either. */
const POWER: Readonly<Record<string, PresentInstance['power']>> = {
  running: 'on',
  rebooting: 'on',
  stopped: 'off',
};

/** Pure: what the cloud says about a machine. `terminated` is the one answer that proves that it is gone for ever. */
export function observation(instance: LabInstance, region: string | undefined): InstanceObservation {
  const { id, state, providerID, type, zone } = instance;
  if (state === TERMINATED) return { state: 'absent', evidence: `the lab cloud says that ${id} is ${state}` };
  return {
    state: 'present',
    power: POWER[state] ?? 'unknown',
    providerID,
    instanceType: type,
    addresses: addressesOf(instance),
    zone,
    ...(region !== undefined && { region }),
  };
}

const addressesOf = ({ privateAddress, publicAddress, hostname, name }: LabInstance): readonly NodeAddress[] => [
  { type: 'InternalIP', address: privateAddress },
  { type: 'ExternalIP', address: publicAddress },
  { type: 'InternalDNS', address: hostname },
  { type: 'Hostname', address: name },
];

/**
 * Pure: the machine behind a Node without a provider ID, among those of the cluster with its name. Names are not unique
 * (lab/C5): the addresses of the Node decide between two that live. Undefined when none has the name.
 */
export function namesake(ref: InstanceRef, instances: readonly LabInstance[]): LabInstance | undefined {
  const named = instances.filter(({ name }) => name === ref.nodeName);
  const living = named.filter(({ state }) => state !== TERMINATED);
  if (living.length <= 1) return living[0] ?? named.at(-1);
  const addresses = (ref.node.status?.addresses ?? []).map(({ address }) => address);
  const fitting = living.filter(({ privateAddress }) => addresses.includes(privateAddress));
  if (fitting.length === 1) return fitting[0];
  const ids = living.map(({ id }) => id).join(', ');
  throw new ProviderError('conflict', `several instances are called ${ref.nodeName}: ${ids}`);
}

/** Pure: how long the Node has been there; nothing at all when that cannot be told. */
export function nodeAgeMs({ node }: InstanceRef, now: Date): number {
  const created = Date.parse(node.metadata?.creationTimestamp ?? '');
  return Number.isNaN(created) ? 0 : now.getTime() - created;
}

import type { Agent } from '../../api/assisted/agent-install-v1beta1.ts';
import { HOST_ANNOTATION, type Metal3Machine } from '../../api/metal3/infrastructure-v1beta2.ts';
import type { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import { keyOf, keyText, type ObjectKey } from '../../api/object.ts';

/** A host that an infrastructure machine has, and what it is known by. */
export interface Host {
  /** Of the Metal3Machine. */
  readonly infraMachine: string;
  readonly key: ObjectKey;
  readonly uid: string;
  readonly macs: ReadonlySet<string>;
  readonly uuids: ReadonlySet<string>;
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
const NO_MAC = '00:00:00:00:00:00';

const macOf = (text: string | undefined): readonly string[] => {
  const mac = (text ?? '').trim().toLowerCase().replaceAll('-', ':');
  return mac === '' || mac === NO_MAC ? [] : [mac];
};

/**
 * Pure: all hosts that machines have. Metal3 tells no system UUID, but the address of a BMC mostly ends in it, and where
 * hosts are enrolled under it, that is their ID.
 */
export function hostsOf(machines: readonly Metal3Machine[], hosts: readonly BareMetalHost[]): readonly Host[] {
  const byKey = new Map(hosts.map((host) => [keyText(host.metadata), host]));
  return machines.flatMap(({ metadata: { name, annotations = {} } }) => {
    const host = byKey.get(annotations[HOST_ANNOTATION] ?? '');
    return host === undefined ? [] : [known(name, host)];
  });
}

const known = (infraMachine: string, host: BareMetalHost): Host => ({
  infraMachine,
  key: keyOf(host),
  uid: host.metadata.uid ?? '',
  macs: new Set([host.spec?.bootMACAddress, ...nicsOf(host)].flatMap(macOf)),
  uuids: new Set(uuidsOf(host).map((uuid) => uuid.toLowerCase())),
});

const nicsOf = ({ status }: BareMetalHost): readonly (string | undefined)[] =>
  (status?.hardware?.nics ?? []).map(({ mac }) => mac);

function uuidsOf({ spec, status }: BareMetalHost): readonly string[] {
  const [uuid = ''] = UUID.exec(spec?.bmc?.address ?? '') ?? [];
  return [status?.provisioning?.ID ?? '', uuid].filter((text) => text !== '');
}

/** Pure: the MAC addresses that an Agent found; none before its inventory came. */
export const macsOf = ({ status }: Agent): readonly string[] =>
  (status?.inventory?.interfaces ?? []).flatMap(({ macAddress }) => macOf(macAddress));

/** Pure: the hosts that an Agent can be. Its name is the system UUID. */
export function matchingHosts(agent: Agent, hosts: readonly Host[]): readonly Host[] {
  const macs = macsOf(agent);
  const uuid = agent.metadata.name.toLowerCase();
  return hosts.filter((host) => macs.some((mac) => host.macs.has(mac)) || host.uuids.has(uuid));
}

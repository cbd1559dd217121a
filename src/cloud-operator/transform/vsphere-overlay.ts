import { isIPv6 } from 'node:net';
import type { Network, VSphereNodeNetwork, VSpherePlatformSpec } from '../../api/openshift/config-v1.ts';
import type { JsonObject } from '../../object/json.ts';
import type { TransformContext } from '../definition.ts';
import type { VSphereConfig } from './vsphere-config.ts';

/** Tags by which resources of vSphere tell where they are. */
const LABELS = { region: 'openshift-region', zone: 'openshift-zone' };
/** An address of the cluster network on every node, which must not be taken for that of the node. */
const INTERNAL_TO_NODES = 'fd69::2/128';

/** R75: what the Infrastructure object says about vSphere wins over the source. */
export function overlayInfrastructure(config: VSphereConfig, { infra, network }: TransformContext): void {
  const spec = infra.spec?.platformSpec?.vsphere;
  if (!spec) return;
  const families = ipFamilies(network);
  if (families !== undefined) config.global['ipFamily'] = families;
  config.nodes = nodes(spec, excludedNetworks({ infra, network }));
  config.vcenter = vcenters(spec);
  if ((spec.failureDomains?.length ?? 0) > 1) config.labels = { ...LABELS };
}

const serviceNetworks = ({ spec }: Network): readonly string[] => spec?.serviceNetwork ?? [];

/** Undefined where the program's own choice, IPv4, is right. */
function ipFamilies(network: Network): string[] | undefined {
  const networks = serviceNetworks(network);
  const [first = ''] = networks;
  if (networks.length === 1) return isIPv6Network(first) ? ['ipv6'] : undefined;
  if (networks.length !== 2) return undefined;
  return isIPv4(first.split('/')[0] ?? '') ? ['ipv4', 'ipv6'] : ['ipv6', 'ipv4'];
}

/** Virtual addresses that a machine may have besides its own. With IPv4 alone nobody has seen them mistaken. */
function excludedNetworks({ infra, network }: Pick<TransformContext, 'infra' | 'network'>): readonly string[] {
  if (!serviceNetworks(network).some(isIPv6Network)) return [];
  const { apiServerInternalIPs = [], ingressIPs = [] } = infra.status?.platformStatus?.vsphere ?? {};
  const addresses = [...apiServerInternalIPs, ...ingressIPs];
  return [...addresses.map((address) => `${address}/${isIPv4(address) ? 32 : 128}`), INTERNAL_TO_NODES];
}

function nodes({ nodeNetworking }: VSpherePlatformSpec, excluded: readonly string[]): JsonObject {
  const { external, internal } = nodeNetworking ?? {};
  const exclude = (side: VSphereNodeNetwork | undefined) =>
    joined([...(side?.excludeNetworkSubnetCidr ?? []), ...excluded]);
  return {
    externalVmNetworkName: external?.network ?? '',
    externalNetworkSubnetCidr: joined(external?.networkSubnetCidr),
    excludeExternalNetworkSubnetCidr: exclude(external),
    internalVmNetworkName: internal?.network ?? '',
    internalNetworkSubnetCidr: joined(internal?.networkSubnetCidr),
    excludeInternalNetworkSubnetCidr: exclude(internal),
  };
}

const joined = (networks: readonly string[] = []): string => networks.join(',');

/** From scratch, so that servers go that are not there any more. */
function vcenters({ vcenters: listed = [], failureDomains = [] }: VSpherePlatformSpec): Map<string, JsonObject> {
  const found = new Map<string, { readonly port: number; readonly datacenters: string[] }>();
  for (const { server, port = 0, datacenters = [] } of listed)
    found.set(server, { port, datacenters: [...datacenters] });
  for (const { server, topology } of failureDomains) {
    const vcenter = found.get(server) ?? { port: 0, datacenters: [] };
    found.set(server, vcenter);
    const datacenter = topology?.datacenter ?? '';
    if (!vcenter.datacenters.includes(datacenter)) vcenter.datacenters.push(datacenter);
  }
  return new Map([...found].map(([server, fields]) => [server, { server, ...fields }]));
}

const isIPv6Network = (text: string): boolean => {
  const [address = '', bits = ''] = text.split('/');
  return isIPv6(address) && !address.includes('%') && /^[0-9]+$/.test(bits) && Number(bits) <= 128;
};

/** Zeros in front are no octal numbers here. */
const isIPv4 = (text: string): boolean =>
  /^[0-9]+(?:\.[0-9]+){3}$/.test(text) && text.split('.').every((part) => Number(part) <= 255);

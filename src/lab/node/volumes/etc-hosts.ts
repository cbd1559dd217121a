import type { Pod } from '../../../api/generated/core-v1-types.ts';

const HEAD = [
  '# Kubernetes-managed hosts file.',
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** The text of a pod's `/etc/hosts`: itself, and its `hostAliases`. */
export function etcHosts({ metadata, spec, status }: Pod): string {
  const { hostname = metadata.name, hostAliases = [] } = spec;
  const addresses = spec.hostNetwork === true ? [] : (status?.podIPs ?? []).map(({ ip }) => ip);
  const aliases = hostAliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join('\t'));
  return [
    ...HEAD,
    ...addresses.map((address) => `${address}\t${hostname}`),
    ...(aliases.length === 0 ? [] : ['', '# Entries added by HostAliases.', ...aliases]),
    '',
  ].join('\n');
}

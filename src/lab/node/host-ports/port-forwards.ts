import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { LabAddress } from '../../address/address-plan.ts';
import type { Frontend } from '../../proxy/service-frontends.ts';

/** Every address of a node, and what programs call their own. */
const OWN = ['', '0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'];

/**
 * Pure: the ports of a node that lead to a pod (X4). None for pods of the host network: those listen there themselves.
 * A port for an address that the node does not have is not opened: nobody could come by it.
 */
export function portForwards(
  { metadata: { namespace = '', name }, spec }: Pod,
  node: { readonly name: string; readonly address: LabAddress },
  { api: host }: LabAddress,
): readonly Frontend[] {
  const { containers, initContainers = [], hostNetwork = false } = spec;
  if (hostNetwork) return [];
  const own = [...OWN, node.address.api, node.address.wire];
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const ports = [...sidecars, ...containers].flatMap((container) => container.ports ?? []);
  return ports.flatMap(({ hostPort = 0, containerPort, protocol = 'TCP', hostIP = '' }): readonly Frontend[] => {
    if (hostPort === 0 || protocol === 'SCTP' || !own.includes(hostIP)) return [];
    const backend = { host, port: containerPort, node: node.name, isReady: true, isLastResort: false };
    return [
      {
        protocol,
        at: { host: node.address.api, port: hostPort },
        service: { namespace, name },
        backends: [backend],
        isLocal: false,
        affinitySeconds: 0,
      },
    ];
  });
}

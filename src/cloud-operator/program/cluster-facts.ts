import { type ControlPlaneTopology, Infrastructure, SINGLETON } from '../../api/openshift/config-v1.ts';
import { messageOf } from '../../base/errors.ts';
import type { FactsOptions } from '../../kube/manager/cluster-tls.ts';
import { type Need, needs } from '../../kube/rbac/need.ts';

/** For reading the topology before there is a cache. */
export const TOPOLOGY_NEEDS: readonly Need[] = [needs(Infrastructure, ['get'], { names: [SINGLETON.name] })];

/** A server that does not answer does not keep the program from starting. */
const TIMEOUT_MS = 10_000;

/** Undefined where it cannot be read: then the cluster counts as one with several control-plane nodes (R9). */
export async function controlPlaneTopology(options: FactsOptions): Promise<ControlPlaneTopology | undefined> {
  const { reader, log, signal } = options;
  try {
    const infra = await reader.find(Infrastructure, SINGLETON, { signal, timeoutMs: TIMEOUT_MS });
    return infra?.status?.controlPlaneTopology;
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    log.warn({ problem: messageOf(thrown) }, 'Cannot read the topology: taking the usual times for the lease');
    return undefined;
  }
}

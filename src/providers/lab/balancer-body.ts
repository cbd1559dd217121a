import { createHash } from 'node:crypto';
import type { Tags } from '../../sdk/capabilities/call.ts';
import type { Backend, BalancerPlan } from '../../sdk/capabilities/load-balancers.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { instanceIdOf } from './instance-choice.ts';

export type BalancerTarget = { readonly instanceId: string } | { readonly address: string };

/** Everything of a load balancer of the lab that can be changed later, and nothing that the lab adds by itself. */
export interface BalancerBody {
  readonly listeners: readonly { readonly port: number; readonly targetPort: number; readonly protocol: 'tcp' }[];
  readonly targets: readonly BalancerTarget[];
  readonly healthCheck: { readonly protocol: 'tcp' | 'http'; readonly path: string; readonly port?: number };
  readonly sourceRanges: readonly string[];
  readonly tags: Tags;
}

/** Pure: what the lab must be told. Refuses what it cannot do, instead of doing something else. */
export function balancerBody(plan: BalancerPlan): BalancerBody {
  const { ports, backends, healthCheck, sourceRanges, tags } = plan;
  requirePossible(plan);
  return {
    listeners: ports.map(({ port, nodePort }) => ({ port, targetPort: nodePort, protocol: 'tcp' })),
    targets: targetsOf(backends),
    healthCheck:
      healthCheck === undefined
        ? { protocol: 'tcp', path: '/' }
        : { protocol: 'http', path: healthCheck.path, port: healthCheck.port },
    sourceRanges,
    tags,
  };
}

/** The same as a change: what is not wanted any more has to be taken away by name. */
export const balancerChange = ({ healthCheck, ...body }: BalancerBody): object => ({
  ...body,
  healthCheck: { ...healthCheck, port: healthCheck.port ?? null },
});

/** Machines of this cloud by themselves, others by their address; what has neither cannot be reached. */
export function targetsOf(backends: readonly Backend[]): readonly BalancerTarget[] {
  const targets = new Map<string, BalancerTarget>();
  for (const { providerID = '', addresses } of backends) {
    const instanceId = instanceIdOf(providerID);
    const address = addresses.find(({ type }) => type === 'InternalIP')?.address;
    if (instanceId !== undefined) targets.set(instanceId, { instanceId });
    else if (address !== undefined) targets.set(address, { address });
  }
  return [...targets.values()];
}

/**
 * Pure: the key of an order. The lab answers a known key with its first answer, even for what has been deleted since, so
 * whoever was told of something that is gone (`goneId`) asks with another one; a changed plan is another order, too.
 */
export function orderKey(plan: BalancerPlan, body: object, goneId = ''): string {
  const hash = createHash('sha256').update(JSON.stringify([plan.idempotencyToken, body, goneId]));
  // What people see first in the journal of the lab; the rest makes it exact.
  return `${plan.idempotencyToken.replaceAll(/[^\w.-]/g, '-').slice(0, 60)}.${hash.digest('hex').slice(0, 32)}`;
}

function requirePossible({ ports, affinitySeconds, ipFamilies }: BalancerPlan): void {
  const strange = ports.find(({ protocol }) => protocol !== 'TCP');
  if (strange !== undefined)
    throw new ProviderError('unsupported', `port ${strange.port}: the lab balances TCP, not ${strange.protocol}`);
  const closed = ports.find(({ nodePort }) => nodePort === 0);
  if (closed !== undefined)
    throw new ProviderError(
      'unsupported',
      `port ${closed.port} has no node port, and the lab reaches pods in no other way: set allocateLoadBalancerNodePorts`,
    );
  if (affinitySeconds !== undefined)
    throw new ProviderError(
      'unsupported',
      'the lab cannot keep a client on one backend: use sessionAffinity None',
    );
  if (ipFamilies.length > 0 && !ipFamilies.includes('IPv4'))
    throw new ProviderError('unsupported', 'the lab has IPv4 only: ask for it in ipFamilies');
}

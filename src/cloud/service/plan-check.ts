import { userError } from '../../base/errors.ts';
import type { BalancerPlan, LoadBalancersFacts } from '../../sdk/capabilities/load-balancers.ts';
import { SCOPE_ANNOTATION } from './balancer-plan.ts';
import { allowsEverybody } from './source-ranges.ts';

/**
 * Throws a userError with everything that the plan asks for and the cloud does not have, before anything is asked of the
 * cloud: a balancer that lets in whom it should keep out is worse than none.
 */
export function checkPlan(plan: BalancerPlan, facts: LoadBalancersFacts): void {
  const problems = [...protocolProblems(plan, facts), ...featureProblems(plan, facts)];
  if (problems.length > 0) throw userError('UnsupportedLoadBalancer', problems.join('; '));
}

function* protocolProblems({ ports }: BalancerPlan, { protocols, maxPorts = Infinity }: LoadBalancersFacts) {
  for (const [at, { protocol }] of ports.entries())
    if (!protocols.includes(protocol))
      yield `spec.ports[${at}].protocol is ${protocol}, but this cloud balances only ${protocols.join(', ')}`;
  if (ports.length > maxPorts)
    yield `spec.ports has ${ports.length} ports, but load balancers of this cloud have at most ${maxPorts}: use several Services`;
}

function* featureProblems(plan: BalancerPlan, facts: LoadBalancersFacts) {
  if (!facts.sourceRanges && !allowsEverybody(plan.sourceRanges))
    yield `spec.loadBalancerSourceRanges asks for ${plan.sourceRanges.join(', ')}, but this cloud cannot limit who connects: leave it empty`;
  if (!facts.scopes.includes(plan.scope))
    yield `metadata.annotations[${SCOPE_ANNOTATION}] asks for ${plan.scope}, but load balancers of this cloud are only ${facts.scopes.join(', ')}`;
  if (!facts.sessionAffinity && plan.affinitySeconds !== undefined)
    yield 'spec.sessionAffinity is ClientIP, but this cloud cannot keep a client on one node: use None';
  if (plan.healthCheck !== undefined && !facts.healthChecks.includes('http'))
    yield `spec.externalTrafficPolicy is Local, which needs http health checks, but this cloud has only ${facts.healthChecks.join(', ') || 'none'}: use Cluster`;
}

import { isDeepStrictEqual } from 'node:util';
import {
  type Backend,
  type BalancerIngress,
  type BalancerOutcome,
  type BalancerPlan,
  type BalancerRef,
  type Call,
  type LoadBalancers,
  ProviderError,
} from 'slipway/sdk';
import type { AcmeCloudClient, Balancer, BalancerChange, BalancerSpec } from './client.ts';
import { instanceIDOf } from './provider-id.ts';

const RETRY_MS = 1000;

/** One balancer of the cloud for each Service. */
export const loadBalancers: LoadBalancers<Call<AcmeCloudClient>> = {
  declare: () => ({
    protocols: ['TCP'],
    healthChecks: ['tcp', 'http'],
    sourceRanges: true,
    preservesClientAddress: false,
    sessionAffinity: false,
    scopes: ['public', 'internal'],
    maxPorts: 50,
  }),

  async find(ref, { client, signal }) {
    const found = await ownBalancer(ref, client, signal);
    // One that is being deleted is still there.
    return found === undefined ? undefined : ingressOf(found);
  },

  async ensure(plan, { client, signal }) {
    const wanted = specOf(plan);
    const found = await ownBalancer(plan, client, signal);
    if (found === undefined) {
      const { name, tags } = plan;
      return outcomeOf(await client.createBalancer(name, { spec: wanted, tags }, signal));
    }
    if (found.state !== 'active') return outcomeOf(found);
    if (found.scheme !== wanted.scheme) {
      // Who can reach it cannot be changed in this cloud: the next call makes it anew.
      await client.deleteBalancer(found.id, signal);
      return { kind: 'pending', retryAfterMs: RETRY_MS, why: `load balancer ${found.name} becomes ${plan.scope}` };
    }
    const changes = changesOf(wanted);
    return isSame(found, changes)
      ? outcomeOf(found)
      : outcomeOf(await client.updateBalancer(found.id, changes, signal));
  },

  async setBackends(ref, backends, { client, signal }) {
    const found = await ownBalancer(ref, client, signal);
    if (found === undefined) return 'gone';
    const targets = targetsOf(backends);
    if (!isSame(found, { targets })) await client.updateBalancer(found.id, { targets }, signal);
    return 'updated';
  },

  async remove(ref, { client, signal }) {
    const found = await ownBalancer(ref, client, signal);
    if (found === undefined) return;
    await client.deleteBalancer(found.id, signal);
    if ((await ownBalancer(ref, client, signal)) !== undefined)
      throw new ProviderError('in-use', `load balancer ${ref.name} is being deleted`, { retryAfterMs: RETRY_MS });
  },
};

/** Throws when somebody else has one of that name. */
async function ownBalancer({ name, tags }: BalancerRef, client: AcmeCloudClient, signal: AbortSignal) {
  const found = await client.balancer(name, signal);
  if (found === undefined || Object.entries(tags).every(([key, value]) => found.tags[key] === value)) return found;
  throw new ProviderError('conflict', `load balancer ${name} exists and is not one of this cluster`);
}

const specOf = ({ ports, backends, sourceRanges, scope, healthCheck }: BalancerPlan): BalancerSpec => ({
  scheme: scope,
  listeners: ports.map(({ port, nodePort }) => ({ port, targetPort: nodePort })),
  targets: targetsOf(backends),
  sourceRanges,
  healthCheck: {
    intervalSeconds: 1,
    ...(healthCheck === undefined ? { protocol: 'tcp' } : { protocol: 'http', ...healthCheck }),
  },
});

/** What is not wanted any more has to be taken away by name: a health check must not keep the port of the last plan. */
const changesOf = ({ scheme: _, healthCheck, ...others }: BalancerSpec): BalancerChange => ({
  ...others,
  healthCheck: { ...healthCheck, port: healthCheck.port ?? null },
});

const targetsOf = (backends: readonly Backend[]): BalancerSpec['targets'] =>
  backends.flatMap(({ providerID = '' }) => {
    const instanceId = instanceIDOf(providerID);
    return instanceId === undefined ? [] : [{ instanceId }];
  });

/** The cloud adds what it fills in by itself; only what we say is compared. */
const isSame = (found: Balancer, wanted: Partial<BalancerChange>): boolean =>
  Object.entries(wanted).every(([key, value]) => covers(found[key as keyof Balancer], value));

function covers(found: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(found) && found.length === wanted.length && wanted.every((item, at) => covers(found[at], item))
    );
  if (typeof wanted !== 'object' || wanted === null) return isDeepStrictEqual(found ?? null, wanted);
  if (typeof found !== 'object' || found === null) return false;
  return Object.entries(wanted).every(([key, value]) => covers((found as Record<string, unknown>)[key], value));
}

const ingressOf = ({ address }: Balancer): readonly BalancerIngress[] =>
  address === undefined ? [] : [{ ip: address }];

function outcomeOf(balancer: Balancer): BalancerOutcome {
  const { name, state } = balancer;
  if (state === 'error') throw new ProviderError('unavailable', `load balancer ${name} is in state error`);
  const ingress = ingressOf(balancer);
  if (state === 'active' && ingress.length > 0) return { kind: 'ready', ingress };
  return { kind: 'pending', retryAfterMs: RETRY_MS, why: `load balancer ${name} is ${state}` };
}

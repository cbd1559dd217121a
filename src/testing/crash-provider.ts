import type { BalancerRef } from '../sdk/capabilities/load-balancers.ts';
import type { CloudRoute } from '../sdk/capabilities/routes.ts';
import { ProviderError } from '../sdk/provider/provider-error.ts';
import type { Effect, OutsideErrors, ScenarioLife } from './crash-scenario.ts';
import type { FakeCloud } from './fake-cloud.ts';

type CloudCapabilities = FakeCloud['capabilities'];

const onBalancer = (verb: string, { service: { namespace, name } }: BalancerRef): Effect => ({
  verb,
  kind: 'balancer',
  name: `${namespace}/${name}`,
});

const onRoute = (verb: string, { targetNode, destinationCIDR }: CloudRoute): Effect => ({
  verb,
  kind: 'route',
  name: `${targetNode} ${destinationCIDR}`,
});

/**
 * The capabilities of a cloud as one life of a program reaches them: every call that changes something is a point.
 * `beforeSend` is what the program asks itself right before such a call.
 */
export const faulty = (
  { instances, zones, loadBalancers, routes }: CloudCapabilities,
  life: ScenarioLife,
  beforeSend: () => void = () => {},
): CloudCapabilities => ({
  instances: {
    declare: () => instances.declare(),
    describe: (ref, call) => life.look(() => instances.describe(ref, call)),
    ...(instances.describeMany !== undefined && {
      describeMany: (refs, call) =>
        life.look(async () => (await instances.describeMany?.(refs, call)) ?? new Map()),
    }),
  },
  zones: {
    declare: () => zones.declare(),
    list: (call) => life.look(() => zones.list(call)),
  },
  loadBalancers: {
    declare: () => loadBalancers.declare(),
    find: (ref, call) => life.look(() => loadBalancers.find(ref, call)),
    ensure: (plan, call) =>
      life.effect(onBalancer('ensure', plan), () => loadBalancers.ensure(plan, call), beforeSend),
    setBackends: (ref, backends, call) =>
      life.effect(
        onBalancer('setBackends', ref),
        () => loadBalancers.setBackends(ref, backends, call),
        beforeSend,
      ),
    remove: (ref, call) =>
      life.effect(onBalancer('remove', ref), () => loadBalancers.remove(ref, call), beforeSend),
  },
  routes: {
    declare: () => routes.declare(),
    list: (query, call) => life.look(() => routes.list(query, call)),
    create: (route, creation, call) =>
      life.effect(onRoute('create', route), () => routes.create(route, creation, call), beforeSend),
    remove: (route, query, call) =>
      life.effect(onRoute('remove', route), () => routes.remove(route, query, call), beforeSend),
  },
});

/** How a cloud fails, in the words of providers; one that throws something of its own is among them. */
export const PROVIDER_FAULTS: OutsideErrors = {
  'lost-response': () => new ProviderError('uncertain', 'connection reset after the request was sent (injected)'),
  'refused-409': () => new ProviderError('conflict', 'somebody else changed it (injected)'),
  'refused-429': () => new ProviderError('throttled', 'too many requests (injected)', { retryAfterMs: 1000 }),
  'refused-500': () => new TypeError('cannot read the answer (injected)'),
  'refused-503': () => new ProviderError('unavailable', 'out of order (injected)'),
  'refused-504': () => new ProviderError('uncertain', 'no answer in time (injected)'),
};

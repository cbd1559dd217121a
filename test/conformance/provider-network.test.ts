import { describe, it } from 'node:test';
import type { BalancerOutcome, BalancerPlan, LoadBalancers } from '../../src/sdk/capabilities/load-balancers.ts';
import type { CloudRoute, Routes } from '../../src/sdk/capabilities/routes.ts';
import { loadBalancersSuite } from '../../src/sdk/conformance/load-balancers-contract.ts';
import { routesSuite } from '../../src/sdk/conformance/routes-contract.ts';
import { isProviderError, ProviderError } from '../../src/sdk/provider/provider-error.ts';
import type { FakeCloud } from '../../src/testing/fake-cloud.ts';
import {
  caught,
  deaf,
  type Mutant,
  type Mutation,
  requireAll,
  requireBreak,
  spoil,
} from '../support/fake-provider-world.ts';

const balancing =
  (change: (right: LoadBalancers, cloud: FakeCloud) => Partial<LoadBalancers>): Mutation =>
  ({ loadBalancers }, cloud) => ({ loadBalancers: { ...loadBalancers, ...change(loadBalancers, cloud) } });

/** Makes a second one beside it. */
function doubled(cloud: FakeCloud, { name }: BalancerPlan): void {
  const found = cloud.balancers.get(name);
  if (found !== undefined) cloud.balancers.set(`${name}-again`, found);
}

const balancerMutants: readonly Mutant[] = [
  {
    breaks: 'load-balancers/none-is-undefined',
    says: /find\(\) answered \[\] for one that was never made/,
    mutate: balancing((right) => {
      const seen = new Set<string>();
      return {
        find: async (ref, call) => (await right.find(ref, call)) ?? (seen.has(ref.name) ? undefined : []),
        ensure: (plan, call) => {
          seen.add(plan.name);
          return right.ensure(plan, call);
        },
      };
    }),
  },
  {
    breaks: 'load-balancers/pending-ends',
    says: /ensure\(\) answers ready: not after 2 s; at last pending: soon/,
    mutate: balancing((right) => ({
      ensure: async (plan, call) => {
        await right.ensure(plan, call);
        return { kind: 'pending', retryAfterMs: 1, why: 'soon' };
      },
    })),
    andOthers: true,
  },
  {
    breaks: 'load-balancers/pending-ends',
    says: /say ready, or pending with a time and a reason/,
    mutate: balancing((right) => ({
      ensure: async (plan, call) => {
        await right.ensure(plan, call);
        return { kind: 'pending', retryAfterMs: 0, why: '' };
      },
    })),
    andOthers: true,
  },
  {
    breaks: 'load-balancers/ensure-makes-it',
    says: /answered ready with the ingress \[\]/,
    mutate: balancing((right) => ({
      find: async (ref, call) => ((await right.find(ref, call)) === undefined ? undefined : []),
      ensure: async (plan, call) => {
        await right.ensure(plan, call);
        return { kind: 'ready', ingress: [] };
      },
    })),
  },
  {
    breaks: 'load-balancers/ensure-again-changes-nothing',
    says: /the cloud has \d+ load balancers after ensure\(\) twice with the same plan/,
    mutate: balancing((right, cloud) => ({
      ensure: (plan, call) => {
        doubled(cloud, plan);
        return right.ensure(plan, call);
      },
    })),
    andOthers: true,
  },
  {
    breaks: 'load-balancers/lost-answer-makes-no-second',
    says: /load balancers after ensure\(\) twice, of which the first got no answer/,
    mutate: balancing((right, cloud) => {
      const failed = new Set<string>();
      return {
        ensure: async (plan, call) => {
          if (failed.delete(plan.name)) doubled(cloud, plan);
          return await right.ensure(plan, call).catch((error: unknown) => {
            failed.add(plan.name);
            throw error;
          });
        },
      };
    }),
  },
  {
    breaks: 'load-balancers/ensure-updates',
    says: /after ensure\(\) with another plan it listens at \[80\] and not \[443,80\]/,
    mutate: balancing((right, { balancers }) => ({
      ensure: (plan, call) =>
        right.ensure({ ...(balancers.get(plan.name)?.plan ?? plan), scope: plan.scope }, call),
    })),
  },
  {
    breaks: 'load-balancers/ensure-updates',
    says: /after ensure\(\) with another plan it listens at \[443\] and not \[443,80\]/,
    mutate: balancing((right) => ({
      ensure: (plan, call) => right.ensure({ ...plan, ports: plan.ports.slice(0, 1) }, call),
    })),
  },
  {
    breaks: 'load-balancers/ensure-updates',
    says: /after ensure\(\) with the first plan again it listens at \[443,80\] and not \[80\]/,
    mutate: balancing((right) => {
      const answers = new Map<string, BalancerOutcome>();
      return {
        ensure: async (plan, call) => {
          const known = answers.get(plan.idempotencyToken);
          if (known !== undefined && (await right.find(plan, call)) !== undefined) return known;
          const answer = await right.ensure(plan, call);
          answers.set(plan.idempotencyToken, answer);
          return answer;
        },
      };
    }),
  },
  {
    breaks: 'load-balancers/scope-is-obeyed',
    says: /it is public after ensure\(\) of one that is internal said that it is ready/,
    mutate: balancing((right, { balancers }) => ({
      ensure: (plan, call) =>
        right.ensure({ ...plan, scope: balancers.get(plan.name)?.plan.scope ?? plan.scope }, call),
    })),
  },
  {
    breaks: 'load-balancers/carries-tags',
    says: /the tag kubernetes\.io\/cluster\/c1 is undefined and not "owned"/,
    mutate: balancing((right) => ({ ensure: (plan, call) => right.ensure({ ...plan, tags: {} }, call) })),
  },
  {
    breaks: 'load-balancers/carries-tags',
    says: /the tag kubernetes\.io\/cluster\/c1 is undefined and not "owned"/,
    mutate: balancing((right, { balancers }) => ({
      ensure: (plan, call) => right.ensure(balancers.has(plan.name) ? { ...plan, tags: {} } : plan, call),
    })),
  },
  {
    breaks: 'load-balancers/plans-are-separate',
    says: /find\(\) answered undefined after remove\(\) of another one/,
    mutate: balancing((right, { balancers }) => ({
      remove: async (ref, call) => {
        await right.remove(ref, call);
        balancers.clear();
      },
    })),
  },
  {
    breaks: 'load-balancers/backends-are-replaced',
    says: /after setBackends\(\) its backends are \["node-1","node-2"\] and not \["node-2"\]/,
    mutate: balancing((right, { balancers }) => ({
      setBackends: (ref, backends, call) =>
        right.setBackends(ref, [...(balancers.get(ref.name)?.backends ?? []), ...backends], call),
    })),
  },
  {
    breaks: 'load-balancers/backends-are-replaced',
    says: /after setBackends\(\) its backends are \["node-2"\] and not \[\]/,
    mutate: balancing((right) => ({
      setBackends: async (ref, backends, call) =>
        backends.length === 0 ? 'updated' : await right.setBackends(ref, backends, call),
    })),
  },
  {
    breaks: 'load-balancers/none-behind-it-is-fine',
    says: /a call threw: there are no backends/,
    mutate: balancing((right) => ({
      ensure: async (plan, call) => {
        if (plan.backends.length === 0) throw new ProviderError('invalid', 'there are no backends');
        return await right.ensure(plan, call);
      },
    })),
  },
  {
    breaks: 'load-balancers/remove-removes',
    says: /the cloud has \d+ load balancers after remove\(\), not \d+/,
    mutate: balancing((right) => ({
      // As nobody gives it when a Service goes.
      remove: async (ref, call) => ('ports' in ref ? await right.remove(ref, call) : call.signal.throwIfAborted()),
    })),
    andOthers: true,
  },
  {
    breaks: 'load-balancers/missing-is-gone',
    says: /setBackends\(\) answered updated for one that was never made/,
    mutate: balancing((right) => ({
      setBackends: async (ref, backends, call) => {
        await right.setBackends(ref, backends, call);
        return 'updated';
      },
    })),
  },
  {
    breaks: 'load-balancers/remove-removes',
    says: /the cloud has \d+ load balancers after remove\(\)/,
    mutate: balancing((right) => ({ remove: async (ref, call) => void (await right.find(ref, call)) })),
    andOthers: true,
  },
  {
    breaks: 'load-balancers/remove-again-succeeds',
    says: /remove\(\) succeeds: not after 2 s; at last it threw not-found \("there is none"\)/,
    mutate: balancing((right, { balancers }) => ({
      remove: async (ref, call) => {
        if (!balancers.has(ref.name)) throw new ProviderError('not-found', 'there is none');
        await right.remove(ref, call);
      },
    })),
  },
  {
    breaks: 'load-balancers/made-again-after-removal',
    says: /after ensure\(\), remove\(\) and ensure\(\) again/,
    mutate: balancing((right, { balancers }) => {
      const answers = new Map<string, Awaited<ReturnType<LoadBalancers['ensure']>>>();
      return {
        ensure: async (plan, call) => {
          const known = answers.get(plan.idempotencyToken);
          if (known !== undefined && !balancers.has(plan.name)) return known;
          const answer = await right.ensure(plan, call);
          answers.set(plan.idempotencyToken, answer);
          return answer;
        },
      };
    }),
  },
  {
    breaks: 'load-balancers/remove-cleans-up',
    says: /load balancers after remove\(\) of one that was made by halves/,
    mutate: balancing((right) => {
      const complete = new Set<string>();
      return {
        ensure: async (plan, call) => {
          const answer = await right.ensure(plan, call);
          complete.add(plan.name);
          return answer;
        },
        remove: async (ref, call) => {
          call.signal.throwIfAborted();
          if (complete.has(ref.name)) await right.remove(ref, call);
        },
      };
    }),
  },
  {
    breaks: 'load-balancers/trouble-is-thrown',
    says: /find\(\) answered undefined while the cloud was down/,
    mutate: balancing((right) => ({ find: (ref, call) => caught(right.find(ref, call), undefined) })),
  },
  {
    breaks: 'load-balancers/quota-is-named',
    says: /threw unknown \("no more than ten"\), which does not say that it is the quota/,
    mutate: balancing((right) => ({
      ensure: (plan, call) =>
        right.ensure(plan, call).catch((error: unknown) => {
          throw isProviderError(error) ? new ProviderError('unknown', error.message) : error;
        }),
    })),
  },
  {
    breaks: 'load-balancers/abort-is-obeyed',
    says: /remove\(\) answered undefined though its signal had aborted/,
    mutate: balancing((right) => ({ remove: (ref, call) => right.remove(ref, deaf(call)) })),
  },
  {
    breaks: 'load-balancers/inputs-are-read-only',
    says: /ensure\(\) changes what it is given/,
    mutate: balancing((right) => ({
      ensure: async (plan, call) => {
        spoil(plan.tags);
        return await right.ensure(plan, call);
      },
    })),
  },
];

const routing =
  (change: (right: Routes, cloud: FakeCloud) => Partial<Routes>): Mutation =>
  ({ routes }, cloud) => ({ routes: { ...routes, ...change(routes, cloud) } });

const routeMutants: readonly Mutant[] = [
  {
    breaks: 'routes/created-is-listed',
    says: /list\(\) answered the node "fake:\/\/node-1" for a route to node-1/,
    mutate: routing((right) => ({
      list: async (query, call) =>
        (await right.list(query, call)).map((route) => ({ ...route, targetNode: `fake://${route.targetNode}` })),
      remove: (route, query, call) =>
        right.remove({ ...route, targetNode: route.targetNode.replace('fake://', '') }, query, call),
    })),
  },
  {
    breaks: 'routes/create-again-changes-nothing',
    says: /list\(\) answered 2 routes for one destination/,
    mutate: routing((right, { routes }) => ({
      create: async (route, creation, call) => {
        const copies: CloudRoute[] = routes.filter(
          ({ destinationCIDR }) => destinationCIDR === route.destinationCIDR,
        );
        await right.create(route, creation, call);
        routes.push(...copies.map((copy) => ({ ...copy, name: `${copy.name}-again` })));
      },
    })),
  },
  {
    breaks: 'routes/two-ranges-of-a-node',
    says: /list\(\) shows 10\.244\.1\.0\/24 beside .*ccm\/T11.*at last it shows only the second/,
    mutate: routing((right, { routes }) => ({
      create: async (route, creation, call) => {
        const at = routes.findIndex(({ targetNode }) => targetNode === route.targetNode);
        if (at >= 0) routes.splice(at, 1);
        await right.create(route, creation, call);
      },
    })),
  },
  {
    breaks: 'routes/remove-removes',
    says: /shows it no more after remove\(\): not after 2 s/,
    mutate: routing((right) => ({ remove: async (_, query, call) => void (await right.list(query, call)) })),
    andOthers: true,
  },
  {
    breaks: 'routes/remove-again-succeeds',
    says: /a call threw: there is none/,
    mutate: routing((right, { routes }) => ({
      remove: async (route, query, call) => {
        if (!routes.some(({ name }) => name === route.name)) throw new ProviderError('not-found', 'there is none');
        await right.remove(route, query, call);
      },
    })),
  },
  {
    breaks: 'routes/foreign-stays',
    says: /the route of somebody else for 10\.99\.0\.0\/24 is gone/,
    mutate: routing((right, { routes }) => ({
      remove: async (route, query, call) => {
        await right.remove(route, query, call);
        routes.length = 0;
      },
    })),
  },
  {
    breaks: 'routes/trouble-is-thrown',
    says: /list\(\) answered \[\] while the cloud was down/,
    mutate: routing((right) => ({ list: (query, call) => caught(right.list(query, call), []) })),
  },
  {
    breaks: 'routes/abort-is-obeyed',
    says: /list\(\) answered \[\] though its signal had aborted/,
    mutate: routing((right) => ({ list: (query, call) => right.list(query, deaf(call)) })),
  },
  {
    breaks: 'routes/inputs-are-read-only',
    says: /create\(\) changes what it is given/,
    mutate: routing((right) => ({
      create: async (route, creation, call) => {
        spoil(creation);
        await right.create(route, creation, call);
      },
    })),
  },
];

describe('the contract of load balancers', () => {
  for (const [index, mutant] of balancerMutants.entries()) {
    it(`ccm/I2, ccm/I1: finds a provider that breaks ${mutant.breaks} (${index + 1})`, async () => {
      await requireBreak(loadBalancersSuite, ({ loadBalancers }) => loadBalancers, mutant);
    });
  }

  it('has a provider that breaks it for each promise', () => requireAll(loadBalancersSuite, balancerMutants));
});

describe('the contract of routes', () => {
  for (const [index, mutant] of routeMutants.entries()) {
    it(`ccm/T11: finds a provider that breaks ${mutant.breaks} (${index + 1})`, async () => {
      await requireBreak(routesSuite, ({ routes }) => routes, mutant);
    });
  }

  it('has a provider that breaks it for each promise', () => requireAll(routesSuite, routeMutants));
});

import { isDeepStrictEqual } from 'node:util';
import type { BalancerPlan } from '../capabilities/load-balancers.ts';
import { isProviderError, providerErrorKind } from '../provider/provider-error.ts';
import { broken, type ContractCase, type ContractSuite } from './contract.ts';
import {
  answerText,
  bareCapabilityOf,
  callWith,
  capabilityOf,
  eventually,
  frozen,
  requireAbort,
  requireReadOnly,
  requireThrown,
  thrownText,
} from './contract-subject.ts';
import {
  balancerCalls,
  findNow,
  gone,
  type LoadBalancersSubject,
  type ObservedBalancer,
  type PlannedBalancer,
  planned,
  ready,
} from './planned-balancer.ts';
import { type ConformanceOptions, registerContract } from './test-framework.ts';

type Case = ContractCase<LoadBalancersSubject>;

async function requireCount(subject: LoadBalancersSubject, want: number, after: string): Promise<void> {
  const found = await subject.count();
  if (found !== want) throw broken(`the cloud has ${found} load balancers after ${after}, not ${want}`);
}

async function observed(subject: LoadBalancersSubject, { plan }: PlannedBalancer): Promise<ObservedBalancer> {
  const found = await subject.observe?.(plan.name);
  if (found === undefined)
    throw broken(`the cloud has no load balancer ${plan.name} after ensure() said that it is ready`);
  return found;
}

function requireSame(what: string, found: readonly unknown[], want: readonly unknown[]): void {
  const isSame = found.length === want.length && want.every((item) => found.includes(item));
  if (!isSame) throw broken(`${what} ${answerText(found)} and not ${answerText(want)}`);
}

/** More than one where the cloud has them. */
function otherPorts({ subject, plan, ports: [, port = 0] }: PlannedBalancer): BalancerPlan['ports'] {
  const { maxPorts = Infinity } = capabilityOf(subject, 'loadBalancers').declare();
  return [{ name: 'other', protocol: 'TCP', port, nodePort: 30_081 } as const, ...plan.ports].slice(0, maxPorts);
}

async function requirePlanned(balancer: PlannedBalancer, which: string): Promise<void> {
  const { ports, backends } = balancer.plan;
  const found = await observed(balancer.subject, balancer);
  const [wantPorts, wantNames] = [ports.map(({ port }) => port), backends.map(({ nodeName }) => nodeName)];
  requireSame(`after ensure() with ${which} it listens at`, found.ports, wantPorts);
  requireSame(`after ensure() with ${which} its backends are`, found.nodeNames, wantNames);
}

const scopesOf = (subject: LoadBalancersSubject) => capabilityOf(subject, 'loadBalancers').declare().scopes;

async function requireScope(balancer: PlannedBalancer): Promise<void> {
  const { scope } = await observed(balancer.subject, balancer);
  if (scope !== undefined && scope !== balancer.plan.scope)
    throw broken(`it is ${scope} after ensure() of one that is ${balancer.plan.scope} said that it is ready`);
}

/** The provider says that it cannot do that; anything else that it throws is thrown. */
async function isRefused(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return false;
  } catch (error) {
    if (isProviderError(error) && ['unsupported', 'invalid'].includes(error.kind)) return true;
    throw error;
  }
}

const lifeCases: readonly Case[] = [
  {
    id: 'load-balancers/none-is-undefined',
    promise: 'find answers undefined when there is none',
    async check(subject) {
      await using balancer = planned(subject);
      const answer = await findNow(balancer);
      if (answer !== undefined) throw broken(`find() answered ${answerText(answer)} for one that was never made`);
    },
  },
  {
    id: 'load-balancers/pending-ends',
    promise: 'ensure answers ready in the end, and until then pending with a time and a reason',
    async check(subject) {
      await using balancer = planned(subject);
      await ready(balancer);
    },
  },
  {
    id: 'load-balancers/ensure-makes-it',
    promise: 'ensure makes a load balancer that can be reached',
    async check(subject) {
      const before = await subject.count();
      await using balancer = planned(subject);
      const ingress = await ready(balancer);
      const isReachable = ingress.length > 0 && ingress.every(({ ip, hostname }) => (ip ?? hostname ?? '') !== '');
      if (!isReachable) throw broken(`ensure() answered ready with the ingress ${answerText(ingress)}`);
      await requireCount(subject, before + 1, 'ensure() of a new one');
      const found = await findNow(balancer);
      if (!isDeepStrictEqual(found, ingress))
        throw broken(`ensure() answered ${answerText(ingress)}, and find() ${answerText(found)}`);
    },
  },
  {
    id: 'load-balancers/ensure-again-changes-nothing',
    promise: 'ensure with the same plan changes nothing',
    async check(subject) {
      const before = await subject.count();
      await using balancer = planned(subject);
      const first = await ready(balancer);
      const second = await ready(balancer);
      if (!isDeepStrictEqual(first, second))
        throw broken(`ensure() answered ${answerText(first)}, and then ${answerText(second)}`);
      await requireCount(subject, before + 1, 'ensure() twice with the same plan');
    },
  },
  {
    id: 'load-balancers/lost-answer-makes-no-second',
    promise: 'a creation whose answer was lost is found again',
    needs: ['loseAnswer'],
    async check(subject) {
      const before = await subject.count();
      await using balancer = planned(subject);
      {
        await using _lost = await subject.loseAnswer?.();
        await balancer.ensureOnce().catch(() => undefined);
      }
      await ready(balancer);
      await requireCount(subject, before + 1, 'ensure() twice, of which the first got no answer');
    },
  },
  {
    id: 'load-balancers/ensure-updates',
    promise: 'ensure with another plan changes ports and backends, also back to what they were',
    needs: ['observe'],
    async check(subject) {
      const [one, two] = subject.backends;
      await using balancer = planned(subject, { backends: [one] });
      await ready(balancer);
      const first = balancer.plan;
      balancer.change({ ports: otherPorts(balancer), backends: [two] });
      await ready(balancer);
      await requirePlanned(balancer, 'another plan');
      // With the token of the first time: the same plan has the same.
      balancer.change(first);
      await ready(balancer);
      await requirePlanned(balancer, 'the first plan again');
    },
  },
  {
    id: 'load-balancers/scope-is-obeyed',
    promise: 'ensure with another scope changes from where it can be reached, or refuses',
    needs: ['observe'],
    skip: (subject) => (scopesOf(subject).length < 2 ? 'there is only one scope' : undefined),
    async check(subject) {
      const [one = 'public', other = 'internal'] = scopesOf(subject);
      await using balancer = planned(subject, { scope: one });
      await ready(balancer);
      await requireScope(balancer);
      balancer.change({ scope: other });
      if (await isRefused(ready(balancer))) return;
      await requireScope(balancer);
    },
  },
  {
    id: 'load-balancers/carries-tags',
    promise: 'what is made carries the tags of the plan',
    needs: ['observe'],
    async check(subject) {
      await using balancer = planned(subject);
      for (const backends of [subject.backends, [subject.backends[0]]]) {
        balancer.change({ backends });
        await ready(balancer);
        const { tags } = await observed(subject, balancer);
        for (const [key, value] of Object.entries(balancer.plan.tags))
          if (tags[key] !== value) throw broken(`the tag ${key} is ${answerText(tags[key])} and not "${value}"`);
      }
    },
  },
  {
    id: 'load-balancers/plans-are-separate',
    promise: 'load balancers with different names do not touch each other',
    async check(subject) {
      const before = await subject.count();
      await using one = planned(subject);
      await using two = planned(subject);
      const kept = await ready(one);
      await ready(two);
      await requireCount(subject, before + 2, 'ensure() of two plans');
      await gone(two);
      const found = await findNow(one);
      if (!isDeepStrictEqual(found, kept))
        throw broken(
          `find() answered ${answerText(found)} after remove() of another one, not ${answerText(kept)}`,
        );
    },
  },
];

const backendCases: readonly Case[] = [
  {
    id: 'load-balancers/backends-are-replaced',
    promise: 'setBackends replaces all backends and nothing else',
    needs: ['observe'],
    async check(subject) {
      const [one, two] = subject.backends;
      await using balancer = planned(subject, { backends: [one] });
      await ready(balancer);
      const before = await observed(subject, balancer);
      for (const backends of [[two], []]) {
        await eventually(subject, 'setBackends() answers updated', async () => {
          const answer = await balancer.setBackends(backends);
          return answer === 'updated' ? { got: answer } : { yet: answer };
        });
        const after = await observed(subject, balancer);
        const names = backends.map(({ nodeName }) => nodeName);
        requireSame('after setBackends() its backends are', after.nodeNames, names);
        requireSame('after setBackends() it listens at', after.ports, before.ports);
      }
    },
  },
  {
    id: 'load-balancers/none-behind-it-is-fine',
    promise: 'ensure takes a plan without backends',
    async check(subject) {
      await using balancer = planned(subject, { backends: [] });
      await eventually(subject, 'ensure() of a plan without backends answers', async () => ({
        got: await balancer.ensureOnce(),
      }));
    },
  },
  {
    id: 'load-balancers/missing-is-gone',
    promise: 'setBackends answers gone when there is none, and makes none',
    async check(subject) {
      const before = await subject.count();
      await using balancer = planned(subject);
      const answer = await eventually(subject, 'setBackends() answers', async () => ({
        got: await balancer.setBackends(subject.backends),
      }));
      if (answer !== 'gone') throw broken(`setBackends() answered ${answer} for one that was never made`);
      await requireCount(subject, before, 'setBackends() of one that was never made');
    },
  },
];

const removalCases: readonly Case[] = [
  {
    id: 'load-balancers/remove-removes',
    promise: 'remove leaves nothing',
    async check(subject) {
      const before = await subject.count();
      await using balancer = planned(subject);
      await ready(balancer);
      await gone(balancer);
      await requireCount(subject, before, 'remove()');
      const found = await findNow(balancer);
      if (found !== undefined) throw broken(`find() answered ${answerText(found)} after remove()`);
    },
  },
  {
    id: 'load-balancers/remove-again-succeeds',
    promise: 'remove succeeds when nothing is there',
    async check(subject) {
      await using never = planned(subject);
      await gone(never);
      await using balancer = planned(subject);
      await ready(balancer);
      await gone(balancer);
      await gone(balancer);
    },
  },
  {
    id: 'load-balancers/made-again-after-removal',
    promise: 'ensure makes it again after remove',
    async check(subject) {
      const before = await subject.count();
      await using balancer = planned(subject);
      await ready(balancer);
      await gone(balancer);
      await ready(balancer);
      await requireCount(subject, before + 1, 'ensure(), remove() and ensure() again');
    },
  },
  {
    id: 'load-balancers/remove-cleans-up',
    promise: 'remove takes away what a failed ensure left behind',
    needs: ['breakMidway'],
    async check(subject) {
      const before = await subject.count();
      await using balancer = planned(subject);
      {
        await using _stuck = await subject.breakMidway?.();
        await balancer.ensureOnce().catch(() => undefined);
      }
      await gone(balancer);
      await requireCount(subject, before, 'remove() of one that was made by halves');
    },
  },
];

const callCases: readonly Case[] = [
  {
    id: 'load-balancers/trouble-is-thrown',
    promise: 'trouble of the cloud is thrown and never answered',
    needs: ['breakCloud'],
    async check(subject) {
      await using balancer = planned(subject);
      await ready(balancer);
      await using _broken = await subject.breakCloud?.();
      await requireThrown(balancerCalls(balancer), 'while the cloud was down');
    },
  },
  {
    id: 'load-balancers/quota-is-named',
    promise: 'a quota that is used up is thrown as quota',
    needs: ['exhaustQuota'],
    async check(subject) {
      await using balancer = planned(subject);
      await using _full = await subject.exhaustQuota?.();
      const thrown = await balancer.ensureOnce().then(
        (answer) => {
          throw broken(`ensure() answered ${answerText(answer)} though the account may have no more`);
        },
        (error: unknown) => error,
      );
      if (!isProviderError(thrown) || providerErrorKind(thrown) !== 'quota')
        throw broken(`ensure() threw ${thrownText(thrown)}, which does not say that it is the quota`);
    },
  },
  {
    id: 'load-balancers/abort-is-obeyed',
    promise: 'a call ends when its signal aborts',
    async check(subject) {
      await using balancer = planned(subject);
      await requireAbort(subject, balancerCalls(balancer, bareCapabilityOf(subject, 'loadBalancers')));
    },
  },
  {
    id: 'load-balancers/inputs-are-read-only',
    promise: 'inputs are not changed',
    async check(subject) {
      await using balancer = planned(subject);
      const capability = capabilityOf(subject, 'loadBalancers');
      const [plan, ref] = [frozen(balancer.plan), frozen(balancer.ref)];
      await requireReadOnly({
        find: (call) => capability.find(ref, call),
        ensure: (call) => capability.ensure(plan, call),
        setBackends: (call) => capability.setBackends(ref, plan.backends, call),
      });
      await ready(balancer);
      await requireReadOnly({ remove: () => capability.remove(ref, callWith()) });
    },
  },
];

/** What `loadBalancers` promises. */
export const loadBalancersSuite: ContractSuite<LoadBalancersSubject> = {
  name: 'loadBalancers',
  cases: [...lifeCases, ...backendCases, ...removalCases, ...callCases],
};

/** Registers the suite with `node:test`, or with what is given. */
export const loadBalancersConformance = (options: ConformanceOptions<LoadBalancersSubject>): void =>
  registerContract(loadBalancersSuite, options);

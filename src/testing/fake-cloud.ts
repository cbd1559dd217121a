import { isDeepStrictEqual } from 'node:util';
import type { CallContext } from '../sdk/capabilities/call.ts';
import type { Capabilities } from '../sdk/capabilities/capabilities.ts';
import type { InstanceObservation } from '../sdk/capabilities/instances.ts';
import type {
  Backend,
  BalancerIngress,
  BalancerOutcome,
  BalancerPlan,
} from '../sdk/capabilities/load-balancers.ts';
import type { CloudRoute } from '../sdk/capabilities/routes.ts';
import type { Zone } from '../sdk/capabilities/zones.ts';

/** A call that a capability of the fake got, without its context. */
export interface CloudCall {
  /** `instances.describe`, `loadBalancers.ensure` … */
  readonly method: string;
  readonly args: readonly unknown[];
}

/** What a load balancer of the fake is. */
export interface FakeBalancer {
  readonly plan: BalancerPlan;
  readonly backends: readonly Backend[];
  readonly ingress: readonly BalancerIngress[];
}

/** Runs before a method does its work: throws to make it fail, waits to make it slow, answers to replace it. */
export type CallHook = (args: readonly unknown[], call: CallContext) => unknown;

const FACTS = {
  protocols: ['TCP', 'UDP'],
  healthChecks: ['tcp', 'http'],
  sourceRanges: true,
  preservesClientAddress: false,
  sessionAffinity: true,
  scopes: ['public', 'internal'],
} as const;

/** A cloud in memory for tests of components: tests say what is there, make calls fail, and read what was asked. */
export class FakeCloud {
  /** By the name of the node; a node that is not here is absent. */
  readonly instances = new Map<string, InstanceObservation>();
  /** By the name of the plan. */
  readonly balancers = new Map<string, FakeBalancer>();
  readonly routes: CloudRoute[] = [];
  readonly zones: Zone[] = [{ name: 'a', region: 'fake', isAvailable: true }];
  readonly calls: CloudCall[] = [];
  readonly #hooks = new Map<string, CallHook>();
  #addresses = 0;

  /** Until the next `on` for the same method, or for ever. */
  on(method: string, hook: CallHook | undefined): void {
    if (hook === undefined) this.#hooks.delete(method);
    else this.#hooks.set(method, hook);
  }

  callsOf(method: string): readonly CloudCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  readonly capabilities: Required<Pick<Capabilities, 'instances' | 'zones' | 'loadBalancers' | 'routes'>> = {
    instances: {
      declare: () => ({}),
      describe: (ref, call) => this.#answer('instances.describe', [ref], call, () => this.#observe(ref.nodeName)),
      describeMany: (refs, call) =>
        this.#answer(
          'instances.describeMany',
          [refs],
          call,
          () => new Map(refs.map(({ nodeName }) => [nodeName, this.#observe(nodeName)])),
        ),
    },
    zones: {
      declare: () => ({ isolated: false }),
      list: (call) => this.#answer('zones.list', [], call, () => [...this.zones]),
    },
    loadBalancers: {
      declare: () => FACTS,
      find: (ref, call) =>
        this.#answer('loadBalancers.find', [ref], call, () => this.balancers.get(ref.name)?.ingress),
      ensure: (plan, call) => this.#answer('loadBalancers.ensure', [plan], call, () => this.#ensure(plan)),
      setBackends: (ref, backends, call) =>
        this.#answer('loadBalancers.setBackends', [ref, backends], call, () => {
          const found = this.balancers.get(ref.name);
          if (found === undefined) return 'gone';
          this.balancers.set(ref.name, { ...found, backends });
          return 'updated';
        }),
      remove: (ref, call) =>
        this.#answer('loadBalancers.remove', [ref], call, () => void this.balancers.delete(ref.name)),
    },
    routes: {
      declare: () => ({ tracksNodeAddresses: false }),
      list: (query, call) => this.#answer('routes.list', [query], call, () => [...this.routes]),
      create: (route, creation, call) =>
        this.#answer('routes.create', [route, creation], call, () => {
          const name = `${creation.nameHint}-${route.destinationCIDR}`;
          if (!this.routes.some((one) => one.name === name)) this.routes.push({ ...route, name });
        }),
      remove: (route, query, call) =>
        this.#answer('routes.remove', [route, query], call, () => {
          const at = this.routes.findIndex((one) => isDeepStrictEqual(one, route));
          if (at >= 0) this.routes.splice(at, 1);
        }),
    },
  };

  #observe(nodeName: string): InstanceObservation {
    return this.instances.get(nodeName) ?? { state: 'absent', evidence: `no instance for ${nodeName}` };
  }

  #ensure(plan: BalancerPlan): BalancerOutcome {
    const ingress = this.balancers.get(plan.name)?.ingress ?? [{ ip: `203.0.113.${++this.#addresses}` }];
    this.balancers.set(plan.name, { plan, backends: plan.backends, ingress });
    return { kind: 'ready', ingress };
  }

  async #answer<T>(method: string, args: readonly unknown[], call: CallContext, work: () => T): Promise<T> {
    this.calls.push({ method, args });
    // On a later tick, as everything that is outside.
    await Promise.resolve();
    call.signal.throwIfAborted();
    const replaced = await this.#hooks.get(method)?.(args, call);
    return replaced === undefined ? work() : (replaced as T);
  }
}

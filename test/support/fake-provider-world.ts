import assert from 'node:assert/strict';
import type { Node } from '../../src/api/generated/core-v1.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import type { CallContext } from '../../src/sdk/capabilities/call.ts';
import type { InstanceObservation, InstanceRef } from '../../src/sdk/capabilities/instances.ts';
import type { Backend, BalancerPlan } from '../../src/sdk/capabilities/load-balancers.ts';
import { type ContractSuite, runContract } from '../../src/sdk/conformance/contract.ts';
import type { ProviderSubject } from '../../src/sdk/conformance/contract-subject.ts';
import type { InstancesSubject } from '../../src/sdk/conformance/instances-contract.ts';
import type { LoadBalancersSubject } from '../../src/sdk/conformance/planned-balancer.ts';
import type { RoutesSubject } from '../../src/sdk/conformance/routes-contract.ts';
import { connectProvider } from '../../src/sdk/provider/connect-provider.ts';
import type { ConnectedProvider } from '../../src/sdk/provider/connected-provider.ts';
import { defineProvider } from '../../src/sdk/provider/define-provider.ts';
import type { ProviderDefinition } from '../../src/sdk/provider/provider-definition.ts';
import { isProviderError, ProviderError } from '../../src/sdk/provider/provider-error.ts';
import { FakeCloud } from '../../src/testing/fake-cloud.ts';

export type FakeCapabilities = FakeCloud['capabilities'];

const CLUSTER = 'c1';
const METHODS = [
  'instances.describe',
  'instances.describeMany',
  'zones.list',
  ...['find', 'ensure', 'setBackends', 'remove'].map((method) => `loadBalancers.${method}`),
  ...['list', 'create', 'remove'].map((method) => `routes.${method}`),
];

const definitionOf = (capabilities: FakeCapabilities): ProviderDefinition<undefined> =>
  defineProvider<undefined>({
    name: 'fake',
    displayName: 'Fake',
    architectures: ['amd64'],
    providerID: { scheme: 'fake', format: '{id}', pattern: /^fake:\/\/[\w-]+$/ },
    connect: () => ({ client: undefined, clusterId: CLUSTER }),
    capabilities,
  });

/** Without the guard of a connected provider, which would keep some promises for it. */
export const barely = (capabilities: FakeCapabilities): ConnectedProvider => ({
  name: 'fake',
  definition: definitionOf(new FakeCloud().capabilities),
  clusterId: CLUSTER,
  clusterTags: { 'kubernetes.io/cluster/c1': 'owned' },
  capabilities,
  [Symbol.asyncDispose]: async () => undefined,
});

export const guarded = (capabilities: FakeCapabilities): Promise<ConnectedProvider> => {
  const signal = new AbortController().signal;
  const context = {
    config: undefined,
    secret: () => undefined,
    clock: new SystemClock(),
    log: SILENT_LOG,
    signal,
  };
  return connectProvider(definitionOf(capabilities), { context, callTimeoutMs: 60_000 });
};

type Connect = (capabilities: FakeCapabilities) => ConnectedProvider | Promise<ConnectedProvider>;

/** A fake cloud with everything that the suites may arrange: what a partner writes for a real one. */
export class FakeWorld {
  readonly cloud: FakeCloud;
  readonly provider: ConnectedProvider;

  private constructor(provider: ConnectedProvider, cloud: FakeCloud) {
    this.provider = provider;
    this.cloud = cloud;
  }

  static async start(connect: Connect, mutate: Mutation = () => ({})): Promise<FakeWorld> {
    const cloud = new FakeCloud();
    const provider = await connect({ ...cloud.capabilities, ...mutate(cloud.capabilities, cloud) });
    return new FakeWorld(provider, cloud);
  }

  get common(): ProviderSubject {
    return {
      provider: this.provider,
      wait: () => new Promise((resolve) => setImmediate(resolve)),
      settleMs: 2000,
      breakCloud: async () =>
        this.#hooked(METHODS, () => Promise.reject(new ProviderError('unavailable', 'down'))),
      silenceCloud: async () => this.#hooked(METHODS, (_, { signal }) => untilAborted(signal)),
      [Symbol.asyncDispose]: () => this.provider[Symbol.asyncDispose](),
    };
  }

  get instances(): InstancesSubject {
    const { instances } = this.cloud;
    return {
      ...this.common,
      create: async () => {
        const name = `node-${instances.size + 1}`;
        const nodeIP = `10.0.0.${instances.size + 1}`;
        instances.set(name, machine(name, nodeIP));
        return { ref: refOf(name, `fake://${name}`), nodeIP };
      },
      stop: async ({ nodeName }) => this.#power(nodeName, 'off'),
      start: async ({ nodeName }) => this.#power(nodeName, 'on'),
      terminate: async ({ nodeName }) => void instances.set(nodeName, { state: 'absent', evidence: 'deleted' }),
      foreignRef: () => {
        instances.set('stranger', { state: 'unmanaged' });
        return refOf('stranger', 'other://1');
      },
    };
  }

  get loadBalancers(): LoadBalancersSubject {
    const { balancers } = this.cloud;
    const failAfter = (args: readonly unknown[]) => {
      const plan = args[0] as BalancerPlan;
      balancers.set(plan.name, { plan, backends: [], ingress: [{ ip: '203.0.113.99' }] });
      throw new ProviderError('uncertain', 'cut off');
    };
    const ensure = ['loadBalancers.ensure'];
    return {
      ...this.common,
      backends: [backendOf('node-1'), backendOf('node-2')],
      count: async () => balancers.size,
      observe: async (name) => {
        const found = balancers.get(name);
        if (found === undefined) return undefined;
        const { plan, backends } = found;
        const nodeNames = backends.map(({ nodeName }) => nodeName);
        return { ports: plan.ports.map(({ port }) => port), nodeNames, tags: plan.tags, scope: plan.scope };
      },
      loseAnswer: async () => this.#hooked(ensure, failAfter),
      breakMidway: async () => this.#hooked(ensure, failAfter),
      exhaustQuota: async () =>
        this.#hooked(ensure, () => Promise.reject(new ProviderError('quota', 'no more than ten'))),
    };
  }

  get routes(): RoutesSubject {
    const { routes } = this.cloud;
    return {
      ...this.common,
      target: { nodeName: 'node-1', providerID: 'fake://node-1' },
      makeForeign: async () => {
        const route = { name: 'foreign', targetNode: '', destinationCIDR: '10.99.0.0/24' };
        routes.push(route);
        return {
          ...route,
          isThere: async () => routes.includes(route),
          [Symbol.asyncDispose]: async () => void routes.splice(routes.indexOf(route), 1),
        };
      },
    };
  }

  #power(nodeName: string, power: 'on' | 'off'): void {
    const known = this.cloud.instances.get(nodeName);
    if (known?.state === 'present') this.cloud.instances.set(nodeName, { ...known, power });
  }

  #hooked(methods: readonly string[], hook: Parameters<FakeCloud['on']>[1]): Disposable {
    for (const method of methods) this.cloud.on(method, hook);
    return {
      [Symbol.dispose]: () => {
        for (const method of methods) this.cloud.on(method, undefined);
      },
    };
  }
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

const machine = (name: string, address: string): InstanceObservation => ({
  state: 'present',
  power: 'on',
  providerID: `fake://${name}`,
  addresses: [{ type: 'InternalIP', address }],
  zone: 'a',
  region: 'fake',
  labels: { 'fake.example.com/rack': '1' },
});

function refOf(nodeName: string, providerID: string): InstanceRef {
  const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName }, spec: { providerID } };
  return { nodeName, providerID, node };
}

const backendOf = (nodeName: string): Backend => ({
  nodeName,
  providerID: `fake://${nodeName}`,
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
});

export type Mutation = (right: FakeCapabilities, cloud: FakeCloud) => Partial<FakeCapabilities>;

export interface Mutant {
  readonly breaks: string;
  readonly says: RegExp;
  readonly mutate: Mutation;
  /** It cannot break this promise alone. */
  readonly andOthers?: true;
}

const OTHER = new AbortController().signal;
export const deaf = (call: CallContext): CallContext => ({ ...call, signal: OTHER });
export const spoil = (value: object): void => void Object.assign(value, { spoiled: true });

/** Takes an error of the cloud for an answer. */
export async function caught<T>(call: Promise<T>, instead: T): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (isProviderError(error)) return instead;
    throw error;
  }
}

/** The suite finds what is wrong with a provider, and says it in words of the promise. */
export async function requireBreak<Subject extends AsyncDisposable>(
  suite: ContractSuite<Subject>,
  subject: (world: FakeWorld) => Subject,
  { breaks, says, mutate, andOthers }: Mutant,
): Promise<void> {
  const make = async () => subject(await FakeWorld.start(barely, mutate));
  const results = await runContract(suite, { make });
  const found = results.filter(({ outcome }) => outcome !== 'kept');
  const named = found.find(({ id }) => id === breaks);
  assert.ok(named?.outcome === 'broken', `${breaks} was kept; not kept: ${JSON.stringify(found)}`);
  assert.ok(named.message.startsWith(`promise broken: ${named.promise} — `), named.message);
  assert.match(named.message, says);
  if (andOthers === undefined)
    assert.deepEqual(
      found.map(({ id }) => id),
      [breaks],
    );
}

/** Every promise has a provider that breaks it. */
export const requireAll = <Subject>({ cases }: ContractSuite<Subject>, mutants: readonly Mutant[]): void =>
  assert.deepEqual([...new Set(mutants.map(({ breaks }) => breaks))].sort(), cases.map(({ id }) => id).sort());

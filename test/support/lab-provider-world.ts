import type { Node } from '../../src/api/generated/core-v1.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import type { FaultSpec } from '../../src/lab/cloud/faults/fault.ts';
import { type LoadBalancerFields, loadBalancers } from '../../src/lab/cloud/load-balancers/load-balancers.ts';
import { labProvider } from '../../src/providers/lab/index.ts';
import type { InstanceRef } from '../../src/sdk/capabilities/instances.ts';
import type { Backend } from '../../src/sdk/capabilities/load-balancers.ts';
import type { ProviderSubject } from '../../src/sdk/conformance/contract-subject.ts';
import type { InstancesSubject, MadeInstance } from '../../src/sdk/conformance/instances-contract.ts';
import type { LoadBalancersSubject, ObservedBalancer } from '../../src/sdk/conformance/planned-balancer.ts';
import type { RoutesSubject } from '../../src/sdk/conformance/routes-contract.ts';
import { connectProvider } from '../../src/sdk/provider/connect-provider.ts';
import type { ConnectedProvider } from '../../src/sdk/provider/connected-provider.ts';
import { balancerNetwork, freePort } from './balancer-world.ts';
import { type CloudWorld, type CloudWorldOptions, cloudWorld, pretendAddresses } from './cloud-world.ts';
import { until } from './scratch.ts';

const OCTET = 9;
const CLUSTER = 'c1';
const CALL_TIMEOUT_MS = 60_000;
const LOAD_BALANCERS = { plural: 'load-balancers' };

const network = { ...balancerNetwork, owns: (address: string) => /^(10|127)\.9\./.test(address) };

export interface LabProviderOptions extends CloudWorldOptions {
  /** More fields of the cloud configuration, as YAML. */
  readonly more?: string;
}

/** A lab cloud on time of its own, and the provider for it connected over HTTP. */
export class LabProviderWorld implements AsyncDisposable {
  readonly world: CloudWorld;
  readonly provider: ConnectedProvider;
  readonly #holds: Set<object>;
  #made = 0;

  private constructor(world: CloudWorld, provider: ConnectedProvider, holds: Set<object>) {
    this.world = world;
    this.provider = provider;
    this.#holds = holds;
  }

  static async start({ more = '', ...options }: LabProviderOptions = {}): Promise<LabProviderWorld> {
    const holds = new Set<object>();
    const hold = () => {
      const held = { [Symbol.dispose]: () => void holds.delete(held) };
      holds.add(held);
      return held;
    };
    const kinds = [loadBalancers({ network, hold })];
    const world = await cloudWorld({ addresses: pretendAddresses(OCTET), ...options, kinds });
    return new LabProviderWorld(world, await connected(world, more), holds);
  }

  /** Another one for the same cloud, as after a restart of the program; with fields of its own. */
  connect(more = ''): Promise<ConnectedProvider> {
    return connected(this.world, more);
  }

  /** Lets lab time pass, with everything that follows. */
  async wait(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1000) {
      await this.world.pass(Math.min(1000, left));
      await until(() => this.#holds.size === 0, 'no health check is under way', 10_000);
    }
  }

  fault(spec: FaultSpec): Disposable {
    return this.world.cloud.fault(spec);
  }

  /** A machine of the cluster, and a Node that has just been registered. */
  async machine(fields: Readonly<Record<string, unknown>> = {}): Promise<MadeInstance> {
    const name = `node-${++this.#made}`;
    const wanted = { name, type: 'lab.small', zone: 'a', tags: this.provider.clusterTags, ...fields };
    const found = await this.world.look('instances', await this.world.make('instances', wanted));
    const [providerID, nodeIP] = [String(found['providerID']), String(found['privateAddress'])];
    return { ref: this.refOf(String(wanted.name), providerID), nodeIP };
  }

  /** A Node that was registered now. */
  refOf(nodeName: string, providerID?: string): InstanceRef {
    const node: Node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: nodeName, creationTimestamp: this.world.clock.now().toISOString() },
      spec: {},
    };
    return { nodeName, node, ...(providerID !== undefined && { providerID }) };
  }

  async act(ref: InstanceRef, action: 'start' | 'stop'): Promise<void> {
    await this.world.ask('POST', `/v1/instances/${idOf(ref.providerID)}/actions`, { body: { action } });
  }

  async terminate(ref: InstanceRef): Promise<void> {
    await this.world.ask('DELETE', `/v1/instances/${idOf(ref.providerID)}`);
  }

  async backend(): Promise<Backend> {
    const { ref, nodeIP } = await this.machine();
    const { nodeName, providerID = '' } = ref;
    return { nodeName, providerID, addresses: [{ type: 'InternalIP', address: nodeIP }] };
  }

  /** The truth about a load balancer. */
  observe(name: string): ObservedBalancer | undefined {
    const { state } = this.world.cloud;
    const found = state.list<LoadBalancerFields>(LOAD_BALANCERS).find((each) => each.name === name);
    if (found === undefined) return undefined;
    const nodeNames = found.fields.targets.map(
      ({ instanceId, address }) => state.get({ plural: 'instances' }, instanceId ?? '')?.name ?? address ?? '',
    );
    const ports = found.fields.listeners.map(({ port }) => port);
    return { ports, nodeNames, tags: found.tags, scope: found.fields.scheme };
  }

  balancerCount(): number {
    return this.world.cloud.state.list(LOAD_BALANCERS).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.provider[Symbol.asyncDispose]();
    await this.world[Symbol.asyncDispose]();
  }
}

async function connected(world: CloudWorld, more: string): Promise<ConnectedProvider> {
  const { clientId, clientSecret } =
    world.cloud.credentials().find((each) => each.clientId === 'lab-provider') ?? {};
  const secrets: Readonly<Record<string, string | undefined>> = {
    LAB_CLIENT_ID: clientId,
    LAB_CLIENT_SECRET: clientSecret,
  };
  const context = {
    config: `endpoint: ${world.cloud.url}\nclusterId: ${CLUSTER}\n${more}`,
    secret: (name: string) => secrets[name],
    clock: world.clock,
    log: SILENT_LOG,
    signal: new AbortController().signal,
  };
  return await connectProvider(labProvider, { context, callTimeoutMs: CALL_TIMEOUT_MS });
}

/** The identifier in the cloud. */
export const idOf = (providerID = ''): string => providerID.slice(providerID.lastIndexOf('/') + 1);

/** With the world behind it, for tests that look further. */
type Make<Subject> = () => Promise<Subject & { readonly lab: LabProviderWorld }>;

function common(lab: LabProviderWorld): ProviderSubject & { readonly lab: LabProviderWorld } {
  return {
    lab,
    provider: lab.provider,
    wait: (ms) => lab.wait(ms),
    settleMs: 30_000,
    breakCloud: async () => lab.fault({ match: {}, effect: { status: 503 } }),
    silenceCloud: async () => lab.fault({ match: {}, effect: { hang: true } }),
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  };
}

/** The lab for the suites, each with a world of its own. */
export const labSubjects = (
  options: LabProviderOptions = {},
): {
  readonly zones: Make<ProviderSubject>;
  readonly instances: Make<InstancesSubject>;
  readonly loadBalancers: Make<LoadBalancersSubject>;
  readonly routes: Make<RoutesSubject>;
} => ({
  zones: async () => common(await LabProviderWorld.start(options)),
  instances: async () => {
    const lab = await LabProviderWorld.start(options);
    return {
      ...common(lab),
      create: () => lab.machine(),
      stop: (ref) => lab.act(ref, 'stop'),
      start: (ref) => lab.act(ref, 'start'),
      terminate: (ref) => lab.terminate(ref),
    };
  },
  loadBalancers: async () => await balancersOf(await LabProviderWorld.start(options)),
  routes: async () => await routesOf(await LabProviderWorld.start(options)),
});

async function balancersOf(lab: LabProviderWorld): ReturnType<Make<LoadBalancersSubject>> {
  const post = { method: 'POST', kind: 'load-balancers' };
  return {
    ...common(lab),
    backends: [await lab.backend(), await lab.backend()],
    ports: [await freePort('127.9.128.1'), await freePort('127.9.128.1')],
    count: async () => lab.balancerCount(),
    observe: async (name) => lab.observe(name),
    loseAnswer: async () => lab.fault({ match: post, effect: { dropAfter: 'commit' }, times: 1 }),
    breakMidway: async () => lab.fault({ match: post, effect: { dropAfter: 'commit', stateStuck: true } }),
    exhaustQuota: () => exhausted(lab),
  };
}

/** Really: with load balancers of somebody else. */
async function exhausted(lab: LabProviderWorld): Promise<AsyncDisposable> {
  const ids: string[] = [];
  const body = { listeners: [{ port: await freePort('127.9.128.1'), targetPort: 1 }] };
  for (let left = 10 - lab.balancerCount(); left > 0; left--)
    ids.push(await lab.world.make('load-balancers', { ...body, name: `other-${left}` }));
  return {
    [Symbol.asyncDispose]: async () => {
      for (const id of ids) await lab.world.ask('DELETE', `/v1/load-balancers/${id}`);
      await lab.wait(5000);
    },
  };
}

async function routesOf(lab: LabProviderWorld): ReturnType<Make<RoutesSubject>> {
  const { nodeName, providerID = '' } = await lab.backend();
  // Reads know the machine from here on.
  await lab.wait(5000);
  return {
    ...common(lab),
    target: { nodeName, providerID },
    makeForeign: async () => {
      const destinationCIDR = '10.244.9.0/24';
      const body = { name: 'foreign', destinationCidr: destinationCIDR, targetInstanceId: idOf(providerID) };
      const id = await lab.world.make('routes', body);
      return {
        destinationCIDR,
        isThere: async () => lab.world.cloud.state.get({ plural: 'routes' }, id) !== undefined,
        [Symbol.asyncDispose]: async () => void (await lab.world.ask('DELETE', `/v1/routes/${id}`)),
      };
    },
  };
}

import { type Node, type NodeAddress, Node as NodeKind } from '../../src/api/generated/core-v1.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import type { CloudController } from '../../src/cloud/cloud-controller.ts';
import type { CloudSettings } from '../../src/cloud/cloud-settings.ts';
import { NODE_CACHE } from '../../src/cloud/node/index.ts';
import { fencedProvider } from '../../src/cloud/program/fenced-provider.ts';
import { LeadershipLost } from '../../src/kube/client/api-error.ts';
import { type Fence, UNFENCED } from '../../src/kube/election/fence.ts';
import type { PresentInstance } from '../../src/sdk/capabilities/instances.ts';
import type { BalancerPlan } from '../../src/sdk/capabilities/load-balancers.ts';
import { connectProvider } from '../../src/sdk/provider/connect-provider.ts';
import type { ConnectedProvider } from '../../src/sdk/provider/connected-provider.ts';
import { defineProvider } from '../../src/sdk/provider/define-provider.ts';
import { faulty, PROVIDER_FAULTS } from '../../src/testing/crash-provider.ts';
import type { CrashScenario, ScenarioLife, ScenarioWorld } from '../../src/testing/crash-scenario.ts';
import { FakeCloud } from '../../src/testing/fake-cloud.ts';
import { worldOf } from '../../src/testing/world.ts';
import { usualSettings } from './cloud-controllers.ts';

export interface CloudWorld extends ScenarioWorld {
  readonly cloud: SurvivingCloud;
}

/** Something that users, kubelets or the cloud do. */
export type CloudStep = (world: CloudWorld) => unknown;

/** The cloud outlives the program: it is the same one for all of its lives. */
export class SurvivingCloud extends FakeCloud {
  /** What must not be, at no moment. */
  readonly #violations = new Set<string>();
  readonly #meanwhile = new Map<string, () => unknown>();

  constructor() {
    super();
    this.on('loadBalancers.ensure', ([plan]) => this.#ensured(plan as BalancerPlan));
    this.on('routes.create', ([route]) => this.#checkRoutes(route));
  }

  /** A machine that is there and on; its node is as yet no node of the cluster. */
  machine(name: string, more: Partial<PresentInstance> = {}): void {
    this.instances.set(name, {
      state: 'present',
      power: 'on',
      providerID: `fake://${name}`,
      instanceType: 'm1',
      zone: 'a',
      region: 'fake',
      addresses: addressesOf(name),
      ...more,
    });
  }

  /** Something that happens once, while the cloud works on the balancer of a Service. */
  duringEnsure(service: string, act: () => unknown): void {
    this.#meanwhile.set(service, act);
  }

  /** Everything that costs money, without what differs from run to run. */
  inventory(): unknown {
    const balancers = [...this.balancers.values()].map(({ plan, backends }) => ({
      service: serviceOf(plan),
      ports: plan.ports.map(({ port, nodePort }) => `${port}→${nodePort}`),
      backends: backends.map(({ nodeName }) => nodeName).toSorted(),
    }));
    const routes = this.routes.map(({ targetNode, destinationCIDR }) => `${destinationCIDR} → ${targetNode}`);
    return {
      balancers: balancers.toSorted((a, b) => (a.service < b.service ? -1 : 1)),
      routes: routes.toSorted(),
      violations: [...this.#violations],
    };
  }

  /** As the base class does, with an address that does not depend on who comes first. */
  async #ensured(plan: BalancerPlan) {
    const { name } = plan.service;
    const act = this.#meanwhile.get(name);
    this.#meanwhile.delete(name);
    await act?.();
    const others = [...this.balancers.values()].filter(
      (one) => one.plan.name !== plan.name && serviceOf(one.plan) === serviceOf(plan),
    );
    if (others.length > 0) this.#violations.add(`${serviceOf(plan)} has two balancers`);
    const ingress = [{ hostname: `${name}.example` }];
    this.balancers.set(plan.name, { plan, backends: plan.backends, ingress });
    return { kind: 'ready', ingress };
  }

  /** Only looks: undefined lets the base class do it. */
  #checkRoutes(route: unknown): undefined {
    const { destinationCIDR, targetNode } = route as { destinationCIDR: string; targetNode: string };
    const others = this.routes.filter(
      (one) => one.destinationCIDR === destinationCIDR && one.targetNode !== targetNode,
    );
    if (others.length > 0) this.#violations.add(`${destinationCIDR} leads to two nodes`);
  }
}

const serviceOf = ({ service: { namespace, name } }: BalancerPlan): string => `${namespace}/${name}`;

/** `n1` has 10.0.0.1. */
const addressesOf = (name: string): readonly { type: 'InternalIP'; address: string }[] => [
  { type: 'InternalIP', address: `10.0.0.${name.replace(/\D/g, '')}` },
];

/** Guarded as in the program, with points below the guard. */
const connectedTo = (cloud: FakeCloud, life: ScenarioLife, beforeSend: () => void): Promise<ConnectedProvider> => {
  const definition = defineProvider<undefined>({
    name: 'fake',
    displayName: 'Fake Cloud',
    architectures: ['amd64'],
    providerID: { scheme: 'fake', format: '{id}', pattern: /^fake:\/\/.+$/ },
    connect: () => ({ client: undefined, clusterId: 'test' }),
    capabilities: faulty(cloud.capabilities, life, beforeSend),
  });
  const { signal } = new AbortController();
  const context = { config: undefined, secret: () => undefined, clock: life.clock, log: SILENT_LOG, signal };
  return connectProvider(definition, { context, callTimeoutMs: 60_000 });
};

export interface CloudScenarioOptions {
  readonly controllers: readonly CloudController[];
  readonly settings?: Partial<CloudSettings>;
  readonly steps: readonly CloudStep[];
}

/** What an interrupted status write leaves is found by the next pass: within the time in which a scenario comes to rest. */
const PASS_MS = 20_000;

/** Controllers of the cloud controller manager in one program; after each step everything comes to rest. */
export const cloudScenario = (
  name: string,
  { controllers, settings = {}, steps }: CloudScenarioOptions,
): CrashScenario => ({
  name,
  manager: { cache: { byKind: NODE_CACHE }, eventSource: 'cloud-controller-manager' },
  outsideErrors: PROVIDER_FAULTS,
  start: () => {
    const cloud = new SurvivingCloud();
    /** How everything looks after each step: what a later one would cover up. */
    const rests: unknown[] = [];
    return {
      controllers: async (life) => {
        let fence: Pick<Fence, 'isValid'> = UNFENCED;
        const connected = await connectedTo(cloud, life, () => {
          if (!fence.isValid) throw new LeadershipLost();
        });
        const all = usualSettings({ nodeStatusUpdateFrequencyMs: PASS_MS, ...settings });
        return (manager) => {
          fence = manager.fence;
          const provider = fencedProvider(connected, fence);
          return controllers.flatMap((one) => one.parts({ manager, provider, settings: all }));
        };
      },
      async act(world) {
        const { store } = world.env.server;
        const since = store.revision;
        for (const step of steps) {
          await step({ ...world, cloud });
          await world.converge();
          rests.push({ cluster: [...worldOf(store, since)], cloud: cloud.inventory() });
        }
      },
      inventory: () => rests,
    };
  },
});

export interface Registered {
  readonly metadata?: Partial<Node['metadata']>;
  readonly spec?: Node['spec'];
  readonly addresses?: readonly NodeAddress[];
  readonly ready?: 'True' | 'False' | 'Unknown';
}

/** As a kubelet does. */
export async function register(
  { client, env }: ScenarioWorld,
  name: string,
  node: Registered = {},
): Promise<void> {
  const { metadata = {}, spec = {}, addresses = [{ type: 'Hostname', address: name }], ready } = node;
  const now = env.clock.now().toISOString().replace(/\.\d+/, '');
  const condition = {
    type: 'Ready',
    status: ready ?? 'True',
    reason: 'Test',
    message: '',
    lastTransitionTime: now,
  };
  await client.create(NodeKind, {
    metadata: { name, ...metadata },
    spec,
    status: { addresses, conditions: [condition] },
  });
}

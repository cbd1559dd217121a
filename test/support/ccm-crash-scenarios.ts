import assert from 'node:assert/strict';
import { Node, Service, type ServiceSpec } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { cloudNodeLifecycle } from '../../src/cloud/lifecycle/index.ts';
import { PROVIDED_IP_ANNOTATION } from '../../src/cloud/node/addresses.ts';
import { UNINITIALIZED_TAINT } from '../../src/cloud/node/desired.ts';
import { cloudNode } from '../../src/cloud/node/index.ts';
import { nodeRoute } from '../../src/cloud/route/index.ts';
import { serviceLb } from '../../src/cloud/service/index.ts';
import type { InstanceRef } from '../../src/sdk/capabilities/instances.ts';
import { ProviderError } from '../../src/sdk/provider/provider-error.ts';
import type { CrashScenario } from '../../src/testing/crash-scenario.ts';
import { type CloudStep, cloudScenario, type Registered, register } from './ccm-crash-cloud.ts';

const WAITS = { key: UNINITIALIZED_TAINT, value: 'true', effect: 'NoSchedule' } as const;
const PODS = '10.128.0.0/14';
const INSTANCE_METHODS = ['instances.describe', 'instances.describeMany'];
const ROUTED = { clusterCIDRs: [PODS], allocateNodeCIDRs: true };

/** A machine, and the Node that its kubelet registers. */
const join =
  (name: string, node: Registered = {}): CloudStep =>
  async (world) => {
    world.cloud.machine(name);
    await register(world, name, node);
  };

/** One that was initialised before. */
const worker = (name: string, more: Registered = {}): CloudStep =>
  join(name, {
    addresses: [{ type: 'InternalIP', address: `10.0.0.${name.slice(1)}` }],
    ...more,
    spec: { providerID: `fake://${name}`, ...more.spec },
  });

const together =
  (...steps: readonly CloudStep[]): CloudStep =>
  async (world) => {
    for (const step of steps) await step(world);
  };

const patchNode =
  (name: string, body: JsonObject, subresource?: string): CloudStep =>
  ({ client }) =>
    client.patch(
      Node,
      { name },
      { type: 'strategic', body },
      { ...(subresource !== undefined && { subresource }) },
    );

/** What the kubelet of a node says, or what is said of it. */
const says =
  (name: string, status: 'True' | 'False' | 'Unknown'): CloudStep =>
  (world) => {
    const lastTransitionTime = world.env.clock.now().toISOString().replace(/\.\d+/, '');
    const condition = { type: 'Ready', status, reason: 'Test', message: '', lastTransitionTime };
    return patchNode(name, { status: { conditions: [condition] } }, 'status')(world);
  };

const power =
  (name: string, to: 'on' | 'off'): CloudStep =>
  ({ cloud }) =>
    cloud.machine(name, { power: to });

const vanish =
  (...names: readonly string[]): CloudStep =>
  ({ cloud }) => {
    for (const name of names) cloud.instances.delete(name);
  };

/** Told, because the server would choose another one in every run. */
const WEB_PORT = { port: 80, nodePort: 30_001 };

/** The cloud says nothing about machines while a node does not answer either: the Node stays. */
const outage =
  (name: string): CloudStep =>
  async (world) => {
    const hook = () => Promise.reject(new ProviderError('unavailable', 'out of order'));
    for (const method of INSTANCE_METHODS) world.cloud.on(method, hook);
    await says(name, 'Unknown')(world);
    await world.converge();
    assert.notEqual(await world.client.find(Node, { name }), undefined, `${name} was deleted without proof`);
    for (const method of INSTANCE_METHODS) world.cloud.on(method, undefined);
    await power(name, 'off')(world);
  };

const key = (name: string) => ({ namespace: 'default', name });

const expose =
  (name: string, nodePort: number, spec: Partial<ServiceSpec> = {}): CloudStep =>
  ({ client }) =>
    client.create(Service, {
      metadata: key(name),
      // The server would choose another address in every run.
      spec: {
        type: 'LoadBalancer',
        clusterIP: `10.0.0.${nodePort - 29_900}`,
        ports: [{ port: 80, nodePort }],
        ...spec,
      },
    });

const change =
  (name: string, spec: JsonObject): CloudStep =>
  ({ client }) =>
    client.patch(Service, key(name), { type: 'merge', body: { spec } });

const remove =
  (name: string): CloudStep =>
  ({ client }) =>
    client.delete(Service, key(name));

const removeNode =
  (name: string): CloudStep =>
  ({ client }) =>
    client.delete(Node, { name });

/** Done by somebody else, the first time that the cloud is asked for a machine. */
const whenFirstAskedFor =
  (name: string, act: CloudStep): CloudStep =>
  (world) => {
    let hasActed = false;
    const hook = async ([asked]: readonly unknown[]): Promise<undefined> => {
      const refs = (Array.isArray(asked) ? asked : [asked]) as readonly InstanceRef[];
      if (hasActed || !refs.some(({ nodeName }) => nodeName === name)) return;
      hasActed = true;
      await act(world);
    };
    for (const method of INSTANCE_METHODS) world.cloud.on(method, hook);
  };

const NODE_STEPS: readonly CloudStep[] = [
  // Somebody else writes between the read and the update of the first node.
  whenFirstAskedFor('n1', patchNode('n1', { metadata: { labels: { by: 'another' } } })),
  together(
    join('n1', { spec: { taints: [WAITS] } }),
    join('n2', {
      metadata: { annotations: { [PROVIDED_IP_ANNOTATION]: '10.0.0.2' } },
      spec: { taints: [WAITS] },
    }),
    join('n3', {
      metadata: {
        labels: { team: 'a', 'topology.kubernetes.io/zone': 'wrong' },
        annotations: { note: 'kept' },
        finalizers: ['example.com/held'],
      },
      spec: { taints: [{ key: 'example.com/gpu', effect: 'NoExecute' }, WAITS], unschedulable: true },
    }),
  ),
  // The cloud gives another address; somebody writes a deprecated label.
  ({ cloud }) => cloud.machine('n1', { addresses: [{ type: 'InternalIP', address: '10.0.0.99' }] }),
  patchNode('n2', { metadata: { labels: { 'failure-domain.beta.kubernetes.io/zone': 'b' } } }),
];

/** The user deletes it while the cloud works on it. */
function deletedDuringEnsure(name: string): CloudStep {
  return async (world) => {
    world.cloud.duringEnsure(name, () => remove(name)(world));
    await expose(name, 30_009)(world);
  };
}

/** Initialisation, and what follows the machine afterwards. */
export const NODE_CRASHES = [
  cloudScenario('nodes are initialised while another writes', { controllers: [cloudNode], steps: NODE_STEPS }),
  cloudScenario('labels of nodes follow the cloud', {
    controllers: [cloudNode],
    settings: { refreshNodeLabels: true },
    steps: [
      join('n1', { spec: { taints: [WAITS] } }),
      ({ cloud }) => cloud.machine('n1', { instanceType: 'm2', labels: { 'example.com/rack': '7' } }),
    ],
  }),
] as const satisfies readonly CrashScenario[];

/** Machines that stop or vanish. */
export const LIFECYCLE_CRASHES = [
  cloudScenario('machines stop, come back and vanish', {
    controllers: [cloudNodeLifecycle],
    steps: [
      together(
        worker('n1'),
        worker('n2'),
        worker('n3', { spec: { taints: [{ key: 'mine', effect: 'NoExecute' }] } }),
      ),
      together(power('n1', 'off'), says('n1', 'Unknown'), power('n3', 'off'), says('n3', 'False')),
      together(power('n1', 'on'), says('n1', 'True')),
      together(vanish('n1'), says('n1', 'Unknown')),
      outage('n2'),
    ],
  }),
  cloudScenario('all machines vanish at once', {
    controllers: [cloudNodeLifecycle],
    steps: [
      // Nothing is deleted while no node is ready (ccm/B2).
      together(worker('n1'), worker('n2'), worker('n3')),
      together(vanish('n1', 'n2'), says('n1', 'Unknown'), says('n2', 'Unknown')),
    ],
  }),
] as const satisfies readonly CrashScenario[];

/** Load balancers of Services. */
export const BALANCER_CRASHES = [
  cloudScenario('a balancer is made, changed and deleted', {
    controllers: [serviceLb],
    steps: [
      together(worker('n1'), expose('web', 30_001)),
      change('web', { ports: [{ port: 81, nodePort: 30_001 }] }),
      worker('n2'),
      removeNode('n1'),
      remove('web'),
    ],
  }),
  cloudScenario('services stop to be balanced, and begin again', {
    controllers: [serviceLb],
    steps: [
      together(worker('n1'), expose('web', 30_001), expose('api', 30_002)),
      change('web', { type: 'ClusterIP' }),
      // With a class, it is somebody else's.
      change('web', { type: 'LoadBalancer', loadBalancerClass: 'example.com/other', ports: [WEB_PORT] }),
      change('web', { type: 'ClusterIP', loadBalancerClass: null }),
      change('web', { type: 'LoadBalancer', ports: [WEB_PORT] }),
    ],
  }),
  cloudScenario('a service is deleted while its balancer is made', {
    controllers: [serviceLb],
    steps: [
      worker('n1'),
      async (world) => {
        await expose('web', 30_001)(world);
        await expose('kept', 30_002)(world);
        await remove('web')(world);
      },
      deletedDuringEnsure('late'),
    ],
  }),
] as const satisfies readonly CrashScenario[];

/** Routes to the pods of nodes. */
export const ROUTE_CRASHES = [
  cloudScenario('routes come and go with the nodes', {
    controllers: [nodeRoute],
    settings: ROUTED,
    steps: [
      together(
        worker('n1', { spec: { podCIDR: '10.128.1.0/24', podCIDRs: ['10.128.1.0/24'] } }),
        worker('n2', { spec: { podCIDR: '10.128.2.0/24', podCIDRs: ['10.128.2.0/24'] } }),
      ),
      // Left over by a node that is gone; foreign ones stay.
      ({ cloud }) => {
        cloud.routes.push({ name: 'old', targetNode: 'n9', destinationCIDR: '10.128.9.0/24' });
        cloud.routes.push({ name: 'foreign', targetNode: 'n9', destinationCIDR: '192.168.0.0/24' });
      },
      worker('n3', { spec: { podCIDR: '10.128.3.0/24', podCIDRs: ['10.128.3.0/24'] } }),
      removeNode('n2'),
    ],
  }),
] as const satisfies readonly CrashScenario[];

/** All controllers in one program. */
const ALL_CRASHES = [
  cloudScenario('a machine lives and dies with all controllers', {
    controllers: [cloudNode, cloudNodeLifecycle, serviceLb, nodeRoute],
    settings: ROUTED,
    steps: [
      together(worker('n1'), expose('web', 30_001)),
      join('n2', {
        spec: { taints: [WAITS], podCIDR: '10.128.2.0/24', podCIDRs: ['10.128.2.0/24'] },
      }),
      together(power('n2', 'off'), says('n2', 'Unknown')),
      vanish('n2'),
      remove('web'),
    ],
  }),
] as const satisfies readonly CrashScenario[];

/** Everything (reliability T1.7). */
export const CLOUD_CRASHES: readonly CrashScenario[] = [
  ...NODE_CRASHES,
  ...LIFECYCLE_CRASHES,
  ...BALANCER_CRASHES,
  ...ROUTE_CRASHES,
  ...ALL_CRASHES,
];

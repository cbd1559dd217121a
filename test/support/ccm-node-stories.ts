import type { NodeAddress } from '../../src/sdk/capabilities/instances.ts';
import { type Scene, type Step, type Story, UNINITIALIZED } from './ccm-scene.ts';
import type { NodeView, View } from './ccm-views.ts';

const PROVIDED_IP = 'alpha.kubernetes.io/provided-node-ip';
const SHUTDOWN = 'node.cloudprovider.kubernetes.io/shutdown=:NoSchedule';

const internal = (address: string): NodeAddress => ({ type: 'InternalIP', address });
const external = (address: string): NodeAddress => ({ type: 'ExternalIP', address });

const nodeIn = (view: View, scene: Scene, name: string): NodeView | undefined => view.nodes[scene.named(name)];
const isInitialized = (node: NodeView | undefined): boolean =>
  node !== undefined && node.taints.every((taint) => !taint.startsWith(UNINITIALIZED));
const hasEvent = (view: View, words: string): boolean =>
  Object.keys(view.events).some((text) => text.includes(words));

/** Initialised, with addresses and the event that says so. */
const initialized =
  (name: string): Step['isSettled'] =>
  (view, scene) =>
    isInitialized(nodeIn(view, scene, name)) &&
    (nodeIn(view, scene, name)?.addresses ?? []).length > 0 &&
    hasEvent(view, `Node/${scene.named(name)} Normal Synced`);
const addressIs =
  (name: string, address: string): Step['isSettled'] =>
  (view, scene) =>
    nodeIn(view, scene, name)?.addresses.includes(address) ?? false;
/** Two rounds after this one have asked: the first of them is over. */
const looked =
  (name: string, times = 2): Step['isSettled'] =>
  (_view, scene) =>
    scene.asked(`describe ${scene.named(name)}`) >= times;

/** One by one, and many at once where a program can ask so. */
const INSTANCES = ['instances.describe', 'instances.describeMany'];
const failInstances = ({ cloud }: Scene): void => {
  for (const method of INSTANCES) cloud.failures.set(method, 'the cloud is down');
};
const triedInstances =
  (times: number): Step['isSettled'] =>
  (_view, scene) =>
    INSTANCES.reduce((sum, method) => sum + scene.asked(`try ${method}`), 0) >= times;

const INITIALISE: Story = {
  slug: 'init',
  rules: 'ccm/N3, ccm/N4, ccm/N7, ccm/N8, ccm/N9, ccm/N10, ccm/N12, ccm/N13',
  title: 'nodes are initialised',
  steps: [
    {
      name: 'with a foreign taint, a provided address, and more labels than may be set',
      act: async (scene) => {
        scene.machine('full', {
          addresses: [internal('10.0.0.1'), internal('10.0.0.9'), external('203.0.113.5')],
          labels: { 'x/y': '2', 'fake.example/rack': '7', 'k8s.io/q': '1' },
        });
        await scene.node('full', {
          annotations: { [PROVIDED_IP]: '10.0.0.1' },
          labels: { 'x/y': '1' },
          spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
          addresses: [{ type: 'Hostname', address: 'full.internal' }],
        });
      },
      isSettled: (view, scene) =>
        initialized('full')(view, scene) && addressIs('full', 'ExternalIP 203.0.113.5')(view, scene),
    },
    {
      name: 'not while the provided address is not among those of the machine',
      act: async (scene) => {
        scene.machine('other');
        await scene.node('other', { annotations: { [PROVIDED_IP]: '10.9.9.9' } });
      },
      isSettled: looked('other', 3),
      deviations: ['condition'],
    },
    {
      name: 'once it is',
      act: (scene) => scene.machine('other', { addresses: [internal('10.9.9.9'), internal('10.0.0.3')] }),
      isSettled: initialized('other'),
    },
    {
      name: 'never, when the cloud does not manage them',
      act: async (scene) => {
        scene.cloud.machines.set(scene.named('foreign'), { state: 'unmanaged' });
        await scene.node('foreign');
      },
      isSettled: looked('foreign', 1),
    },
    {
      name: 'with the provider ID that they have',
      act: async (scene) => {
        scene.machine('named');
        await scene.node('named', { spec: { providerID: 'fake://other' } });
      },
      isSettled: initialized('named'),
    },
    {
      name: 'not while the cloud fails',
      act: async (scene) => {
        failInstances(scene);
        scene.machine('late');
        await scene.node('late');
      },
      isSettled: triedInstances(3),
    },
    {
      name: 'when it works again',
      act: (scene) => scene.cloud.failures.clear(),
      isSettled: initialized('late'),
    },
  ],
};

const REFRESH: Story = {
  slug: 'refresh',
  rules: 'ccm/N15, ccm/N16, ccm/A1, ccm/A2',
  title: 'initialised nodes are kept up to date',
  steps: [
    {
      name: 'a first look',
      act: async (scene) => {
        scene.machine('one', { addresses: [internal('10.0.0.1'), external('203.0.113.5')] });
        await scene.node('one', { addresses: [{ type: 'Hostname', address: 'one.internal' }] });
      },
      isSettled: (view, scene) =>
        initialized('one')(view, scene) && addressIs('one', 'ExternalIP 203.0.113.5')(view, scene),
    },
    {
      name: 'a deprecated label wins over the stable one',
      act: (scene) =>
        scene.label('one', {
          'beta.kubernetes.io/instance-type': 'm2',
          'failure-domain.beta.kubernetes.io/zone': 'z2',
          'topology.kubernetes.io/region': null,
        }),
      isSettled: (view, scene) => {
        const { labels = {} } = nodeIn(view, scene, 'one') ?? {};
        return (
          labels['node.kubernetes.io/instance-type'] === 'm2' &&
          labels['topology.kubernetes.io/zone'] === 'z2' &&
          labels['topology.kubernetes.io/region'] === 'r1'
        );
      },
    },
    {
      name: 'another address',
      act: (scene) => scene.machine('one', { addresses: [internal('10.0.0.2'), external('203.0.113.5')] }),
      isSettled: addressIs('one', 'InternalIP 10.0.0.2'),
    },
    {
      name: 'no addresses at all',
      act: (scene) => scene.machine('one', { addresses: [] }),
      isSettled: looked('one'),
    },
    {
      name: 'the same in another order',
      act: (scene) => scene.machine('one', { addresses: [external('203.0.113.5'), internal('10.0.0.2')] }),
      isSettled: looked('one'),
    },
  ],
};

const gone =
  (name: string): Step['isSettled'] =>
  (view, scene) =>
    nodeIn(view, scene, name) === undefined && hasEvent(view, `Node/${scene.named(name)} Normal DeletingNode`);

/** A node that is not Ready and whose machine runs: each pass asks about it. */
const addSentinel = async (scene: Scene) => {
  scene.machine('sentinel');
  await scene.node('sentinel', { isInitialized: true, ready: 'False' });
};

const LIFECYCLE: Story = {
  slug: 'life',
  rules: 'ccm/L3, ccm/L4, ccm/L5, ccm/L6, ccm/L9',
  title: 'nodes follow their machines',
  steps: [
    { name: 'a machine that runs', act: addSentinel, isSettled: looked('sentinel', 4) },
    {
      name: 'one that is off',
      act: async (scene) => {
        scene.machine('one', { power: 'off' });
        await scene.node('one', { isInitialized: true, ready: 'False' });
      },
      isSettled: (view, scene) => nodeIn(view, scene, 'one')?.taints.includes(SHUTDOWN) ?? false,
    },
    {
      name: 'and is Ready again',
      act: async (scene) => {
        scene.machine('one');
        await scene.ready('one', 'True');
      },
      isSettled: (view, scene) => !(nodeIn(view, scene, 'one')?.taints.includes(SHUTDOWN) ?? true),
    },
    {
      name: 'and is absent though Ready',
      act: (scene) => scene.cloud.machines.delete(scene.named('one')),
      isSettled: looked('sentinel', 4),
    },
    {
      name: 'and is not Ready any more, while the cloud fails',
      act: async (scene) => {
        failInstances(scene);
        await scene.ready('one', 'Unknown');
      },
      isSettled: triedInstances(4),
    },
    { name: 'and the cloud says so', act: (scene) => scene.cloud.failures.clear(), isSettled: gone('one') },
    {
      name: 'one that never was',
      act: (scene) => scene.node('never', { ready: 'False' }),
      isSettled: gone('never'),
    },
  ],
};

const EMPTY_CLOUD: Story = {
  slug: 'empty',
  rules: 'ccm/L5, ccm/B2',
  title: 'a cloud that has lost everything',
  steps: [
    {
      name: 'nodes whose machines run',
      act: async (scene) => {
        for (const name of ['one', 'two', 'three']) {
          scene.machine(name);
          await scene.node(name, { isInitialized: true, ready: 'False' });
        }
        // Without one that is ready, ours believes nothing at all.
        await scene.node('four', { isInitialized: true, ready: 'True' });
      },
      isSettled: looked('three', 4),
    },
    {
      name: 'says that none is there',
      act: (scene) => scene.cloud.machines.clear(),
      isSettled: (view) => Object.keys(view.nodes).length === 1,
    },
  ],
};

export const NODE_STORIES: readonly Story[] = [INITIALISE, REFRESH, LIFECYCLE, EMPTY_CLOUD];

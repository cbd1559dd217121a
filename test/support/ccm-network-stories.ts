import { FINALIZER, type Scene, type Step, type Story, UNINITIALIZED } from './ccm-scene.ts';
import type { BalancerView, ServiceView, View } from './ccm-views.ts';

const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers';

const serviceIn = (view: View, scene: Scene, name: string): ServiceView | undefined =>
  view.services[scene.named(name)];
const balancerIn = (view: View, scene: Scene, name: string): BalancerView | undefined =>
  view.balancers[scene.named(name)];
const hasEvent = (view: View, words: string): boolean =>
  Object.keys(view.events).some((text) => text.includes(words));

const served =
  (name = 'web', ...ports: readonly number[]): Step['isSettled'] =>
  (view, scene) =>
    (serviceIn(view, scene, name)?.ingress ?? []).length > 0 &&
    ports.every(
      (port) => balancerIn(view, scene, name)?.ports.some((text) => text.includes(` ${port}:`)) ?? false,
    );
const backedBy =
  (...nodes: readonly string[]): Step['isSettled'] =>
  (view, scene) => {
    const wanted = nodes.map((name) => `${scene.named(name)} fake://${scene.named(name)}`).toSorted();
    return JSON.stringify(balancerIn(view, scene, 'web')?.backends) === JSON.stringify(wanted);
  };
const unserved: Step['isSettled'] = (view, scene) => {
  const { finalizers = [FINALIZER], ingress = [] } = serviceIn(view, scene, 'web') ?? {};
  return !finalizers.includes(FINALIZER) && ingress.length === 0 && balancerIn(view, scene, 'web') === undefined;
};
const removed: Step['isSettled'] = (view, scene) =>
  serviceIn(view, scene, 'web') === undefined && balancerIn(view, scene, 'web') === undefined;
const told =
  (words: string): Step['isSettled'] =>
  (view) =>
    hasEvent(view, words);
const both =
  (one: Step['isSettled'], two: Step['isSettled']): Step['isSettled'] =>
  (view, scene) =>
    one(view, scene) && two(view, scene);

const addNode = async (scene: Scene, name: string): Promise<void> => {
  scene.machine(name);
  await scene.node(name);
};
const allInitialized: Step['isSettled'] = (view) =>
  Object.values(view.nodes).every(
    ({ taints, addresses }) => addresses.length > 0 && taints.every((taint) => !taint.startsWith(UNINITIALIZED)),
  );
const nodes = (...names: readonly string[]): Step => ({
  name: 'there are nodes',
  act: async (scene) => {
    for (const name of names) await addNode(scene, name);
  },
  isSettled: allInitialized,
});

const onPort = (port: number) => [{ name: 'web', protocol: 'TCP', port, nodePort: 30_080 }];

const BALANCER: Story = {
  slug: 'lb',
  rules: 'ccm/S2, ccm/S3, ccm/S9, ccm/S10, ccm/S13, ccm/S14, ccm/S20, ccm/S21, ccm/S22, ccm/S25',
  title: 'a Service gets a load balancer and loses it',
  steps: [
    nodes('one', 'two'),
    {
      name: 'a new Service',
      act: (scene) => scene.service('web'),
      isSettled: both(served('web', 80), backedBy('one', 'two')),
    },
    {
      name: 'another port',
      act: (scene) => scene.changeService('web', { ports: onPort(81) }),
      isSettled: served('web', 81),
    },
    { name: 'another node', act: (scene) => addNode(scene, 'three'), isSettled: backedBy('one', 'two', 'three') },
    {
      name: 'one excluded',
      act: (scene) => scene.label('three', { [EXCLUDED]: '' }),
      isSettled: backedBy('one', 'two'),
    },
    {
      name: 'one not excluded after all',
      act: (scene) => scene.label('three', { [EXCLUDED]: 'false' }),
      isSettled: backedBy('one', 'two', 'three'),
    },
    { name: 'one deleted', act: (scene) => scene.removeNode('two'), isSettled: backedBy('one', 'three') },
    {
      name: 'another type',
      act: (scene) => scene.changeService('web', { type: 'ClusterIP' }),
      isSettled: unserved,
    },
    {
      name: 'the old type',
      act: (scene) => scene.changeService('web', { type: 'LoadBalancer', ports: onPort(81) }),
      isSettled: served('web', 81),
    },
    { name: 'deletion', act: (scene) => scene.removeService('web'), isSettled: removed },
  ],
};

const TROUBLE: Story = {
  slug: 'trouble',
  rules: 'ccm/S12, ccm/S13, ccm/S17, ccm/S26',
  title: 'a cloud that fails with load balancers',
  steps: [
    nodes('one', 'two'),
    {
      name: 'when one is to be made',
      act: async (scene) => {
        scene.cloud.failures.set('loadBalancers.ensure', 'no capacity');
        await scene.service('web');
      },
      isSettled: told(' Warning SyncLoadBalancerFailed '),
    },
    { name: 'and recovers', act: (scene) => scene.cloud.failures.clear(), isSettled: served() },
    {
      name: 'when its backends change',
      act: async (scene) => {
        scene.cloud.failures.set('loadBalancers.setBackends', 'no hands free');
        await scene.label('two', { [EXCLUDED]: 'true' });
      },
      isSettled: both(told(' Warning UpdateLoadBalancerFailed '), backedBy('one')),
    },
    {
      name: 'when it is to be removed',
      act: async (scene) => {
        scene.cloud.failures.set('loadBalancers.remove', 'still in use');
        await scene.removeService('web');
      },
      isSettled: told('failed to delete load balancer'),
    },
    { name: 'and recovers again', act: (scene) => scene.cloud.failures.clear(), isSettled: removed },
  ],
};

const OTHERS: Story = {
  slug: 'others',
  rules: 'ccm/S1, ccm/C16',
  title: 'Services of other implementations',
  steps: [
    nodes('one'),
    {
      name: 'are left alone',
      act: async (scene) => {
        const ports = [{ name: 'web', protocol: 'TCP' as const, port: 80, nodePort: 30_081 }];
        await scene.service('theirs', { loadBalancerClass: 'example.com/theirs', ports });
        await scene.service('web');
      },
      isSettled: served(),
    },
  ],
};

const BACKENDS: Story = {
  slug: 'backends',
  rules: 'ccm/S13, ccm/S20, ccm/B4',
  title: 'nodes that are no backends yet',
  steps: [
    {
      name: 'no nodes at all',
      act: (scene) => scene.service('web'),
      isSettled: both(told(' Warning UnAvailableLoadBalancer '), served()),
    },
    {
      name: 'one node',
      act: (scene) => addNode(scene, 'one'),
      isSettled: both(allInitialized, told('UpdatedLoadBalancer')),
    },
    {
      name: 'one that the cloud does not manage',
      act: async (scene) => {
        scene.cloud.machines.set(scene.named('foreign'), { state: 'unmanaged' });
        await scene.node('foreign');
      },
      isSettled: (_view, scene) => scene.asked(`describe ${scene.named('foreign')}`) >= 1,
    },
    { name: 'one more', act: (scene) => addNode(scene, 'two'), isSettled: hasBackend('two') },
  ],
};

function hasBackend(name: string): Step['isSettled'] {
  return (view, scene) =>
    balancerIn(view, scene, 'web')?.backends.includes(`${scene.named(name)} fake://${scene.named(name)}`) ?? false;
}

const isRouted =
  (name: string, is = 'False RouteCreated'): Step['isSettled'] =>
  (view, scene) =>
    view.nodes[scene.named(name)]?.conditions['NetworkUnavailable']?.startsWith(is) ?? false;
const addRouted = async (scene: Scene, name: string, podCIDR: string): Promise<void> => {
  scene.machine(name);
  await scene.node(name, { spec: { podCIDR, podCIDRs: [podCIDR] } });
};

const ROUTES: Story = {
  slug: 'routes',
  rules: 'ccm/T4, ccm/T5, ccm/T6, ccm/T8, ccm/T9, ccm/B7',
  title: 'routes follow nodes',
  steps: [
    {
      name: 'beside foreign ones',
      act: async (scene) => {
        scene.cloud.routes.push(
          { name: 'theirs', targetNode: 'elsewhere', destinationCIDR: '10.248.0.0/24' },
          { name: 'left', targetNode: 'nobody', destinationCIDR: '10.244.9.0/24' },
          { name: 'hole', targetNode: '', destinationCIDR: '10.244.8.0/24', blackhole: true },
        );
        await addRouted(scene, 'one', '10.244.1.0/24');
        await addNode(scene, 'none');
      },
      isSettled: (view, scene) => isRouted('one')(view, scene) && Object.keys(view.routes).length === 2,
    },
    {
      name: 'not while the cloud fails',
      act: async (scene) => {
        scene.cloud.failures.set('routes.create', 'the table is full');
        await addRouted(scene, 'two', '10.244.2.0/24');
      },
      isSettled: both(isRouted('two', 'True NoRouteCreated'), told(' Warning FailedToCreateRoute ')),
    },
    { name: 'when it works again', act: (scene) => scene.cloud.failures.clear(), isSettled: isRouted('two') },
    {
      name: 'and go with them',
      act: (scene) => scene.removeNode('one'),
      isSettled: (view) => view.routes['10.244.1.0/24 via routes-one'] === undefined,
    },
    {
      name: 'also when somebody else takes one away',
      act: (scene) => {
        const at = scene.cloud.routes.findIndex(({ destinationCIDR }) => destinationCIDR === '10.244.2.0/24');
        scene.cloud.routes.splice(at, 1);
      },
      // Whoever follows the nodes has nothing to follow here.
      isSettled: (view, { program }) =>
        program === 'slipway' || view.routes['10.244.2.0/24 via routes-two'] === true,
    },
  ],
};

export const NETWORK_STORIES: readonly Story[] = [BALANCER, TROUBLE, OTHERS, BACKENDS, ROUTES];

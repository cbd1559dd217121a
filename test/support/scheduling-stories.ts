import { Node, PersistentVolumeClaim, Pod, type PodSpec } from '../../src/api/generated/core-v1.ts';
import { PriorityClass } from '../../src/api/generated/scheduling-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { addNode, type NodeSketch, type PodSketch } from './pretend-cluster.ts';

type Act = (client: KubeClient) => Promise<unknown>;

export interface SchedulingStory {
  readonly nodes?: readonly NodeSketch[];
  /** What is there besides, before any pod. */
  readonly before?: Act;
  /** Made one after the other, each when there is a decision about the one before; or what happens in between. */
  readonly steps: readonly (PodSketch | Act)[];
  /** Pods that may be on any of these nodes: upstream tosses a coin between equal ones. */
  readonly anywhere?: Readonly<Record<string, readonly string[]>>;
  /** The labels of nodes by which such pods are told apart instead of by the node: how many are in each. */
  readonly counted?: { readonly label: string; readonly pods: readonly string[] };
}

const cpu = (amount: string) => ({ requests: { cpu: amount } });
const zone = (name: string) => ({ 'topology.kubernetes.io/zone': name });
const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const container = (more: JsonObject = {}) => ({ name: 'c', image: 'i', ...more });
const hostPort = (port: number, more: JsonObject = {}): Partial<PodSpec> => ({
  containers: [container({ ports: [{ containerPort: port, hostPort: port, ...more }] })],
});
const npu = (count: string): Partial<PodSpec> => ({
  containers: [container({ resources: { limits: { 'acme.example/npu': count } } })],
});
const required = (...matchExpressions: readonly JsonObject[]): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] as never },
    },
  },
});
const term = (app: string, topologyKey: string) => ({ labelSelector: { matchLabels: { app } }, topologyKey });
const near = (app: string, topologyKey = ZONE): Partial<PodSpec> => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(app, topologyKey)] } },
});
const away = (app: string, topologyKey = HOST): Partial<PodSpec> => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(app, topologyKey)] } },
});
const spread = (topologyKey: string, maxSkew = 1): Partial<PodSpec> => ({
  topologySpreadConstraints: [
    { maxSkew, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 's' } } },
  ],
});
const s = { labels: { app: 's' } };

const patchNode =
  (name: string, body: JsonObject): Act =>
  (client) =>
    client.patch(Node, { name }, { type: 'merge', body });
const removePod =
  (name: string): Act =>
  (client) =>
    client.delete(Pod, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
const priority =
  (name: string, value: number, preemptionPolicy: 'Never' | 'PreemptLowerPriority'): Act =>
  (client) =>
    client.create(PriorityClass, { metadata: { name }, value, preemptionPolicy });
const claim =
  (name: string): Act =>
  (client) =>
    client.create(PersistentVolumeClaim, {
      metadata: { namespace: 'default', name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' },
    });
const both =
  (...acts: readonly Act[]): Act =>
  async (client) => {
    for (const act of acts) await act(client);
  };
const volume = (claimName: string): Partial<PodSpec> => ({
  volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
});

/** Until everybody may be tried again. */
const pause: Act = async () => {};

const ZONES: readonly NodeSketch[] = [
  { name: 'a1', labels: zone('a') },
  { name: 'a2', labels: zone('a') },
  { name: 'b1', labels: zone('b') },
];
const small = (name: string, amount: string): NodeSketch => ({
  name,
  allocatable: { cpu: amount, memory: '16Gi', pods: '110' },
});

/** What the scheduler is asked to do. */
export const SCHEDULING_STORIES: Readonly<Record<string, SchedulingStory>> = {
  'no nodes': { nodes: [], steps: [{}] },
  'processors and memory': {
    nodes: [small('n1', '2'), small('n2', '4')],
    steps: [
      { name: 'a', ...cpu('3') },
      { name: 'b', ...cpu('1') },
      { name: 'c', ...cpu('5') },
      { name: 'd', requests: { cpu: '5', memory: '20Gi' } },
      { name: 'e', ...cpu('1500m') },
    ],
  },
  'the emptier node': {
    nodes: [{ name: 'n1' }, { name: 'n2' }, { name: 'n3' }],
    steps: [
      { name: 'x', node: 'n1', ...cpu('2') },
      { name: 'y', node: 'n2', ...cpu('1') },
      { name: 'a', ...cpu('100m') },
      { name: 'b', requests: { cpu: '1', memory: '4Gi' } },
    ],
  },
  'init containers and overhead': {
    nodes: [small('n1', '2')],
    steps: [
      {
        name: 'a',
        spec: {
          initContainers: [container({ name: 'i', resources: { requests: { cpu: '3' } } })],
          containers: [container()],
        },
      },
      {
        name: 'b',
        spec: {
          initContainers: [
            container({ name: 'side', restartPolicy: 'Always', resources: { requests: { cpu: '1500m' } } }),
          ],
          containers: [container({ resources: { requests: { cpu: '600m' } } })],
        },
      },
      {
        name: 'c',
        spec: {
          initContainers: [container({ name: 'i', resources: { requests: { cpu: '2' } } })],
          containers: [container({ resources: { requests: { cpu: '1' } } })],
        },
      },
    ],
  },
  'places for pods': {
    nodes: [{ name: 'n1', allocatable: { cpu: '4', memory: '16Gi', pods: '1' } }],
    steps: [{ name: 'a' }, { name: 'b' }],
  },
  'extended resources': {
    nodes: [
      { name: 'n1', allocatable: { cpu: '4', memory: '16Gi', pods: '110', 'acme.example/npu': '2' } },
      { name: 'n2' },
    ],
    steps: [{ name: 'a', spec: npu('2') }, { name: 'b', spec: npu('1') }, removePod('a')],
  },
  taints: {
    nodes: [
      { name: 'n1', taints: [{ key: 'cp', effect: 'NoSchedule' }] },
      { name: 'n2', taints: [{ key: 'old', value: 'yes', effect: 'PreferNoSchedule' }] },
      { name: 'n3', taints: [{ key: 'sick', value: 'yes', effect: 'NoExecute' }] },
    ],
    steps: [
      { name: 'a' },
      { name: 'b', spec: { tolerations: [{ key: 'cp', operator: 'Exists' }] } },
      { name: 'c', spec: { tolerations: [{ key: 'sick', value: 'yes', effect: 'NoExecute' }] } },
      { name: 'd', spec: { nodeSelector: { [HOST]: 'n3' }, tolerations: [{ key: 'sick', value: 'no' }] } },
      { name: 'e', spec: { nodeSelector: { [HOST]: 'n3' }, tolerations: [{ operator: 'Exists' }] } },
    ],
  },
  'cordoned nodes': {
    nodes: [{ name: 'n1', isUnschedulable: true }, { name: 'n2' }],
    steps: [
      { name: 'a' },
      patchNode('n2', { spec: { unschedulable: true } }),
      { name: 'b' },
      { name: 'c', spec: { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] } },
      patchNode('n1', { spec: { unschedulable: null } }),
    ],
    anywhere: { c: ['n1', 'n2'] },
  },
  'selectors and required affinity': {
    nodes: [
      { name: 'n1', labels: { disk: 'ssd', size: '3' } },
      { name: 'n2', labels: { disk: 'hdd', size: '9' } },
      { name: 'n3' },
    ],
    steps: [
      { name: 'a', spec: { nodeSelector: { disk: 'ssd' } } },
      { name: 'b', spec: { nodeSelector: { disk: 'tape' } } },
      { name: 'c', spec: required({ key: 'disk', operator: 'In', values: ['hdd', 'tape'] }) },
      { name: 'd', spec: required({ key: 'disk', operator: 'DoesNotExist' }) },
      { name: 'e', spec: required({ key: 'size', operator: 'Gt', values: ['5'] }) },
      { name: 'f', spec: required({ key: 'size', operator: 'Lt', values: ['2'] }) },
      {
        name: 'g',
        spec: required({ key: 'disk', operator: 'Exists' }, { key: 'disk', operator: 'NotIn', values: ['hdd'] }),
      },
      patchNode('n3', { metadata: { labels: { disk: 'tape' } } }),
    ],
  },
  'a node by its name': {
    nodes: [{ name: 'n1' }, { name: 'n2', taints: [{ key: 'cp', effect: 'NoSchedule' }] }],
    steps: ['n1', 'n2', 'n9'].map((name) => ({
      name: `to-${name}`,
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
            },
          },
        },
      },
    })),
  },
  'preferred affinity': {
    nodes: [{ name: 'n1', labels: { disk: 'ssd' } }, { name: 'n2', labels: { arch: 'x' } }, { name: 'n3' }],
    steps: [
      {
        name: 'a',
        spec: {
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 10, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } },
                { weight: 90, preference: { matchExpressions: [{ key: 'arch', operator: 'In', values: ['x'] }] } },
              ],
            },
          },
        },
      },
    ],
  },
  'near other pods': {
    nodes: ZONES,
    steps: [
      { name: 'lonely', spec: near('db') },
      { name: 'db', labels: { app: 'db' }, spec: { nodeSelector: { [HOST]: 'b1' } } },
      { name: 'web', spec: near('db') },
      { name: 'self', labels: { app: 'self' }, spec: near('self', HOST) },
      { name: 'self-2', labels: { app: 'self' }, spec: near('self', HOST) },
      { name: 'nowhere', spec: near('db', 'example.com/rack') },
    ],
    anywhere: { self: ['a1', 'a2', 'b1'], 'self-2': ['a1', 'a2', 'b1'] },
  },
  'away from other pods': {
    nodes: [{ name: 'n1' }, { name: 'n2' }],
    steps: [
      { name: 'a', labels: { app: 'x' }, spec: away('x') },
      { name: 'b', labels: { app: 'x' }, spec: away('x') },
      { name: 'c', labels: { app: 'x' }, spec: away('x') },
      { name: 'd', labels: { app: 'x' } },
      removePod('b'),
    ],
    anywhere: { a: ['n1', 'n2'], c: ['n1', 'n2'], d: ['n1', 'n2'] },
    counted: { label: HOST, pods: ['a', 'c'] },
  },
  'preferably near or away': {
    nodes: ZONES,
    steps: [
      { name: 'db', labels: { app: 'db' }, node: 'b1' },
      {
        name: 'near',
        spec: {
          affinity: {
            podAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 100, podAffinityTerm: term('db', ZONE) },
              ],
            },
          },
        },
      },
      {
        name: 'away',
        spec: {
          affinity: {
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 100, podAffinityTerm: term('db', ZONE) },
              ],
            },
          },
        },
      },
    ],
    anywhere: { away: ['a1', 'a2'] },
  },
  'spread over zones': {
    nodes: [...ZONES, { name: 'plain' }],
    steps: [
      { name: 'p1', ...s, spec: spread(ZONE) },
      { name: 'p2', ...s, spec: spread(ZONE) },
      { name: 'p3', ...s, spec: spread(ZONE) },
      { name: 'p4', ...s, spec: spread(ZONE) },
      patchNode('b1', { spec: { unschedulable: true } }),
      { name: 'p5', ...s, spec: spread(ZONE) },
      { name: 'p6', ...s, spec: spread(ZONE) },
      { name: 'rack', ...s, spec: spread('example.com/rack') },
    ],
    anywhere: Object.fromEntries(['p1', 'p2', 'p3', 'p4', 'p5'].map((name) => [name, ['a1', 'a2', 'b1']])),
    counted: { label: ZONE, pods: ['p1', 'p2', 'p3', 'p4', 'p5'] },
  },
  'ports of nodes': {
    nodes: [{ name: 'n1' }, { name: 'n2' }],
    steps: [
      { name: 'a', spec: hostPort(80) },
      { name: 'b', spec: hostPort(80) },
      { name: 'c', spec: hostPort(80) },
      { name: 'd', spec: hostPort(80, { protocol: 'UDP' }) },
      { name: 'e', spec: hostPort(80, { hostIP: '127.0.0.1' }) },
    ],
    anywhere: { a: ['n1', 'n2'], b: ['n1', 'n2'], d: ['n1', 'n2'] },
    counted: { label: HOST, pods: ['a', 'b'] },
  },
  gates: {
    steps: [
      { name: 'a', spec: { schedulingGates: [{ name: 'example.com/wait' }] } },
      (client) =>
        client.patch(
          Pod,
          { namespace: 'default', name: 'a' },
          { type: 'json', body: [{ op: 'remove', path: '/spec/schedulingGates/0' }] },
        ),
    ],
  },
  'who comes first': {
    nodes: [],
    before: both(priority('low', 1, 'Never'), priority('high', 1000, 'Never')),
    steps: [
      { name: 'a', ...cpu('1'), spec: { priorityClassName: 'low' } },
      { name: 'b', ...cpu('1'), spec: { priorityClassName: 'high' } },
      pause,
      (client) => addNode(client, small('n1', '1')),
    ],
  },
  'more important pods': {
    nodes: [small('n1', '1')],
    before: both(priority('low', 1, 'Never'), priority('high', 1000, 'PreemptLowerPriority')),
    steps: [
      { name: 'a', ...cpu('1'), spec: { priorityClassName: 'low' } },
      { name: 'b', ...cpu('1'), spec: { priorityClassName: 'high' } },
    ],
  },
  'several reasons': {
    nodes: [
      { name: 'n1', taints: [{ key: 'cp', effect: 'NoSchedule' }] },
      { name: 'n2', isUnschedulable: true },
      { name: 'n3', labels: { disk: 'ssd' } },
      { name: 'n4', allocatable: { cpu: '1', memory: '1Gi', pods: '110' }, labels: { disk: 'ssd' } },
      { name: 'n5', labels: { disk: 'hdd' } },
    ],
    steps: [
      { name: 'x', node: 'n3', ...cpu('3') },
      { name: 'a', requests: { cpu: '2', memory: '2Gi' }, spec: { nodeSelector: { disk: 'ssd' } } },
    ],
  },
  'what becomes possible': {
    nodes: [{ name: 'n1', taints: [{ key: 'cp', effect: 'NoSchedule' }] }, small('n2', '1')],
    steps: [
      { name: 'x', ...cpu('1') },
      { name: 'a', ...cpu('1') },
      removePod('x'),
      { name: 'b', ...cpu('1') },
      patchNode('n1', { spec: { taints: null } }),
    ],
  },
  'missing volumes': {
    before: claim('unbound'),
    steps: [{ name: 'a', spec: volume('absent') }, { name: 'b', spec: volume('unbound') }, claim('absent')],
  },
};

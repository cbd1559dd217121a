import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factsLike, type NodeSketch, type PodSketch, viewLike } from '../../../../test/support/pretend-cluster.ts';
import type { TopologySpreadConstraint } from '../../../api/generated/core-v1-types.ts';
import { spreadFilter, spreadScore } from './spread.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';

const constraint = (more: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint => ({
  maxSkew: 1,
  topologyKey: ZONE,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { app: 'web' } },
  ...more,
});
const inZone = (name: string, zone: string, more: NodeSketch = {}): NodeSketch => ({
  name,
  labels: { [ZONE]: zone },
  ...more,
});
const NODES = [inZone('a1', 'a'), inZone('a2', 'a'), inZone('b1', 'b'), inZone('c1', 'c'), { name: 'x1' }];
const web = (name: string, node: string, more: PodSketch = {}): PodSketch => ({
  name,
  node,
  labels: { app: 'web' },
  ...more,
});
const asking = (...topologySpreadConstraints: readonly TopologySpreadConstraint[]): PodSketch => ({
  labels: { app: 'web' },
  spec: { topologySpreadConstraints },
});

interface Case {
  readonly what: string;
  readonly pod: PodSketch;
  readonly pods?: readonly PodSketch[];
  readonly nodes?: readonly NodeSketch[];
  /** Nodes it may go to. */
  readonly free: readonly string[];
}

const TWO_IN_A = [web('1', 'a1'), web('2', 'a2')];

const CASES: readonly Case[] = [
  { what: 'nodes without the label are out', pod: asking(constraint()), free: ['a1', 'a2', 'b1', 'c1'] },
  { what: 'the fullest part is out', pod: asking(constraint()), pods: [web('1', 'a1')], free: ['b1', 'c1'] },
  {
    what: 'the skew may be larger',
    pod: asking(constraint({ maxSkew: 2 })),
    pods: [web('1', 'a1')],
    free: ['a1', 'a2', 'b1', 'c1'],
  },
  {
    what: 'parts that the selector of the pod excludes do not count',
    pod: { ...asking(constraint()), spec: { ...asking(constraint()).spec, nodeSelector: { [ZONE]: 'a' } } },
    pods: TWO_IN_A,
    free: ['a1', 'a2', 'b1', 'c1'],
  },
  {
    what: 'unless they shall',
    pod: {
      ...asking(),
      spec: {
        topologySpreadConstraints: [constraint({ nodeAffinityPolicy: 'Ignore' })],
        nodeSelector: { [ZONE]: 'a' },
      },
    },
    pods: TWO_IN_A,
    free: ['b1', 'c1'],
  },
  {
    what: 'tainted nodes count',
    pod: asking(constraint()),
    pods: [web('1', 'a1'), web('2', 'b1')],
    nodes: [
      inZone('a1', 'a'),
      inZone('b1', 'b'),
      inZone('c1', 'c', { taints: [{ key: 't', effect: 'NoSchedule' }] }),
    ],
    free: ['c1'],
  },
  {
    what: 'unless they shall not',
    pod: asking(constraint({ nodeTaintsPolicy: 'Honor' })),
    pods: [web('1', 'a1'), web('2', 'b1')],
    nodes: [
      inZone('a1', 'a'),
      inZone('b1', 'b'),
      inZone('c1', 'c', { taints: [{ key: 't', effect: 'NoSchedule' }] }),
    ],
    free: ['a1', 'b1', 'c1'],
  },
  {
    what: 'too few parts count as if one were empty',
    pod: asking(constraint({ minDomains: 4 })),
    pods: [web('1', 'a1'), web('2', 'b1'), web('3', 'c1')],
    free: [],
  },
  {
    what: 'pods on their way out do not count',
    pod: asking(constraint()),
    pods: [web('1', 'a1', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
    free: ['a1', 'a2', 'b1', 'c1'],
  },
  {
    what: 'pods of other namespaces do not count',
    pod: asking(constraint()),
    pods: [web('1', 'a1', { namespace: 'other' })],
    free: ['a1', 'a2', 'b1', 'c1'],
  },
  {
    what: 'only pods of the same version count',
    pod: { ...asking(constraint({ matchLabelKeys: ['hash'] })), labels: { app: 'web', hash: '2' } },
    pods: [
      web('1', 'a1', { labels: { app: 'web', hash: '1' } }),
      web('2', 'b1', { labels: { app: 'web', hash: '2' } }),
    ],
    free: ['a1', 'a2', 'c1'],
  },
  {
    what: 'a selector that selects all counts none',
    pod: asking(constraint({ labelSelector: {} })),
    pods: TWO_IN_A,
    free: ['a1', 'a2', 'b1', 'c1'],
  },
  {
    what: 'a pod that is not one of those does not count itself',
    pod: { ...asking(constraint()), labels: {} },
    pods: [web('1', 'a1')],
    free: ['a1', 'a2', 'b1', 'c1'],
  },
  {
    what: 'several constraints hold together',
    pod: asking(constraint(), constraint({ topologyKey: HOST })),
    pods: [web('1', 'a1'), web('2', 'b1'), web('3', 'c1')],
    free: ['a2'],
  },
];

const UNEVEN = "node(s) didn't match pod topology spread constraints";

describe('spread over a topology', () => {
  for (const { what, pod, pods = [], nodes = NODES, free } of CASES) {
    it(`lab/K2: ${what}`, () => {
      const view = viewLike({ nodes, pods });
      const reasonsOf = spreadFilter(factsLike(pod), view);
      assert.ok(reasonsOf);
      const found = view.candidates.filter((node) => reasonsOf(node).length === 0).map(({ name }) => name);
      assert.deepEqual(found, free);
    });
  }

  it('lab/K2: says what is wrong with a node', () => {
    const view = viewLike({ nodes: NODES, pods: [web('1', 'a1')] });
    const reasonsOf = spreadFilter(factsLike(asking(constraint())), view);
    const reasons = view.candidates.map((node) => reasonsOf?.(node));
    assert.deepEqual(reasons, [[UNEVEN], [UNEVEN], [], [], [`${UNEVEN} (missing required label)`]]);
  });

  it('lab/K2: does not ask pods that say nothing, or only what they would like', () => {
    const soft = asking(constraint({ whenUnsatisfiable: 'ScheduleAnyway' }));
    for (const pod of [{}, soft]) assert.equal(spreadFilter(factsLike(pod), viewLike()), undefined);
  });
});

describe('crowds', () => {
  const owned = (uid: string, kind = 'ReplicaSet') => ({
    metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'rs', uid, controller: true }] },
  });
  const crowdsOf = (pod: PodSketch, pods: readonly PodSketch[]) => {
    const view = viewLike({ nodes: NODES, pods });
    const crowdOf = spreadScore(factsLike(pod), view, view.candidates);
    return crowdOf === undefined ? undefined : view.candidates.map(crowdOf);
  };

  it('lab/K6: of the pods of a set make its next pod go to another host and another zone', () => {
    const pods = [1, 2, 3].map((at) => web(`${at}`, 'a1', owned('u1')));
    // Hosts: 5 of them, so a weight of ln 7 for each pod, and 3 - 1. Zones: 3 and none, so ln 6, and 5 - 1.
    const host = 3 * Math.log(7) + 2;
    const zone = 3 * Math.log(6) + 4;
    const want = [Math.round(host + zone), Math.round(2 + zone), 6, 6, 2];
    assert.deepEqual(crowdsOf(owned('u1'), [...pods, web('4', 'b1', owned('u2'))]), want);
  });

  it('lab/K6: are no matter for pods on their own, nor for those of other owners', () => {
    assert.equal(crowdsOf({}, []), undefined);
    assert.equal(crowdsOf(owned('u1', 'DaemonSet'), []), undefined);
  });

  it('lab/K6: are counted as the pod says where it says something, and only where nodes have the label', () => {
    const soft = asking(constraint({ whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 }));
    const crowd = Math.round(2 * Math.log(5) + 2);
    assert.deepEqual(crowdsOf(soft, TWO_IN_A), [crowd, crowd, 2, 2, undefined]);
    assert.equal(crowdsOf(asking(constraint()), TWO_IN_A), undefined);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  daemonPodOn,
  daemonSet,
  HASH,
  nodeOf,
  now,
  rolling,
  type SetDetails,
  servingPod,
} from '../../../../test/support/lab-daemons.ts';
import type { Node, Pod } from '../../../api/generated/core-v1-types.ts';
import { podsByNode } from './daemon-facts.ts';
import { rollingPlan } from './rolling-update.ts';
import { allowsSurge, rolloutBounds } from './rollout-bounds.ts';

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `n${at + 1}`);
const nodes = (count: number): readonly Node[] => names(count).map((name) => nodeOf(name));
const OLD = 'oldhash';

interface Case {
  readonly name: string;
  readonly set: SetDetails;
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly create?: readonly string[];
  readonly remove?: readonly string[];
}

const oldServing = (...on: readonly string[]) => on.map((node) => servingPod(node, OLD));
const oldBroken = (...on: readonly string[]) => on.map((node) => daemonPodOn(node, { hash: OLD }));
const tainted = nodeOf('n2', { taints: [{ key: 'x', effect: 'NoSchedule' }] });

const CASES: readonly Case[] = [
  {
    name: 'one of five goes by default',
    set: {},
    nodes: nodes(5),
    pods: oldServing(...names(5)),
    remove: ['pod-n1'],
  },
  {
    name: 'two of five go at once when two may be unavailable',
    set: { updateStrategy: rolling(2) },
    nodes: nodes(5),
    pods: oldServing(...names(5)),
    remove: ['pod-n1', 'pod-n2'],
  },
  {
    name: 'nothing goes while a new pod is not available',
    set: { updateStrategy: rolling(1) },
    nodes: nodes(3),
    pods: [...oldServing('n2', 'n3'), daemonPodOn('n1')],
  },
  {
    name: 'nothing goes while a pod is missing',
    set: { updateStrategy: rolling(1) },
    nodes: nodes(3),
    pods: oldServing('n2', 'n3'),
  },
  {
    name: 'nothing goes while a pod is leaving',
    set: { updateStrategy: rolling(1) },
    nodes: nodes(2),
    pods: [daemonPodOn('n1', { hash: OLD, isLeaving: true, readyFor: 60 }), ...oldServing('n2')],
  },
  {
    name: 'all old pods go at once when none is available',
    set: { updateStrategy: rolling(3) },
    nodes: nodes(5),
    pods: oldBroken(...names(5)),
    remove: names(5).map((name) => `pod-${name}`),
  },
  {
    name: 'old pods that are not available go first, and count',
    set: { updateStrategy: rolling(2) },
    nodes: nodes(5),
    pods: [...oldServing('n1', 'n2', 'n3', 'n4'), ...oldBroken('n5')],
    remove: ['pod-n5', 'pod-n1'],
  },
  {
    name: 'those that serve are not touched when others are down already',
    set: { updateStrategy: rolling(2) },
    nodes: nodes(4),
    pods: [...oldServing('n1', 'n2'), ...oldBroken('n3', 'n4')],
    remove: ['pod-n3', 'pod-n4'],
  },
  {
    name: 'a pod that is ready for too short a time is not available',
    set: { updateStrategy: rolling(1), minReadySeconds: 90 },
    nodes: nodes(2),
    pods: oldServing('n1', 'n2'),
    remove: ['pod-n1', 'pod-n2'],
  },
  {
    name: 'new pods stay',
    set: { updateStrategy: rolling('100%') },
    nodes: nodes(2),
    pods: [servingPod('n1'), servingPod('n2')],
  },
  {
    name: 'a node with two old pods waits until it is in order, and counts',
    set: { updateStrategy: rolling(1) },
    nodes: nodes(2),
    pods: [...oldServing('n1', 'n2'), daemonPodOn('n1', { name: 'twin', hash: OLD, readyFor: 60 })],
  },
  {
    name: 'a node with an old and a new pod counts',
    set: { updateStrategy: rolling(1) },
    nodes: nodes(2),
    pods: [...oldServing('n1', 'n2'), daemonPodOn('n1', { name: 'twin', readyFor: 60 })],
  },
  {
    name: 'with surge, one node gets a second pod',
    set: { updateStrategy: rolling(0, 1) },
    nodes: nodes(3),
    pods: oldServing(...names(3)),
    create: ['n1'],
  },
  {
    name: 'with surge, half of the nodes get a second pod',
    set: { updateStrategy: rolling(0, '50%') },
    nodes: nodes(3),
    pods: oldServing(...names(3)),
    create: ['n1', 'n2'],
  },
  {
    name: 'with surge, no more nodes get one while a new pod is not available',
    set: { updateStrategy: rolling(0, 1) },
    nodes: nodes(2),
    pods: [...oldServing('n1', 'n2'), daemonPodOn('n1', { name: 'new' })],
  },
  {
    name: 'with surge, an old pod goes when the new one is available, and the next node has its turn',
    set: { updateStrategy: rolling(0, 1) },
    nodes: nodes(2),
    pods: [...oldServing('n1', 'n2'), daemonPodOn('n1', { name: 'new', readyFor: 60 })],
    create: ['n2'],
    remove: ['pod-n1'],
  },
  {
    name: 'with surge, old pods that are not available get a new one beside them at once',
    set: { updateStrategy: rolling(0, 1) },
    nodes: nodes(4),
    pods: [...oldBroken('n1', 'n2', 'n3'), ...oldServing('n4')],
    create: ['n1', 'n2', 'n3', 'n4'],
  },
  {
    name: 'with surge, a crowded node counts',
    set: { updateStrategy: rolling(0, 1) },
    nodes: nodes(2),
    pods: [...oldServing('n1', 'n2'), daemonPodOn('n1', { name: 'twin', hash: OLD, readyFor: 60 })],
  },
  {
    name: 'with surge, a pod on a node that should have none stays until another one serves',
    set: { updateStrategy: rolling(0, 1) },
    nodes: [nodeOf('n1'), tainted],
    pods: [...oldServing('n2'), daemonPodOn('n1')],
  },
  {
    name: 'with surge, a pod on a node that should have none goes when another one serves',
    set: { updateStrategy: rolling(0, 1) },
    nodes: [nodeOf('n1'), tainted],
    pods: [...oldServing('n2'), servingPod('n1')],
    remove: ['pod-n2'],
  },
  {
    name: 'with surge, a pod that serves nobody on a node that should have none goes at once',
    set: { updateStrategy: rolling(0, 1) },
    nodes: [nodeOf('n1'), tainted],
    pods: [...oldBroken('n2'), daemonPodOn('n1')],
    remove: ['pod-n2'],
  },
];

describe('a rolling update of daemon pods', () => {
  for (const { name, set, nodes: given, pods, create = [], remove = [] } of CASES) {
    it(`lab/W24: ${name}`, () => {
      const facts = { set: daemonSet(set), hash: HASH, nodes: given, podsByNode: podsByNode(pods), now };
      const plan = rollingPlan(facts);
      assert.deepEqual(plan.create, create);
      assert.deepEqual(
        plan.remove.map(({ pod }) => pod.metadata.name),
        remove,
      );
    });
  }
});

describe('the bounds of a rolling update', () => {
  // The rows of upstream's TestGetUnavailableNumbers that have nodes.
  const TABLE: readonly (readonly [set: SetDetails, desired: number, maxUnavailable: number, maxSurge: number])[] =
    [
      [{}, 5, 1, 0],
      [{ updateStrategy: { type: 'RollingUpdate' } }, 5, 1, 0],
      [{ updateStrategy: rolling(1) }, 2, 1, 0],
      [{ updateStrategy: rolling(0) }, 2, 1, 0],
      [{ updateStrategy: rolling('50%') }, 2, 1, 0],
      [{ updateStrategy: rolling('50%') }, 3, 2, 0],
      [{ updateStrategy: rolling('1%') }, 5, 1, 0],
      [{ updateStrategy: rolling('0%') }, 5, 1, 0],
      [{ updateStrategy: rolling(0, '50%') }, 2, 0, 1],
      [{ updateStrategy: rolling(0, '100%') }, 2, 0, 2],
      [{ updateStrategy: { type: 'OnDelete' } }, 5, 0, 0],
    ];
  for (const [set, desired, maxUnavailable, maxSurge] of TABLE) {
    const what = JSON.stringify(set.updateStrategy ?? 'the default');
    it(`lab/W24: of ${what} on ${desired} nodes are ${maxUnavailable} missing and ${maxSurge} more`, () => {
      assert.deepEqual(rolloutBounds(daemonSet(set), desired), { maxUnavailable, maxSurge });
      assert.equal(allowsSurge(daemonSet(set)), maxSurge > 0);
    });
  }

  it('lab/W24: refuse what is no number', () => {
    assert.throws(() => rolloutBounds(daemonSet({ updateStrategy: rolling('many') }), 5), /percentage/);
  });
});

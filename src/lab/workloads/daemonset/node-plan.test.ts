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
import { nodePlan } from './node-plan.ts';

interface Case {
  readonly name: string;
  readonly set?: SetDetails;
  readonly nodes?: readonly Node[];
  readonly pods?: readonly Pod[];
  readonly heldBack?: readonly string[];
  readonly create?: readonly string[];
  /** `pod why`. */
  readonly remove?: readonly string[];
  readonly waiting?: readonly string[];
}

const n1 = nodeOf('n1');
const noExecute = nodeOf('n1', { taints: [{ key: 'x', effect: 'NoExecute' }] });
const noSchedule = nodeOf('n1', { taints: [{ key: 'x', effect: 'NoSchedule' }] });
const surge = { updateStrategy: rolling(0, 1) };

const CASES: readonly Case[] = [
  { name: 'lab/W19: no nodes: nothing', nodes: [] },
  { name: 'lab/W19: a node without pod gets one', create: ['n1'] },
  { name: 'lab/W19: a node with a pod keeps it', pods: [daemonPodOn('n1')] },
  {
    name: 'lab/W19: a node that waits for its pod gets no second one',
    pods: [daemonPodOn('n1', { isUnplaced: true })],
  },
  {
    name: 'lab/W19: a node whose pod is leaving gets the next one later',
    pods: [daemonPodOn('n1', { isLeaving: true })],
  },
  {
    name: 'lab/W19: a pod that has ended and is leaving does not count',
    pods: [daemonPodOn('n1', { isLeaving: true, phase: 'Failed' })],
    create: ['n1'],
  },
  { name: 'lab/W19: a node tainted NoSchedule gets none', nodes: [noSchedule] },
  { name: 'lab/W19: a node tainted NoSchedule keeps its pod', nodes: [noSchedule], pods: [daemonPodOn('n1')] },
  {
    name: 'lab/W19: a node tainted NoExecute loses its pods',
    nodes: [noExecute],
    pods: [daemonPodOn('n1'), daemonPodOn('n1', { name: 'b', isLeaving: true })],
    remove: ['pod-n1 misplaced'],
  },
  {
    name: 'lab/W23: a failed pod goes',
    pods: [daemonPodOn('n1', { phase: 'Failed' })],
    remove: ['pod-n1 failed'],
  },
  {
    name: 'lab/W23: a failed pod stays while the node is held back',
    pods: [daemonPodOn('n1', { phase: 'Failed' })],
    heldBack: ['n1'],
    waiting: ['n1'],
  },
  {
    name: 'lab/W23: a node that is held back and has no failed pod is not waited for',
    pods: [daemonPodOn('n1')],
    heldBack: ['n1'],
  },
  {
    name: 'lab/W23: a succeeded pod goes, held back or not',
    pods: [daemonPodOn('n1', { phase: 'Succeeded' })],
    heldBack: ['n1'],
    remove: ['pod-n1 succeeded'],
  },
  {
    name: 'lab/W23: of several pods the oldest stays',
    pods: [
      daemonPodOn('n1', { name: 'young', age: 1 }),
      daemonPodOn('n1', { name: 'old', age: 9 }),
      daemonPodOn('n1', { name: 'middle', age: 5 }),
    ],
    remove: ['middle surplus', 'young surplus'],
  },
  {
    name: 'lab/W23: of several pods one that has a node stays',
    pods: [
      daemonPodOn('n1', { name: 'old', age: 9, isUnplaced: true }),
      daemonPodOn('n1', { name: 'young', age: 1 }),
    ],
    remove: ['old surplus'],
  },
  {
    name: 'lab/W23: of pods of the same age the first by name stays',
    pods: [daemonPodOn('n1', { name: 'b' }), daemonPodOn('n1', { name: 'a' })],
    remove: ['b surplus'],
  },
  {
    name: 'lab/W19: a pod that waits for a node that is gone goes',
    nodes: [],
    pods: [
      daemonPodOn('n9', { isUnplaced: true }),
      daemonPodOn('n8', { isUnplaced: true, isLeaving: true }),
      daemonPodOn('n7'),
    ],
    remove: ['pod-n9 misplaced'],
  },
  { name: 'lab/W24: with surge, a node with a pod keeps it', set: surge, pods: [daemonPodOn('n1')] },
  {
    name: 'lab/W24: with surge, a node whose pod is leaving gets the next one at once',
    set: surge,
    pods: [daemonPodOn('n1', { isLeaving: true })],
    create: ['n1'],
  },
  {
    name: 'lab/W24: with surge, an old pod that is ready stays beside a new one that is not',
    set: surge,
    pods: [
      daemonPodOn('n1', { name: 'old', hash: 'x', readyFor: 60, age: 9 }),
      daemonPodOn('n1', { name: 'new' }),
    ],
  },
  {
    name: 'lab/W24: with surge, an old pod that is not ready makes place',
    set: surge,
    pods: [daemonPodOn('n1', { name: 'old', hash: 'x', age: 9 }), daemonPodOn('n1', { name: 'new' })],
    remove: ['old surplus'],
  },
  {
    name: 'lab/W24: with surge, an old pod makes place for one that is available',
    set: surge,
    pods: [
      daemonPodOn('n1', { name: 'old', hash: 'x', readyFor: 60, age: 9 }),
      daemonPodOn('n1', { name: 'new', readyFor: 60 }),
    ],
    remove: ['old surplus'],
  },
  {
    name: 'lab/W24: with surge, a new pod is available only after minReadySeconds',
    set: { ...surge, minReadySeconds: 50 },
    pods: [
      daemonPodOn('n1', { name: 'old', hash: 'x', readyFor: 60, age: 9 }),
      daemonPodOn('n1', { name: 'new', readyFor: 10 }),
    ],
  },
  {
    name: 'lab/W24: with surge, a third pod is one too many',
    set: surge,
    pods: [
      daemonPodOn('n1', { name: 'old', hash: 'x', readyFor: 60, age: 9 }),
      daemonPodOn('n1', { name: 'older', hash: 'y', readyFor: 60, age: 10 }),
      daemonPodOn('n1', { name: 'new' }),
    ],
    remove: ['old surplus'],
  },
];

describe('what a daemon set does about its nodes', () => {
  for (const { name, set = {}, nodes = [n1], pods = [], heldBack = [], ...want } of CASES) {
    it(name, () => {
      const facts = { set: daemonSet(set), hash: HASH, nodes, podsByNode: podsByNode(pods), now };
      const { create, remove, waiting } = nodePlan(facts, (node) => heldBack.includes(node));
      assert.deepEqual(
        { create, remove: remove.map(({ pod, why }) => `${pod.metadata.name} ${why}`), waiting },
        { create: want.create ?? [], remove: want.remove ?? [], waiting: want.waiting ?? [] },
      );
    });
  }

  it('lab/W19: every node is looked at for itself', () => {
    const nodes = ['n1', 'n2', 'n3'].map((name) => nodeOf(name));
    const pods = [servingPod('n2')];
    const facts = { set: daemonSet(), hash: HASH, nodes, podsByNode: podsByNode(pods), now };
    assert.deepEqual(nodePlan(facts, () => false).create, ['n1', 'n3']);
  });

  it('lab/W21: a pod that belongs to no node is left alone', () => {
    const stray = { ...daemonPodOn('n1'), spec: { containers: [] } };
    const facts = { set: daemonSet(), hash: HASH, nodes: [n1], podsByNode: podsByNode([stray]), now };
    assert.deepEqual(
      nodePlan(facts, () => false),
      { create: ['n1'], remove: [], waiting: [] },
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factsLike, type PodSketch, type ViewSketch, viewLike } from '../../../../test/support/pretend-cluster.ts';
import { decide } from './decision.ts';
import { totalScores } from './scores.ts';

const scoresOf = (pod: PodSketch, sketch: ViewSketch) => {
  const view = viewLike(sketch);
  return totalScores(factsLike(pod), view, view.candidates);
};
const chosen = (pod: PodSketch, sketch: ViewSketch) => {
  const decision = decide(factsLike(pod), viewLike(sketch));
  assert.ok(decision.type === 'placed');
  return decision.node;
};

const EMPTY = [{ name: 'a' }, { name: 'b' }];
const busy = (node: string, requests: Record<string, string> = { cpu: '2', memory: '8Gi' }): PodSketch => ({
  name: `busy-${node}`,
  node,
  requests,
});
/** What every node gets from taints that are not there. */
const UNTAINTED = 300;

describe('scores', () => {
  it('lab/K6: prefer the node with more left, half for processors and half for memory', () => {
    const pod = { requests: { cpu: '1', memory: '4Gi' } };
    const half = { name: 'busy', node: 'b', requests: { cpu: '2', memory: '4Gi' } };
    // a: 75 % and 75 %. b: 25 % and 50 %, rounded down.
    assert.deepEqual(scoresOf(pod, { nodes: EMPTY, pods: [half] }), [UNTAINTED + 75, UNTAINTED + 37]);
    assert.equal(chosen(pod, { nodes: EMPTY, pods: [busy('a')] }), 'b');
  });

  it('lab/K6: count pods that ask for nothing as 100m and 200 MiB', () => {
    const pods = Array.from({ length: 4 }, (_, at) => ({ name: `o${at}`, node: 'a', requests: {} }));
    // a: 3.5 of 4 processors and 15.02 of 16 GiB left after this one; b: 3.9 and 15.8.
    assert.deepEqual(scoresOf({}, { nodes: EMPTY, pods }), [UNTAINTED + 90, UNTAINTED + 97]);
  });

  it('lab/K6: give nothing for resources that a node does not have, or has given away twice', () => {
    const nodes = [
      { name: 'a', allocatable: { cpu: '1' } },
      { name: 'b', allocatable: {} },
    ];
    assert.deepEqual(scoresOf({ requests: { cpu: '2' } }, { nodes }), [UNTAINTED, UNTAINTED]);
  });

  it('lab/K6: avoid taints that ask for it, by how many of them there are', () => {
    const soft = (...keys: readonly string[]) => keys.map((key) => ({ key, effect: 'PreferNoSchedule' }) as const);
    const nodes = [{ name: 'a', taints: soft('x', 'y') }, { name: 'b', taints: soft('x') }, { name: 'c' }];
    const pod = { requests: { cpu: '4', memory: '16Gi' } };
    assert.deepEqual(scoresOf(pod, { nodes }), [0, 150, 300]);
    const tolerant = { ...pod, spec: { tolerations: [{ key: 'x', operator: 'Exists' }] } } as const;
    assert.deepEqual(scoresOf(tolerant, { nodes }), [0, 300, 300]);
  });

  it('lab/K6: prefer nodes that the pod prefers, in proportion to its weights', () => {
    const preference = (key: string) => ({ matchExpressions: [{ key, operator: 'Exists' }] }) as const;
    const preferredDuringSchedulingIgnoredDuringExecution = [
      { weight: 10, preference: preference('ssd') },
      { weight: 30, preference: preference('gpu') },
      { weight: 50, preference: {} },
    ];
    const pod = {
      requests: { cpu: '4', memory: '16Gi' },
      spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } } },
    };
    const nodes = [
      { name: 'a', labels: { ssd: '', gpu: '' } },
      { name: 'b', labels: { ssd: '' } },
      { name: 'c', labels: {} },
    ];
    const full = (name: string) => ({ ...nodes.find((node) => node.name === name), allocatable: { pods: '1' } });
    const scores = scoresOf(pod, { nodes: ['a', 'b', 'c'].map(full) });
    assert.deepEqual(scores, [UNTAINTED + 200, UNTAINTED + 50, UNTAINTED]);
  });

  it('lab/K6: weigh wishes between pods over the whole range', () => {
    const term = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' };
    const wishes = [{ weight: 1, podAffinityTerm: term }];
    const affinity = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: wishes } };
    const pods = [
      { name: 'w1', node: 'a', labels: { app: 'web' } },
      { name: 'w2', node: 'a', labels: { app: 'web' } },
      { name: 'w3', node: 'b', labels: { app: 'web' } },
    ];
    const nodes = ['a', 'b', 'c'].map((name) => ({ name, allocatable: { pods: '9' } }));
    assert.deepEqual(scoresOf({ spec: { affinity } }, { nodes, pods }), [500, 400, 300]);
  });

  it('lab/K6: spread the pods of a set', () => {
    const metadata = {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u', controller: true }],
    };
    const nodes = ['a', 'b'].map((name) => ({ name, allocatable: { pods: '9' } }));
    const pods = [{ name: 'one', node: 'a', metadata }];
    // Hosts: two, so ln 4 for a pod and 2: 3 and 2. The fuller gets 66, twice.
    assert.deepEqual(scoresOf({ metadata }, { nodes, pods }), [UNTAINTED + 132, UNTAINTED + 200]);
  });

  it('lab/K6: of equals, the node with the fewest pods is taken, then the first by name', () => {
    const nodes = [{ name: 'b' }, { name: 'a' }, { name: 'c' }];
    assert.equal(chosen({}, { nodes }), 'a');
    const tiny = { cpu: '1m', memory: '1' };
    assert.equal(chosen({ requests: tiny }, { nodes, pods: [busy('a', tiny)] }), 'b');
  });
});

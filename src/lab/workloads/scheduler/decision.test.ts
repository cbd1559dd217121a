import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factsLike, type PodSketch, type ViewSketch, viewLike } from '../../../../test/support/pretend-cluster.ts';
import { decide, unavailable } from './decision.ts';

const refusalOf = (pod: PodSketch, sketch: ViewSketch) => {
  const decision = decide(factsLike(pod), viewLike(sketch));
  assert.ok(decision.type === 'unschedulable');
  return decision;
};

describe('why a pod has no node', () => {
  it('lab/K3: counts nodes by reason, in the order of the texts', () => {
    const reasons = new Map([
      ['Insufficient cpu', 2],
      ['node(s) had untolerated taint(s)', 10],
      ['Too many pods', 1],
      ['Insufficient memory', 2],
    ]);
    const want =
      '0/15 nodes are available: 1 Too many pods, 10 node(s) had untolerated taint(s), 2 Insufficient cpu, 2 Insufficient memory.';
    assert.equal(unavailable(15, reasons), want);
  });

  it('lab/K3: says that preemption is not simulated', () => {
    const tainted = { taints: [{ key: 'cp', effect: 'NoSchedule' }] } as const;
    const two = { allocatable: { cpu: '4', pods: '9', 'acme.example/npu': '2' } };
    const nodes = [
      { name: 'c1', ...tainted },
      { name: 'c2', ...tainted },
      { name: 'w1', ...two },
      { name: 'w2', ...two },
      { name: 'w3', ...two },
    ];
    const { message } = refusalOf({ requests: { 'acme.example/npu': '3' } }, { nodes });
    const want =
      '0/5 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient acme.example/npu. preemption: not simulated by the lab.';
    assert.equal(message, want);
  });

  it('lab/K3: counts every shortage of a node', () => {
    const { message } = refusalOf({ requests: { cpu: '5', memory: '17Gi' } }, { nodes: [{}, { name: 'n2' }] });
    assert.match(message, /^0\/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory\. /);
  });

  it('lab/K3: is the lack of nodes when there are none', () => {
    const { message, refusedBy } = refusalOf({}, { nodes: [], pods: [{ name: 'o', node: 'gone' }] });
    assert.equal(message, 'no nodes available to schedule pods');
    assert.equal(refusedBy.size, 0);
  });

  it('lab/K4: keeps the keys of taints out of the message, and beside it for the log', () => {
    const nodes = [
      { name: 'n1', taints: [{ key: 'b', value: 'v', effect: 'NoSchedule' }] },
      { name: 'n2', taints: [{ key: 'a', effect: 'NoExecute' }] },
      { name: 'n3', taints: [{ key: 'b', effect: 'NoSchedule' }] },
    ] as const;
    const { message, taints } = refusalOf({}, { nodes });
    assert.match(message, /: 3 node\(s\) had untolerated taint\(s\)\. /);
    assert.deepEqual(taints, ['a:NoExecute', 'b:NoSchedule']);
  });

  it('lab/K4: names no taints where none kept the pod away', () => {
    const { taints } = refusalOf({ requests: { cpu: '9' } }, {});
    assert.deepEqual(taints, []);
  });

  it('names the filters that have refused nodes', () => {
    const nodes = [{ isUnschedulable: true }, { name: 'n2' }];
    const { refusedBy } = refusalOf({ requests: { cpu: '9' } }, { nodes });
    assert.deepEqual([...refusedBy], ['NodeUnschedulable', 'NodeResourcesFit']);
  });
});

describe('where a pod goes', () => {
  it('is the only node that can take it', () => {
    const decision = decide(
      factsLike({ requests: { cpu: '5' } }),
      viewLike({ nodes: [{}, { name: 'n2', allocatable: { cpu: '8', pods: '1' } }] }),
    );
    assert.deepEqual(decision, { type: 'placed', node: 'n2', claims: [] });
  });

  it('is never a node that only pods know of', () => {
    const view = viewLike({ nodes: [], pods: [{ name: 'o', node: 'ghost' }] });
    assert.deepEqual(view.candidates, []);
  });
});

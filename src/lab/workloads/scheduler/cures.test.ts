import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factsLike, type NodeSketch, nodeLike, type PodSketch } from '../../../../test/support/pretend-cluster.ts';
import { type Cures, nodeCures, POD_CAME, POD_WENT, podCures } from './cures.ts';
import { FILTERS } from './filter-names.ts';

const TAINT = { key: 'a', effect: 'NoSchedule' } as const;
const deleting = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };

describe('what a change may cure', () => {
  const NODES: readonly (readonly [
    what: string,
    old: NodeSketch | undefined,
    now: NodeSketch | undefined,
    cures: Cures,
  ])[] = [
    ['a node that comes', undefined, {}, FILTERS],
    ['a node that goes', {}, undefined, ['PodTopologySpread']],
    ['a node that reports as before', {}, {}, []],
    ['a node that is open again', { isUnschedulable: true }, {}, ['NodeUnschedulable']],
    ['a node that is closed', {}, { isUnschedulable: true }, []],
    ['a taint', {}, { taints: [TAINT] }, ['TaintToleration', 'PodTopologySpread']],
    [
      'a label',
      {},
      { labels: { a: 'b' } },
      ['NodeAffinity', 'VolumeBinding', 'PodTopologySpread', 'InterPodAffinity'],
    ],
    [
      'more of something',
      { allocatable: { cpu: '1' } },
      { allocatable: { cpu: '1', 'example.com/x': '1' } },
      ['NodeResourcesFit'],
    ],
    ['less of something', { allocatable: { cpu: '2' } }, { allocatable: { cpu: '1' } }, []],
  ];
  for (const [what, old, now, cures] of NODES) {
    it(`lab/K7: ${what}`, () => assert.deepEqual(nodeCures(old && nodeLike(old), now && nodeLike(now)), cures));
  }

  const PODS: readonly (readonly [
    what: string,
    old: PodSketch | undefined,
    now: PodSketch | undefined,
    cures: Cures,
  ])[] = [
    ['a pod that comes', undefined, {}, POD_CAME],
    ['a pod that goes', {}, undefined, POD_WENT],
    ['a pod that was never there', undefined, undefined, []],
    ['a pod that stays as it is', {}, {}, []],
    ['a pod with other labels', {}, { labels: { a: 'b' } }, POD_CAME],
    ['a pod that is deleted', {}, deleting, POD_CAME],
    ['a pod that wants less', { requests: { cpu: '2' } }, { requests: { cpu: '1' } }, POD_WENT],
    ['a pod that wants more', { requests: { cpu: '1' } }, { requests: { cpu: '2' } }, []],
  ];
  for (const [what, old, now, cures] of PODS) {
    it(`lab/K7: ${what}`, () => assert.deepEqual(podCures(old && factsLike(old), now && factsLike(now)), cures));
  }
});

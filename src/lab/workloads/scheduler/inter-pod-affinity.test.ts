import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factsLike, type PodSketch, type ViewSketch, viewLike } from '../../../../test/support/pretend-cluster.ts';
import type { Affinity, PodAffinityTerm } from '../../../api/generated/core-v1-types.ts';
import { affinityFilter, affinityScore } from './inter-pod-affinity.ts';

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

const term = (app: string, topologyKey = HOST, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  labelSelector: { matchLabels: { app } },
  topologyKey,
  ...more,
});
const near = (...terms: readonly PodAffinityTerm[]): Affinity => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
});
const apart = (...terms: readonly PodAffinityTerm[]): Affinity => ({
  podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
});

const NODES = [
  { name: 'a1', labels: { [ZONE]: 'a' } },
  { name: 'a2', labels: { [ZONE]: 'a' } },
  { name: 'b1', labels: { [ZONE]: 'b' } },
  { name: 'x1' },
];
const web = (node: string, more: PodSketch = {}): PodSketch => ({
  name: `web-${node}`,
  labels: { app: 'web' },
  node,
  ...more,
});

/** The nodes that the pod may go to, and why not to the others. */
function verdictOf(pod: PodSketch, sketch: ViewSketch = {}) {
  const view = viewLike({ nodes: NODES, ...sketch });
  const reasonsOf = affinityFilter(factsLike(pod), view);
  const verdicts = view.candidates.map((node) => [node.name, reasonsOf?.(node) ?? []] as const);
  const reasons = verdicts.flatMap(([, texts]) => texts);
  return {
    free: verdicts.filter(([, texts]) => texts.length === 0).map(([name]) => name),
    reasons: [...new Set(reasons)],
  };
}

interface Case {
  readonly what: string;
  readonly pod: PodSketch;
  readonly view?: ViewSketch;
  readonly free: readonly string[];
  readonly reason?: string;
}

const AFFINITY = "node(s) didn't match pod affinity rules";
const ANTI = "node(s) didn't match pod anti-affinity rules";
const EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules";
const ALL = ['a1', 'a2', 'b1', 'x1'];

const CASES: readonly Case[] = [
  { what: 'nobody says anything', pod: {}, view: { pods: [web('a1')] }, free: ALL },
  {
    what: 'a pod wants to be with another on its host',
    pod: { spec: { affinity: near(term('web')) } },
    view: { pods: [web('a1')] },
    free: ['a1'],
    reason: AFFINITY,
  },
  {
    what: 'a pod wants to be with another in its zone',
    pod: { spec: { affinity: near(term('web', ZONE)) } },
    view: { pods: [web('a1')] },
    free: ['a1', 'a2'],
    reason: AFFINITY,
  },
  {
    what: 'there is nobody to be with',
    pod: { spec: { affinity: near(term('web')) } },
    free: [],
    reason: AFFINITY,
  },
  {
    what: 'the first of those that want to be together needs only the label',
    pod: { labels: { app: 'web' }, spec: { affinity: near(term('web', ZONE)) } },
    free: ['a1', 'a2', 'b1'],
    reason: AFFINITY,
  },
  {
    what: 'the second of those follows the first',
    pod: { labels: { app: 'web' }, spec: { affinity: near(term('web', ZONE)) } },
    view: { pods: [web('b1')] },
    free: ['b1'],
    reason: AFFINITY,
  },
  {
    what: 'one pod has to meet all terms',
    pod: {
      spec: { affinity: near(term('web'), { labelSelector: { matchLabels: { tier: 'x' } }, topologyKey: HOST }) },
    },
    view: {
      pods: [
        web('a1'),
        { name: 't', labels: { tier: 'x' }, node: 'a1' },
        web('b1', { labels: { app: 'web', tier: 'x' } }),
      ],
    },
    free: ['b1'],
    reason: AFFINITY,
  },
  {
    what: 'a pod wants to be apart on its host',
    pod: { spec: { affinity: apart(term('web')) } },
    view: { pods: [web('a1')] },
    free: ['a2', 'b1', 'x1'],
    reason: ANTI,
  },
  {
    what: 'a pod wants to be apart in its zone',
    pod: { spec: { affinity: apart(term('web', ZONE)) } },
    view: { pods: [web('a1')] },
    free: ['b1', 'x1'],
    reason: ANTI,
  },
  {
    what: 'a pod that is there wants to be apart',
    pod: { labels: { app: 'new' } },
    view: { pods: [web('a1', { spec: { affinity: apart(term('new', ZONE)) } })] },
    free: ['b1', 'x1'],
    reason: EXISTING,
  },
  {
    what: 'both want to be apart, and the pod itself says so first',
    pod: { labels: { app: 'web' }, spec: { affinity: apart(term('web')) } },
    view: { pods: [web('a1', { spec: { affinity: apart(term('web')) } })] },
    free: ['a2', 'b1', 'x1'],
    reason: ANTI,
  },
  {
    what: 'the others are in another namespace',
    pod: { spec: { affinity: apart(term('web')) } },
    view: { pods: [web('a1', { namespace: 'other' })] },
    free: ALL,
  },
  {
    what: 'the other namespace is named',
    pod: { spec: { affinity: apart(term('web', HOST, { namespaces: ['other'] })) } },
    view: { pods: [web('a1', { namespace: 'other' }), web('a2')] },
    free: ['a1', 'a2', 'b1', 'x1'].filter((name) => name !== 'a1'),
    reason: ANTI,
  },
  {
    what: 'the other namespace is selected by its labels',
    pod: { spec: { affinity: apart(term('web', HOST, { namespaceSelector: { matchLabels: { team: 't' } } })) } },
    view: { pods: [web('a1', { namespace: 'other' }), web('a2')], namespaces: { other: { team: 't' } } },
    free: ['a2', 'b1', 'x1'],
    reason: ANTI,
  },
  {
    what: 'all namespaces are selected',
    pod: { spec: { affinity: apart(term('web', HOST, { namespaceSelector: {} })) } },
    view: { pods: [web('a1', { namespace: 'other' }), web('a2')] },
    free: ['b1', 'x1'],
    reason: ANTI,
  },
  {
    what: 'only pods of the same version count',
    pod: {
      labels: { app: 'web', hash: '2' },
      spec: { affinity: apart(term('web', HOST, { matchLabelKeys: ['hash'] })) },
    },
    view: {
      pods: [web('a1', { labels: { app: 'web', hash: '1' } }), web('a2', { labels: { app: 'web', hash: '2' } })],
    },
    free: ['a1', 'b1', 'x1'],
    reason: ANTI,
  },
  {
    what: 'only pods of other versions count',
    pod: {
      labels: { app: 'web', hash: '2' },
      spec: { affinity: apart(term('web', HOST, { mismatchLabelKeys: ['hash'] })) },
    },
    view: {
      pods: [web('a1', { labels: { app: 'web', hash: '1' } }), web('a2', { labels: { app: 'web', hash: '2' } })],
    },
    free: ['a2', 'b1', 'x1'],
    reason: ANTI,
  },
  {
    what: 'a selector that cannot be understood selects nobody',
    pod: { spec: { affinity: apart({ labelSelector: { matchLabels: { 'no key!': 'x' } }, topologyKey: HOST }) } },
    view: { pods: [web('a1')] },
    free: ALL,
  },
];

describe('affinity between pods', () => {
  for (const { what, pod, view = {}, free, reason } of CASES) {
    it(`lab/K2: ${what}`, () =>
      assert.deepEqual(verdictOf(pod, view), { free, reasons: reason === undefined ? [] : [reason] }));
  }
});

describe('wishes between pods', () => {
  const scoresOf = (pod: PodSketch, pods: readonly PodSketch[]) => {
    const view = viewLike({ nodes: NODES, pods });
    const scoreOf = affinityScore(factsLike(pod), view);
    return scoreOf === undefined ? undefined : view.candidates.map(scoreOf);
  };
  const wish = (weight: number, podAffinityTerm: PodAffinityTerm) => ({
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }],
  });

  it('lab/K6: are nobody’s where nobody has any', () => {
    assert.equal(scoresOf({}, [web('a1')]), undefined);
    assert.equal(scoresOf({ spec: { affinity: { podAffinity: wish(5, term('none')) } } }, [web('a1')]), undefined);
  });

  it('lab/K6: weigh towards and away, by every pod that matches', () => {
    const affinity = { podAffinity: wish(10, term('web', ZONE)), podAntiAffinity: wish(3, term('web')) };
    assert.deepEqual(scoresOf({ spec: { affinity } }, [web('a1'), web('a2')]), [17, 17, 0, 0]);
  });

  it('lab/K6: of pods that are there count as well, and what they require counts a little', () => {
    const pods = [
      web('a1', { spec: { affinity: near(term('new', ZONE)) } }),
      web('b1', { spec: { affinity: { podAntiAffinity: wish(4, term('new')) } } }),
    ];
    assert.deepEqual(scoresOf({ labels: { app: 'new' } }, pods), [1, 1, -4, 0]);
  });
});

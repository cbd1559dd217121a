import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factsLike, type NodeSketch, type PodSketch, viewLike } from '../../../../test/support/pretend-cluster.ts';
import { decide } from './decision.ts';
import { FILTERS, type FilterName } from './filter-names.ts';
import { filtersFor } from './filters.ts';

const onPort = (port: number) => ({
  containers: [{ name: 'c', image: 'i', ports: [{ containerPort: port, hostPort: port }] }],
});

interface Case {
  readonly filter: FilterName;
  readonly what: string;
  readonly pod: PodSketch;
  readonly node?: NodeSketch;
  readonly others?: readonly PodSketch[];
  /** None: the pod may go there. */
  readonly reasons: readonly string[];
}

const NO_MATCH = ["node(s) didn't match Pod's node affinity/selector"];
const TAINTED = ['node(s) had untolerated taint(s)'];
const CORDONED = ['node(s) were unschedulable'];
const TAKEN = ["node(s) didn't have free ports for the requested pod ports"];
const termsOf = (...terms: readonly object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
});

const CASES: readonly Case[] = [
  {
    filter: 'NodeName',
    what: 'another node',
    pod: { node: 'n2' },
    reasons: ["node(s) didn't match the requested node name"],
  },
  { filter: 'NodeName', what: 'this node', pod: { node: 'n1' }, reasons: [] },
  {
    filter: 'NodeUnschedulable',
    what: 'a cordoned node',
    pod: {},
    node: { isUnschedulable: true },
    reasons: CORDONED,
  },
  {
    filter: 'NodeUnschedulable',
    what: 'a cordoned node that the pod tolerates',
    pod: {
      spec: {
        tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }],
      },
    },
    node: { isUnschedulable: true },
    reasons: [],
  },
  {
    filter: 'TaintToleration',
    what: 'NoSchedule',
    pod: {},
    node: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
    reasons: TAINTED,
  },
  {
    filter: 'TaintToleration',
    what: 'NoExecute',
    pod: {},
    node: { taints: [{ key: 'a', effect: 'NoExecute' }] },
    reasons: TAINTED,
  },
  {
    filter: 'TaintToleration',
    what: 'PreferNoSchedule',
    pod: {},
    node: { taints: [{ key: 'a', effect: 'PreferNoSchedule' }] },
    reasons: [],
  },
  {
    filter: 'TaintToleration',
    what: 'a taint that is tolerated',
    pod: { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } },
    node: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
    reasons: [],
  },
  {
    filter: 'NodeAffinity',
    what: 'a selector that does not match',
    pod: { spec: { nodeSelector: { disk: 'ssd' } } },
    reasons: NO_MATCH,
  },
  {
    filter: 'NodeAffinity',
    what: 'a selector that matches and a term that does not',
    pod: {
      spec: {
        nodeSelector: { disk: 'ssd' },
        ...termsOf({ matchExpressions: [{ key: 'disk', operator: 'NotIn', values: ['ssd'] }] }),
      },
    },
    node: { labels: { disk: 'ssd' } },
    reasons: NO_MATCH,
  },
  {
    filter: 'NodeAffinity',
    what: 'one of two terms that match',
    pod: {
      spec: termsOf(
        { matchExpressions: [{ key: 'no', operator: 'Exists' }] },
        { matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['3'] }] },
      ),
    },
    node: { labels: { cores: '4' } },
    reasons: [],
  },
  {
    filter: 'NodeAffinity',
    what: 'the name of another node, as daemon pods have it',
    pod: { spec: termsOf({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }) },
    reasons: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"],
  },
  {
    filter: 'NodePorts',
    what: 'a port that is taken',
    pod: { spec: onPort(80) },
    others: [{ name: 'o', node: 'n1', spec: onPort(80) }],
    reasons: TAKEN,
  },
  {
    filter: 'NodePorts',
    what: 'a port that is free',
    pod: { spec: onPort(80) },
    others: [{ name: 'o', node: 'n1', spec: onPort(81) }],
    reasons: [],
  },
  {
    filter: 'NodeResourcesFit',
    what: 'all that is left',
    pod: { requests: { cpu: '1' } },
    others: [{ name: 'o', node: 'n1', requests: { cpu: '3' } }],
    reasons: [],
  },
  {
    filter: 'NodeResourcesFit',
    what: 'a bit too much',
    pod: { requests: { cpu: '1001m' } },
    others: [{ name: 'o', node: 'n1', requests: { cpu: '3' } }],
    reasons: ['Insufficient cpu'],
  },
  {
    filter: 'NodeResourcesFit',
    what: 'too much of everything',
    pod: { requests: { cpu: '5', memory: '17Gi', 'ephemeral-storage': '1', 'vendor.example/x': '1' } },
    node: { allocatable: { cpu: '4', memory: '16Gi' } },
    reasons: [
      'Too many pods',
      'Insufficient cpu',
      'Insufficient memory',
      'Insufficient ephemeral-storage',
      'Insufficient vendor.example/x',
    ],
  },
  {
    filter: 'NodeResourcesFit',
    what: 'a node without room for one more',
    pod: {},
    node: { allocatable: { pods: '1' } },
    others: [{ name: 'o', node: 'n1' }],
    reasons: ['Too many pods'],
  },
  {
    filter: 'NodeResourcesFit',
    what: 'a node that is overfull of something else',
    pod: { requests: { memory: '1' } },
    others: [{ name: 'o', node: 'n1', requests: { cpu: '9' } }],
    reasons: [],
  },
];

const NO_CLAIMS = { bound: [], delayed: [] };

describe('filters', () => {
  for (const { filter, what, pod, node = {}, others = [], reasons } of CASES) {
    it(`lab/K2: ${filter} ${reasons.length === 0 ? 'lets through' : 'refuses'} ${what}`, () => {
      const view = viewLike({ nodes: [node], pods: others });
      const [candidate] = view.candidates;
      assert.ok(candidate);
      const found = filtersFor(factsLike(pod), view, NO_CLAIMS).find(({ name }) => name === filter);
      assert.deepEqual(found?.reasons(candidate) ?? [], reasons);
    });
  }

  it('lab/K2: look at a node in a fixed order, whatever a pod asks for', () => {
    const term = { labelSelector: {}, topologyKey: 'kubernetes.io/hostname' };
    const facts = factsLike({
      node: 'n1',
      spec: {
        ...onPort(1),
        nodeSelector: {},
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
      },
    });
    const names = filtersFor(facts, viewLike(), NO_CLAIMS).map(({ name }) => name);
    assert.deepEqual(names, FILTERS);
  });

  it('lab/K2: the first that refuses a node gives its reason, and no other', () => {
    const tainted = { taints: [{ key: 'a', effect: 'NoSchedule' }] } as const;
    const view = viewLike({
      nodes: [
        { ...tainted, isUnschedulable: true },
        { name: 'n2', ...tainted },
      ],
    });
    const decision = decide(factsLike({ requests: { cpu: '100' } }), view);
    assert.ok(decision.type === 'unschedulable');
    const want = '0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.';
    assert.equal(decision.message, `${want} preemption: not simulated by the lab.`);
  });
});

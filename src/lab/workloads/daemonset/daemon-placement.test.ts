import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonPodOn, daemonSet, type NodeFacts, nodeOf } from '../../../../test/support/lab-daemons.ts';
import type { PodSpec, Taint, Toleration } from '../../../api/generated/core-v1-types.ts';
import { daemonTolerations, nodeFit, targetNode } from './daemon-placement.ts';

const taint = (key: string, effect: Taint['effect']): Taint => ({ key, effect });
const system = (key: string, effect: Taint['effect']): Taint => taint(`node.kubernetes.io/${key}`, effect);

const requires = (value: string): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'type', operator: 'In', values: [value] }] }],
      },
    },
  },
});

describe('where daemon pods belong', () => {
  // The rows of upstream's TestNodeShouldRunDaemonPod, and of its tests about taints.
  const TABLE: readonly {
    readonly name: string;
    readonly spec?: Partial<PodSpec>;
    readonly node?: NodeFacts;
    readonly runs: boolean;
    readonly continues: boolean;
  }[] = [
    { name: 'a plain node', runs: true, continues: true },
    {
      name: 'a node that is too small: the scheduler decides',
      spec: { containers: [{ name: 'a', resources: { requests: { cpu: '1000', memory: '1Ti' } } }] },
      runs: true,
      continues: true,
    },
    {
      name: 'a node whose port is taken: the scheduler decides',
      spec: { containers: [{ name: 'a', ports: [{ containerPort: 666, hostPort: 666 }] }] },
      runs: true,
      continues: true,
    },
    { name: 'another node than the named one', spec: { nodeName: 'other' }, runs: false, continues: false },
    { name: 'the named node', spec: { nodeName: 'n1' }, runs: true, continues: true },
    { name: 'a node without the label', spec: { nodeSelector: { type: 'test' } }, runs: false, continues: false },
    { name: 'a node with the label', spec: { nodeSelector: { type: 'production' } }, runs: true, continues: true },
    { name: 'a node that affinity excludes', spec: requires('test'), runs: false, continues: false },
    { name: 'a node that affinity asks for', spec: requires('production'), runs: true, continues: true },
    { name: 'an unschedulable node', node: { unschedulable: true }, runs: true, continues: true },
    {
      name: 'a cordoned node',
      node: { taints: [system('unschedulable', 'NoSchedule')] },
      runs: true,
      continues: true,
    },
    {
      name: 'a node tainted NoSchedule',
      node: { taints: [taint('x', 'NoSchedule')] },
      runs: false,
      continues: true,
    },
    {
      name: 'a node tainted NoExecute',
      node: { taints: [taint('x', 'NoExecute')] },
      runs: false,
      continues: false,
    },
    {
      name: 'a node tainted PreferNoSchedule',
      node: { taints: [taint('x', 'PreferNoSchedule')] },
      runs: true,
      continues: true,
    },
    {
      name: 'a tainted node that is tolerated',
      spec: { tolerations: [{ key: 'x', operator: 'Exists' }] },
      node: { taints: [taint('x', 'NoExecute')] },
      runs: true,
      continues: true,
    },
    {
      name: 'a node that lost its kubelet, and is not evicted from',
      node: { taints: [system('not-ready', 'NoExecute'), system('unreachable', 'NoExecute')] },
      runs: true,
      continues: true,
    },
    {
      name: 'a node under pressure',
      node: {
        taints: ['disk-pressure', 'memory-pressure', 'pid-pressure'].map((key) => system(key, 'NoSchedule')),
      },
      runs: true,
      continues: true,
    },
    {
      name: 'a node without network',
      node: { taints: [system('network-unavailable', 'NoSchedule')] },
      runs: false,
      continues: true,
    },
    {
      name: 'a node without network, for pods that use the host',
      spec: { hostNetwork: true },
      node: { taints: [system('network-unavailable', 'NoSchedule')] },
      runs: true,
      continues: true,
    },
    {
      name: 'a node that no cloud has initialised',
      node: { taints: [taint('node.cloudprovider.kubernetes.io/uninitialized', 'NoSchedule')] },
      runs: false,
      continues: true,
    },
  ];
  for (const { name, spec = {}, node = {}, runs, continues } of TABLE) {
    it(`lab/W19: ${name}: a pod ${runs ? 'runs' : 'does not run'} and ${continues ? 'may' : 'may not'} stay`, () => {
      const found = nodeFit(daemonSet({ spec }), nodeOf('n1', { labels: { type: 'production' }, ...node }));
      assert.deepEqual(found, { shouldRun: runs, shouldContinue: continues });
    });
  }
});

describe('tolerations of daemon pods', () => {
  const texts = (tolerations: readonly Toleration[]) =>
    tolerations.map(({ key, operator, effect }) => `${key} ${operator} ${effect}`);
  const ADDED = [
    'node.kubernetes.io/not-ready Exists NoExecute',
    'node.kubernetes.io/unreachable Exists NoExecute',
    'node.kubernetes.io/disk-pressure Exists NoSchedule',
    'node.kubernetes.io/memory-pressure Exists NoSchedule',
    'node.kubernetes.io/pid-pressure Exists NoSchedule',
    'node.kubernetes.io/unschedulable Exists NoSchedule',
  ];

  it('lab/W20: are those of every daemon pod', () => {
    assert.deepEqual(texts(daemonTolerations({})), ADDED);
  });

  it('lab/W20: cover a missing network only for pods that use the host', () => {
    const network = 'node.kubernetes.io/network-unavailable Exists NoSchedule';
    assert.deepEqual(texts(daemonTolerations({ hostNetwork: true })), [...ADDED, network]);
  });

  it('lab/W20: do not cover a node that no cloud has initialised', () => {
    assert.ok(!daemonTolerations({ hostNetwork: true }).some(({ key }) => key?.includes('uninitialized')));
  });

  it('lab/W20: come after those of the template, and take the place of a shorter one', () => {
    const own: Toleration = { key: 'x', operator: 'Exists' };
    const short: Toleration = {
      key: 'node.kubernetes.io/not-ready',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    };
    const found = daemonTolerations({ tolerations: [short, own] });
    assert.deepEqual(found.slice(0, 2), [{ key: short.key, operator: 'Exists', effect: 'NoExecute' }, own]);
    assert.equal(found.length, 1 + ADDED.length);
  });
});

describe('the node of a daemon pod', () => {
  const affine = daemonPodOn('n1', { isUnplaced: true });
  const required = (values: readonly string[], operator: 'In' | 'NotIn' = 'In'): PodSpec => ({
    containers: [],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator, values }] }],
        },
      },
    },
  });
  const TABLE: readonly (readonly [name: string, spec: PodSpec, node: string | undefined])[] = [
    ['where it is', daemonPodOn('n2').spec, 'n2'],
    ['where it is, though it was meant for another', { ...affine.spec, nodeName: 'n9' }, 'n9'],
    ['what it is meant for', affine.spec, 'n1'],
    ['unknown without affinity', { containers: [] }, undefined],
    ['unknown when two are named', required(['a', 'b']), undefined],
    ['unknown when one is excluded', required(['a'], 'NotIn'), undefined],
  ];
  for (const [name, spec, node] of TABLE) {
    it(`lab/W21: is ${name}`, () => assert.equal(targetNode({ spec }), node));
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, Taint } from '../../api/generated/core-v1.ts';
import type { PresentInstance } from '../../sdk/capabilities/instances.ts';
import { PROVIDED_IP_ANNOTATION } from './addresses.ts';
import { initializedNode, isUninitialized, type Labels, mirroredLabels, UNINITIALIZED_TAINT } from './desired.ts';

const TAINT: Taint = { key: UNINITIALIZED_TAINT, value: 'true', effect: 'NoSchedule' };
const OTHERS: readonly Taint[] = [
  { key: 'a', effect: 'NoSchedule' },
  { key: 'b', effect: 'NoExecute' },
];

const node = (labels: Labels = {}, spec: Node['spec'] = { taints: [TAINT] }): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels },
  spec,
});

const instance = (more: Partial<PresentInstance> = {}): PresentInstance => ({
  state: 'present',
  power: 'on',
  providerID: 'acme://i-1',
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  ...more,
});

describe('isUninitialized', () => {
  const TAINTS: readonly (readonly [string, readonly Taint[] | undefined, boolean])[] = [
    ['the taint of the kubelet', [TAINT], true],
    ['another effect and no value', [{ key: UNINITIALIZED_TAINT, effect: 'NoExecute' }], true],
    ['other taints', OTHERS, false],
    ['no taints', undefined, false],
  ];
  for (const [what, taints, want] of TAINTS) {
    it(`ccm/N3, ccm/C5: knows the taint by its key: ${what}`, () => {
      assert.equal(isUninitialized(node({}, taints === undefined ? {} : { taints })), want);
    });
  }
});

describe('initializedNode', () => {
  it('ccm/N11: does what the worked example of the spec says', () => {
    const before: Node = {
      ...node({ 'x/y': '1' }, { taints: [{ key: 'a', effect: 'NoSchedule' }, TAINT] }),
      metadata: { name: 'n1', labels: { 'x/y': '1' }, annotations: { [PROVIDED_IP_ANNOTATION]: '10.0.0.1' } },
    };
    const found = instance({
      instanceType: 'm1',
      zone: 'z1',
      region: 'r1',
      labels: { 'x/y': '2', 'acme.example/rack': '7', 'k8s.io/q': '1' },
    });
    const { node: after, refusedLabels } = initializedNode(before, found);
    assert.deepEqual(after.spec, { providerID: 'acme://i-1', taints: [{ key: 'a', effect: 'NoSchedule' }] });
    assert.deepEqual(after.metadata.labels, {
      'x/y': '1',
      'acme.example/rack': '7',
      'node.kubernetes.io/instance-type': 'm1',
      'beta.kubernetes.io/instance-type': 'm1',
      'topology.kubernetes.io/zone': 'z1',
      'failure-domain.beta.kubernetes.io/zone': 'z1',
      'topology.kubernetes.io/region': 'r1',
      'failure-domain.beta.kubernetes.io/region': 'r1',
    });
    assert.deepEqual(refusedLabels, ['x/y', 'k8s.io/q']);
    assert.deepEqual(after.metadata.annotations, before.metadata.annotations);
  });

  it('ccm/N11, ccm/C5: removes every taint of that key and keeps the order of the others', () => {
    const [first, second] = OTHERS;
    assert.ok(first !== undefined && second !== undefined);
    const taints = [TAINT, second, { key: UNINITIALIZED_TAINT, effect: 'NoExecute' } as const, first];
    assert.deepEqual(initializedNode(node({}, { taints }), instance()).node.spec.taints, [second, first]);
  });

  it('ccm/N7, ccm/C4: keeps a provider ID that the node has', () => {
    const { spec } = initializedNode(node({}, { providerID: 'a://1', taints: [TAINT] }), instance()).node;
    assert.deepEqual(spec, { providerID: 'a://1' });
  });

  it('ccm/N5: refuses a node without a provider ID when the provider has none either', () => {
    const message = 'cloud provider does not set node provider ID for node n1';
    assert.throws(() => initializedNode(node(), instance({ providerID: '' })), {
      reason: 'NoProviderID',
      message,
    });
    const known = node({}, { providerID: 'a://1', taints: [TAINT] });
    assert.equal(initializedNode(known, instance({ providerID: '' })).node.spec.providerID, 'a://1');
  });

  it('ccm/N8: refuses a node whose kubelet uses an address that the provider does not know', () => {
    const one = { ...node(), metadata: { name: 'n1', annotations: { [PROVIDED_IP_ANNOTATION]: '10.0.0.2' } } };
    assert.throws(() => initializedNode(one, instance()), { reason: 'NodeAddressMismatch' });
    assert.throws(() => initializedNode(one, instance({ addresses: [] })), { reason: 'NodeAddressMismatch' });
  });

  it('ccm/N9: overwrites the six labels, and leaves them alone where the provider knows nothing', () => {
    const old = {
      'node.kubernetes.io/instance-type': 'old',
      'beta.kubernetes.io/instance-type': 'old',
      'topology.kubernetes.io/zone': 'old',
    };
    const { labels } = initializedNode(node(old), instance({ instanceType: 'new', zone: '' })).node.metadata;
    assert.deepEqual(labels, {
      'node.kubernetes.io/instance-type': 'new',
      'beta.kubernetes.io/instance-type': 'new',
      'topology.kubernetes.io/zone': 'old',
    });
  });

  const KEYS: readonly (readonly [string, boolean])[] = [
    ['topology.k8s.cp/x', true],
    ['k8snio/x', true],
    ['app.k8snio/x', true],
    ['plain', true],
    ['mykubernetes.io/x', true],
    ['k8s.io/x', false],
    ['foo.k8s.io/x', false],
    ['kubernetes.io/x', false],
    ['node.kubernetes.io/x', false],
  ];
  for (const [key, isTaken] of KEYS) {
    it(`ccm/N10: ${isTaken ? 'takes' : 'leaves out'} the additional label ${key}`, () => {
      const { node: after, refusedLabels } = initializedNode(node(), instance({ labels: { [key]: 'v' } }));
      assert.deepEqual(after.metadata.labels, isTaken ? { [key]: 'v' } : {});
      assert.deepEqual(refusedLabels, isTaken ? [] : [key]);
    });
  }

  it('ccm/N10: says nothing about a label that the node has with the same value', () => {
    const { refusedLabels } = initializedNode(node({ rack: '7' }), instance({ labels: { rack: '7' } }));
    assert.deepEqual(refusedLabels, []);
  });

  it('ccm/N11: changes nothing of what it was given', () => {
    const before = node({ rack: '7' });
    const copy = structuredClone(before);
    initializedNode(before, instance({ zone: 'z1' }));
    assert.deepEqual(before, copy);
  });
});

describe('mirroredLabels', () => {
  const [BETA_TYPE, TYPE] = ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'];
  const [BETA_ZONE, ZONE] = ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'];
  const [BETA_REGION, REGION] = ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'];

  const ROWS: readonly (readonly [string, Labels, Labels])[] = [
    ['C9: overwrites the stable label', { [BETA_TYPE]: 'a', [TYPE]: 'b' }, { [TYPE]: 'a' }],
    ['C10: leaves a stable label without source alone', { [ZONE]: 'z' }, {}],
    ['N15: adds what is missing', { [BETA_ZONE]: 'z', [BETA_REGION]: 'r' }, { [ZONE]: 'z', [REGION]: 'r' }],
    ['N15: has nothing to say when they are equal', { [BETA_ZONE]: 'z', [ZONE]: 'z' }, {}],
    ['N15: copies an empty value too', { [BETA_ZONE]: '' }, { [ZONE]: '' }],
    ['N15: has nothing to say without labels', {}, {}],
  ];
  for (const [rule, labels, want] of ROWS) {
    it(`ccm/${rule}`, () => assert.deepEqual(mirroredLabels(node(labels), 'deprecated'), want));
  }

  it('ccm/N15: is content with a node that has no labels at all', () => {
    assert.deepEqual(mirroredLabels({ ...node(), metadata: { name: 'n1' } }, 'deprecated'), {});
  });

  it('ccm/B14: copies in the other direction when it is told to', () => {
    const labels = { [BETA_TYPE]: 'a', [TYPE]: 'b', [REGION]: 'r', [BETA_ZONE]: 'z' };
    assert.deepEqual(mirroredLabels(node(labels), 'stable'), { [BETA_TYPE]: 'b', [BETA_REGION]: 'r' });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../api/generated/core-v1-types.ts';
import type { ObjectMeta } from '../../../api/object.ts';
import { adoptionPatch, type NodeSettings, newNode } from './node-object.ts';

const SYSTEM = {
  architecture: 'arm64',
  operatingSystem: 'linux',
  kernelVersion: '6.1.0',
  bootID: 'b',
  machineID: 'm',
  systemUUID: 's',
};
const LABELS = {
  'kubernetes.io/hostname': 'w-1',
  'kubernetes.io/os': 'linux',
  'kubernetes.io/arch': 'arm64',
  'beta.kubernetes.io/os': 'linux',
  'beta.kubernetes.io/arch': 'arm64',
};
const ATTACH_DETACH = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
const PROVIDED = 'alpha.kubernetes.io/provided-node-ip';
const TAINT = { key: 'dedicated', value: 'npu', effect: 'NoSchedule' } as const;

describe('newNode', () => {
  const rows: readonly (readonly [string, NodeSettings, ReturnType<typeof newNode>])[] = [
    [
      'with labels and the annotation for attaching volumes',
      { name: 'w-1' },
      { metadata: { name: 'w-1', labels: LABELS, annotations: ATTACH_DETACH }, spec: {} },
    ],
    [
      'with configured labels, which win, and taints',
      { name: 'w-1', hostname: 'w-1.lab', labels: { zone: 'a', 'kubernetes.io/os': 'plan9' }, taints: [TAINT] },
      {
        metadata: {
          name: 'w-1',
          labels: { ...LABELS, 'kubernetes.io/hostname': 'w-1.lab', 'kubernetes.io/os': 'plan9', zone: 'a' },
          annotations: ATTACH_DETACH,
        },
        spec: { taints: [TAINT] },
      },
    ],
    [
      'tainted and without a provider ID where a cloud initialises it',
      { name: 'w-1', cloudProvider: 'external', taints: [TAINT] },
      {
        metadata: { name: 'w-1', labels: LABELS, annotations: ATTACH_DETACH },
        spec: {
          taints: [
            TAINT,
            { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
          ],
        },
      },
    ],
    [
      'with the address it must have, only for a cloud',
      { name: 'w-1', forcedAddress: '10.16.1.1' },
      { metadata: { name: 'w-1', labels: LABELS, annotations: ATTACH_DETACH }, spec: {} },
    ],
    [
      'with the provider ID that its machine was booted with',
      { name: 'w-1', providerId: 'lab://i-1' },
      { metadata: { name: 'w-1', labels: LABELS, annotations: ATTACH_DETACH }, spec: { providerID: 'lab://i-1' } },
    ],
  ];
  for (const [what, settings, node] of rows) {
    it(`lab/N2: is made ${what}`, () => assert.deepEqual(newNode(settings, SYSTEM), node));
  }

  it('lab/N2: tells a cloud the address that it must have', () => {
    const { metadata } = newNode({ name: 'w-1', cloudProvider: 'external', forcedAddress: '10.16.1.1' }, SYSTEM);
    assert.deepEqual(metadata.annotations, { ...ATTACH_DETACH, [PROVIDED]: '10.16.1.1' });
  });
});

describe('adoptionPatch', () => {
  const existing = (metadata: Partial<ObjectMeta>): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'w-1', labels: LABELS, annotations: ATTACH_DETACH, ...metadata },
    spec: { taints: [TAINT], unschedulable: true },
  });
  const adopt = (metadata: Partial<ObjectMeta>, settings: Partial<NodeSettings> = {}) =>
    adoptionPatch(existing(metadata), newNode({ name: 'w-1', ...settings }, SYSTEM));

  it('lab/N5: changes nothing on a Node that is as it would be', () => {
    assert.equal(adopt({ labels: { ...LABELS, colour: 'red' } }), undefined);
  });

  it('lab/N5: corrects the labels that say what the node is, and no others', () => {
    const labels = { ...LABELS, 'kubernetes.io/arch': 'amd64', colour: 'red' };
    const patch = adopt({ labels }, { labels: { colour: 'blue', 'topology.kubernetes.io/zone': 'a' } });
    assert.deepEqual(patch, {
      metadata: { labels: { 'kubernetes.io/arch': 'arm64', 'topology.kubernetes.io/zone': 'a' } },
    });
  });

  it('lab/N5: gives everything to a Node that has nothing', () => {
    const { metadata, ...rest } = existing({});
    const bare = { ...rest, metadata: { name: metadata.name } };
    const patch = adoptionPatch(bare, newNode({ name: 'w-1' }, SYSTEM));
    assert.deepEqual(patch, { metadata: { labels: LABELS, annotations: ATTACH_DETACH } });
  });

  it('lab/N5: says nothing of taints, neither its own nor those of others', () => {
    const patch = adopt(
      { labels: {} },
      { taints: [{ key: 'new', effect: 'NoExecute' }], cloudProvider: 'external' },
    );
    assert.deepEqual(Object.keys(patch ?? {}), ['metadata']);
  });

  it('lab/N5: takes an address back that it is no longer told to have', () => {
    const annotations = { ...ATTACH_DETACH, [PROVIDED]: '10.16.1.9', mine: 'kept' };
    assert.deepEqual(adopt({ annotations }), { metadata: { annotations: { [PROVIDED]: null } } });
    const patch = adopt({ annotations }, { cloudProvider: 'external', forcedAddress: '10.16.1.1' });
    assert.deepEqual(patch, { metadata: { annotations: { [PROVIDED]: '10.16.1.1' } } });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, NodeAddress, NodeCondition } from '../../api/generated/core-v1.ts';
import { PROBLEM_CONDITION, statusPatch } from './node-status.ts';

const NOW = new Date('2026-01-02T00:00:00Z');
const EARLIER = '2026-01-01T00:00:00Z';
const ADDRESSES: readonly NodeAddress[] = [
  { type: 'InternalIP', address: '10.0.0.1' },
  { type: 'InternalIP', address: '10.0.0.2' },
];
const PROBLEM = { reason: 'NodeAddressMismatch', message: 'what to do' } as const;
const SHOWN: NodeCondition = {
  type: PROBLEM_CONDITION,
  status: 'True',
  ...PROBLEM,
  lastHeartbeatTime: EARLIER,
  lastTransitionTime: EARLIER,
};

const node = (status: Node['status']): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  spec: {},
  ...(status !== undefined && { status }),
});

const statusOf = (...given: Parameters<typeof statusPatch>): unknown => {
  const patch = statusPatch(...given);
  return patch?.type === 'strategic' ? patch.body['status'] : patch;
};

describe('statusPatch', () => {
  it('ccm/A6: replaces the addresses as a whole', () => {
    assert.deepEqual(statusOf(node({ addresses: [...ADDRESSES].toReversed() }), { addresses: ADDRESSES }, NOW), {
      addresses: [{ $patch: 'replace' }, ...ADDRESSES],
    });
    assert.notEqual(statusOf(node(undefined), { addresses: ADDRESSES }, NOW), undefined);
  });

  it('ccm/A6, ccm/B1: has nothing to write when they are the same, though two are of one type', () => {
    assert.equal(statusOf(node({ addresses: ADDRESSES }), { addresses: ADDRESSES }, NOW), undefined);
    assert.equal(statusOf(node({ addresses: ADDRESSES }), {}, NOW), undefined);
  });

  it('ccm/B13: shows a problem once, and again only when it is another one', () => {
    const time = '2026-01-02T00:00:00Z';
    const condition = { ...SHOWN, lastHeartbeatTime: time, lastTransitionTime: time };
    assert.deepEqual(statusOf(node(undefined), { problem: PROBLEM }, NOW), { conditions: [condition] });
    assert.equal(statusOf(node({ conditions: [SHOWN] }), { problem: PROBLEM }, NOW), undefined);
    const other = { reason: 'NoProviderID', message: 'another' } as const;
    assert.deepEqual(statusOf(node({ conditions: [SHOWN] }), { problem: other }, NOW), {
      conditions: [{ ...SHOWN, ...other, lastHeartbeatTime: time }],
    });
  });

  it('ccm/B13: takes a problem away together with the addresses that solve it', () => {
    const gone = { $patch: 'delete', type: PROBLEM_CONDITION };
    assert.deepEqual(statusOf(node({ conditions: [SHOWN] }), { addresses: ADDRESSES }, NOW), {
      addresses: [{ $patch: 'replace' }, ...ADDRESSES],
      conditions: [gone],
    });
    assert.deepEqual(statusOf(node({ conditions: [SHOWN] }), {}, NOW), { conditions: [gone] });
  });
});

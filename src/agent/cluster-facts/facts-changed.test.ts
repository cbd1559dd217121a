import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { apiVersionOf, type Condition } from '../../api/object.ts';
import type { ObjectEvent } from '../../kube/cache/cache.ts';
import { factsChanged, saidIn, wishesOf } from './facts-changed.ts';

const machine = (change: Partial<Machine> = {}): Machine => ({
  apiVersion: apiVersionOf(Machine),
  kind: Machine.kind,
  metadata: { namespace: 'a', name: 'm', generation: 1, labels: { tier: 'gold' } },
  spec: { clusterName: 'c', bootstrap: {}, infrastructureRef: { apiGroup: 'g', kind: 'K', name: 'm' } },
  ...change,
});
const withCondition = (condition: Partial<Condition>): Machine =>
  machine({
    status: {
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'R',
          message: '',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          ...condition,
        },
      ],
    },
  });
const event = (type: ObjectEvent['type'], object: Machine, old?: Machine): ObjectEvent<Machine> => ({
  type,
  object,
  ...(old !== undefined && { old }),
  isInInitialList: false,
  isFinalStateUnknown: false,
});

describe('changes that matter to a controller', () => {
  const passes = factsChanged<Machine>((one) => [wishesOf(one), saidIn(one, ['Ready'])]);
  const isPassed = (old: Machine, now: Machine): boolean => passes(event('update', now, old));

  it('are not what others say, nor when they say it', () => {
    assert.equal(isPassed(machine(), machine({ status: { phase: 'Running' } })), false);
    assert.equal(isPassed(withCondition({}), withCondition({ type: 'Other' })), true);
    assert.equal(isPassed(machine(), withCondition({ type: 'Other' })), false);
    assert.equal(
      isPassed(withCondition({}), withCondition({ lastTransitionTime: '2026-01-02T00:00:00Z' })),
      false,
    );
  });

  it('are wishes, and what the controller looks at', () => {
    const { metadata } = machine();
    for (const changed of [
      { generation: 2 },
      { labels: {} },
      { annotations: { a: 'b' } },
      { deletionTimestamp: '2026-01-01T00:00:00Z' },
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] },
    ])
      assert.equal(isPassed(machine(), machine({ metadata: { ...metadata, ...changed } })), true);
    assert.equal(isPassed(withCondition({}), withCondition({ status: 'False' })), true);
  });

  it('are comings and goings', () => {
    assert.equal(passes(event('create', machine())), true);
    assert.equal(passes(event('delete', machine(), machine())), true);
  });
});

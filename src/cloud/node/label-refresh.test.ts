import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../api/generated/core-v1.ts';
import type { PresentInstance } from '../../sdk/capabilities/instances.ts';
import type { Labels } from './desired.ts';
import { hasStaleLabels, refreshedLabels } from './label-refresh.ts';

const MANAGERS = { initial: 'ccm/node', refresh: 'ccm/node/labels' };

/** Labels, each with the managers that claim it. */
function node(owned: Readonly<Record<string, readonly [string, ...string[]]>>): Node {
  const entries = Object.entries(owned);
  const managers = new Set(entries.flatMap(([, [, ...owners]]) => owners));
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n1',
      labels: Object.fromEntries(entries.map(([key, [value]]) => [key, value])),
      managedFields: [...managers].map((manager) => {
        const keys = entries.filter(([, [, ...owners]]) => owners.includes(manager)).map(([key]) => key);
        return {
          manager,
          fieldsV1: { 'f:metadata': { 'f:labels': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) } },
        };
      }),
    },
    spec: {},
  };
}

const instance = (labels: Labels, more: Partial<PresentInstance> = {}): PresentInstance => ({
  state: 'present',
  power: 'on',
  providerID: 'acme://i-1',
  addresses: [],
  labels,
  ...more,
});

const ROWS: readonly {
  readonly what: string;
  readonly has: Parameters<typeof node>[0];
  readonly found: Labels;
  readonly want: Labels | undefined;
}[] = [
  { what: 'adds what is missing', has: {}, found: { rack: '1' }, want: { rack: '1' } },
  {
    what: 'has nothing to say when it is there',
    has: { rack: ['1', 'bob'] },
    found: { rack: '1' },
    want: undefined,
  },
  {
    what: 'changes what the initialisation wrote',
    has: { rack: ['1', MANAGERS.initial] },
    found: { rack: '2' },
    want: { rack: '2' },
  },
  {
    what: 'changes what an earlier refresh applied',
    has: { rack: ['1', MANAGERS.refresh] },
    found: { rack: '2' },
    want: { rack: '2' },
  },
  {
    what: 'leaves the label of somebody else',
    has: { rack: ['1', 'bob'] },
    found: { rack: '2' },
    want: undefined,
  },
  {
    what: 'leaves a label that somebody else claims too',
    has: { rack: ['1', 'bob', MANAGERS.initial] },
    found: { rack: '2' },
    want: undefined,
  },
  { what: 'leaves a label that nobody claims', has: { rack: ['1'] }, found: { rack: '2' }, want: undefined },
  { what: 'leaves reserved keys', has: {}, found: { 'k8s.io/rack': '2' }, want: undefined },
  {
    what: 'deletes nothing: what was applied before is applied again',
    has: { old: ['1', MANAGERS.refresh], rack: ['1', MANAGERS.refresh], other: ['1', 'bob'] },
    found: { rack: '2' },
    want: { old: '1', rack: '2' },
  },
  {
    what: 'does not delete what the cloud has no more',
    has: { old: ['1', MANAGERS.refresh] },
    found: {},
    want: undefined,
  },
];

describe('refreshedLabels', () => {
  for (const { what, has, found, want } of ROWS) {
    it(`ccm/B8: ${what}`, () => {
      assert.deepEqual(refreshedLabels(node(has), instance(found), MANAGERS), want);
    });
  }

  it('ccm/B8: lets type, zone and region follow the machine, whoever wrote them', () => {
    const stale = node({ 'node.kubernetes.io/instance-type': ['m1', 'kubelet'] });
    const found = instance({}, { instanceType: 'm2' });
    assert.deepEqual(refreshedLabels(stale, found, MANAGERS), {
      'node.kubernetes.io/instance-type': 'm2',
      'beta.kubernetes.io/instance-type': 'm2',
    });
  });
});

describe('hasStaleLabels', () => {
  it('ccm/B8: is seen without knowing who claims what', () => {
    const one = node({ rack: ['1', 'bob'] });
    assert.equal(hasStaleLabels(one, instance({ rack: '1', 'k8s.io/x': '1' })), false);
    assert.equal(hasStaleLabels(one, instance({ rack: '2' })), true);
    assert.equal(hasStaleLabels(one, instance({}, { zone: 'z1' })), true);
  });
});

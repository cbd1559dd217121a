import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type NodeInput, workerNode } from '../../../test/support/balanced-services.ts';
import { UNINITIALIZED_TAINT } from '../node/desired.ts';
import {
  areSameMachines,
  backendsOf,
  concernsBackends,
  EXCLUSION_LABEL,
  isEligible,
  isExcluded,
  LEAVING_TAINT,
  machinesOf,
} from './eligible-nodes.ts';

const EAGER = { holdBack: false };
const PATIENT = { holdBack: true };
const labelled = (value: string): NodeInput => ({ metadata: { labels: { [EXCLUSION_LABEL]: value } } });
const tainted = (key: string): NodeInput => ({ spec: { taints: [{ key, effect: 'NoSchedule' }] } });

describe('nodes behind balancers', () => {
  for (const value of ['1', 't', 'T', 'TRUE', 'true', 'True', '', 'foo', 'no', 'FalsE'])
    it(`ccm/S21: are not those that are labelled ${JSON.stringify(value)}`, () => {
      assert.equal(isExcluded(workerNode('a', labelled(value))), true);
      assert.equal(isEligible(workerNode('a', labelled(value)), EAGER), false);
    });

  for (const value of ['0', 'f', 'F', 'FALSE', 'false', 'False'])
    it(`ccm/S21: are also those that are labelled ${JSON.stringify(value)}`, () => {
      assert.equal(isExcluded(workerNode('a', labelled(value))), false);
      assert.equal(isEligible(workerNode('a', labelled(value)), EAGER), true);
    });

  const cases: readonly {
    readonly name: string;
    readonly given: NodeInput;
    readonly eager: boolean;
    readonly patient?: boolean;
  }[] = [
    { name: 'usual', given: {}, eager: true },
    {
      name: 'of the control plane',
      given: { metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } },
      eager: true,
    },
    { name: 'tainted for something else', given: tainted('node.kubernetes.io/not-ready'), eager: true },
    { name: 'being deleted', given: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }, eager: false },
    { name: 'about to be taken by the autoscaler', given: tainted(LEAVING_TAINT), eager: false },
    { name: 'not initialised', given: tainted(UNINITIALIZED_TAINT), eager: true, patient: false },
    { name: 'without provider ID', given: { spec: { providerID: '' } }, eager: true, patient: false },
    {
      name: 'without an address',
      given: { addresses: [{ type: 'Hostname', address: 'a' }] },
      eager: true,
      patient: false,
    },
  ];
  for (const { name, given, eager, patient = eager } of cases)
    it(`ccm/S20, ccm/B4: ${eager ? 'may be' : 'are not'} those that are ${name}${patient === eager ? '' : ', once they may wait no more'}`, () => {
      assert.equal(isEligible(workerNode('a', given), EAGER), eager);
      assert.equal(isEligible(workerNode('a', given), PATIENT), patient);
    });

  it('ccm/S20: are told by machine, addresses and zone, in the order of their names', () => {
    const zoned = { metadata: { labels: { 'topology.kubernetes.io/zone': 'z1' } } };
    const odd = {
      addresses: [
        { type: 'InternalIP', address: '10.0.0.2' },
        { type: 'Strange', address: 'x' },
      ],
    };
    assert.deepEqual(
      backendsOf([workerNode('b', odd), workerNode('c', labelled('')), workerNode('a', zoned)], EAGER),
      [
        {
          nodeName: 'a',
          providerID: 'fake://a',
          addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
          zone: 'z1',
        },
        { nodeName: 'b', providerID: 'fake://b', addresses: [{ type: 'InternalIP', address: '10.0.0.2' }] },
      ],
    );
  });

  it('ccm/S24: are the same whatever their order, and others with another name or provider ID', () => {
    const pairs = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,4}$/), fc.string()), {
      selector: ([name]) => name,
    });
    fc.assert(
      fc.property(pairs, pairs, (one, other) => {
        const same = (a: typeof one, b: typeof one) => areSameMachines(new Map(a), new Map(b));
        assert.equal(same(one, one.toReversed()), true);
        assert.equal(same(one, other), same(other, one));
        const text = (list: typeof one) => JSON.stringify(list.toSorted(([a], [b]) => (a < b ? -1 : 1)));
        assert.equal(same(one, other), text(one) === text(other));
      }),
    );
    const [x, y] = ['fake://x', 'fake://y'].map((providerID) =>
      machinesOf(backendsOf([workerNode('a', { spec: { providerID } })], EAGER)),
    );
    assert.equal(areSameMachines(x ?? new Map(), y ?? new Map()), false);
  });
});

describe('changes of nodes', () => {
  const cases: readonly {
    readonly name: string;
    readonly old?: NodeInput;
    readonly now: NodeInput;
    readonly want: boolean;
    readonly patient?: boolean;
  }[] = [
    { name: 'ccm/S22: an exclusion', now: labelled('true'), want: true },
    { name: 'ccm/S22: the end of an exclusion', old: labelled('x'), now: {}, want: true },
    { name: 'ccm/S22: another word for the same exclusion', old: labelled('x'), now: labelled('1'), want: false },
    { name: 'ccm/S22, ccm/C20: a label that excludes nobody', now: labelled('false'), want: false },
    { name: 'ccm/S22, ccm/C22: a provider ID', old: { spec: { providerID: '' } }, now: {}, want: true },
    { name: 'ccm/S22: another provider ID', now: { spec: { providerID: 'fake://other' } }, want: true },
    { name: 'ccm/S22: another label', now: { metadata: { labels: { a: 'b' } } }, want: false },
    { name: 'ccm/S22: a taint', now: tainted(LEAVING_TAINT), want: false },
    { name: 'ccm/S22: the beginning of a deletion', now: { metadata: { deletionTimestamp: 'x' } }, want: false },
    {
      name: 'ccm/B4: the end of the initialisation',
      old: tainted(UNINITIALIZED_TAINT),
      now: {},
      want: false,
      patient: true,
    },
    { name: 'ccm/B4: the first address', old: { addresses: [] }, now: {}, want: false, patient: true },
    {
      name: 'ccm/B4: one more address',
      now: { addresses: [{ type: 'ExternalIP', address: '203.0.113.7' }] },
      want: false,
    },
  ];
  for (const { name, old, now, want, patient = want } of cases)
    it(`${name} ${want ? 'concerns' : 'does not concern'} balancers${patient === want ? '' : ' that take all nodes'}`, () => {
      assert.equal(concernsBackends(workerNode('a', old), workerNode('a', now), EAGER), want);
      assert.equal(concernsBackends(workerNode('a', old), workerNode('a', now), PATIENT), patient);
    });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { PodStatus } from '../../../api/generated/core-v1-types.ts';
import type { OwnedStatus } from './pod-status.ts';
import { statusPatch } from './status-patch.ts';

const READY = { type: 'Ready', status: 'True', lastTransitionTime: 't' };

describe('statusPatch', () => {
  it('is nothing when nothing is to be changed', () => {
    const status: OwnedStatus = { phase: 'Running', podIPs: [{ ip: '1' }], conditions: [READY] };
    assert.equal(statusPatch(status, status), undefined);
    const theirs = { ...status, qosClass: 'Burstable', conditions: [{ type: 'Other', status: 'True' }, READY] };
    assert.equal(statusPatch(theirs as PodStatus, status), undefined, 'what others own does not matter');
    const looked = { ...status, conditions: [{ ...READY, lastProbeTime: 'p' }] };
    assert.equal(statusPatch(looked, status), undefined);
  });

  it('holds what differs and nothing else', () => {
    const before: PodStatus = { phase: 'Pending', hostIP: '1', containerStatuses: [] };
    const after: OwnedStatus = { phase: 'Running', hostIP: '1', containerStatuses: [] };
    assert.deepEqual(statusPatch(before, after), { phase: 'Running' });
  });

  it('takes away what is not wanted any more', () => {
    assert.deepEqual(statusPatch({ reason: 'a', message: 'b' }, { message: 'b' }), { reason: null });
    const before = { conditions: [{ ...READY, reason: 'r', message: 'm' }] };
    const want = { conditions: [{ ...READY, reason: null, message: null }] };
    assert.deepEqual(statusPatch(before, { conditions: [READY] }), want);
  });

  it('sends only the conditions that differ', () => {
    const other = { type: 'Initialized', status: 'False' };
    const after = { conditions: [READY, { ...other, status: 'True' }] };
    assert.deepEqual(statusPatch({ conditions: [READY, other] }, after), {
      conditions: [{ ...other, status: 'True' }],
    });
  });

  it('replaces addresses instead of adding to them', () => {
    const [one, two] = [[{ ip: '1' }], [{ ip: '2' }]];
    assert.deepEqual(statusPatch({}, { podIPs: one }), { podIPs: one });
    assert.deepEqual(statusPatch({ podIPs: one }, { podIPs: two }), { podIPs: [...two, { $patch: 'replace' }] });
    assert.equal(statusPatch({ podIPs: one }, {}), undefined, 'a pod keeps its address to the end');
  });

  it('is nothing after it was applied', () => {
    const text = fc.option(fc.constantFrom('a', 'b'), { nil: undefined });
    const status = fc.record({ reason: text, message: text, hostIP: text }, { requiredKeys: [] });
    fc.assert(
      fc.property(status, status, (before, after) => {
        const patch = statusPatch(before as PodStatus, after as OwnedStatus) ?? {};
        const merged = Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null);
        assert.equal(statusPatch(Object.fromEntries(merged) as PodStatus, after as OwnedStatus), undefined);
      }),
    );
  });
});

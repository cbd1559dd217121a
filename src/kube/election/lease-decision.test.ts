import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LeaseSpec } from '../../api/generated/coordination-v1.ts';
import { type Circumstances, decide, observe, released, renewed } from './lease-decision.ts';

const now = new Date('2026-05-04T03:02:01.123Z');
const NOW = '2026-05-04T03:02:01.123000Z';
const OLD = '2020-01-01T00:00:00.000000Z';
const FUTURE = '2099-01-01T00:00:00.000000Z';

const held = (holderIdentity: string, rest: LeaseSpec = {}): LeaseSpec => ({
  holderIdentity,
  leaseDurationSeconds: 15,
  acquireTime: OLD,
  renewTime: OLD,
  leaseTransitions: 3,
  ...rest,
});

/** Seen so since 100 s on our clock. */
const at = (
  spec: LeaseSpec | undefined,
  monotonicMs: number,
  rest: Partial<Circumstances> = {},
): Circumstances => ({
  exists: spec !== undefined,
  observed: spec === undefined ? undefined : observe(undefined, spec, 100_000),
  identity: 'me',
  leaseMs: 15_000,
  now,
  monotonicMs,
  ...rest,
});

const mine = (leaseTransitions: number, acquireTime = NOW) => ({
  holderIdentity: 'me',
  leaseDurationSeconds: 15,
  acquireTime,
  renewTime: NOW,
  leaseTransitions,
});

describe('decide', () => {
  const cases = [
    {
      name: 'creates a Lease that is not there',
      given: at(undefined, 0),
      want: { action: 'create', spec: mine(0) },
    },
    {
      name: 'takes a Lease without a record',
      given: at({}, 100_000),
      want: { action: 'update', spec: mine(1) },
    },
    {
      name: 'takes a Lease that was released, and counts it',
      given: at(held('', { leaseDurationSeconds: 1 }), 100_000),
      want: { action: 'update', spec: mine(4) },
    },
    {
      name: 'waits while the holder may be alive',
      given: at(held('other'), 114_999),
      want: { action: 'wait', holder: 'other', forMs: 1 },
    },
    {
      name: 'takes over when the record has not changed for its duration',
      given: at(held('other'), 115_000),
      want: { action: 'update', spec: mine(4) },
    },
    {
      name: 'goes by the duration in the record, not by its own',
      given: at(held('other', { leaseDurationSeconds: 60 }), 159_999),
      want: { action: 'wait', holder: 'other', forMs: 1 },
    },
    {
      name: 'counts from its own observation, whatever the clock of the holder says (past)',
      given: at(held('other', { renewTime: OLD }), 101_000),
      want: { action: 'wait', holder: 'other', forMs: 14_000 },
    },
    {
      name: 'counts from its own observation, whatever the clock of the holder says (future)',
      given: at(held('other', { renewTime: FUTURE }), 115_000),
      want: { action: 'update', spec: mine(4) },
    },
    {
      name: 'takes its own time when the record has none',
      given: at({ holderIdentity: 'other' }, 114_000),
      want: { action: 'wait', holder: 'other', forMs: 1000 },
    },
    {
      name: 'keeps beginning and count of a Lease that it holds already',
      given: at(held('me'), 100_000),
      want: { action: 'update', spec: mine(3, OLD) },
    },
  ];
  for (const { name, given, want } of cases) {
    it(`runtime/E2: ${name}`, () => assert.deepEqual(decide(given), want));
  }

  it('waits although the Lease was deleted under its holder, then creates it with the next count', () => {
    const given = { ...at(held('other'), 114_000), exists: false };
    assert.deepEqual(decide(given), { action: 'wait', holder: 'other', forMs: 1000 });
    assert.deepEqual(decide({ ...given, monotonicMs: 115_000 }), { action: 'create', spec: mine(4) });
  });

  it('keeps fields that it does not know', () => {
    const spec = { ...held(''), strategy: 'OldestEmulationVersion' };
    const decision = decide(at(spec, 100_000));
    assert.equal(decision.action === 'update' && 'strategy' in decision.spec, true);
  });

  it('rounds the duration up: others must not take over before we stop', () => {
    const decision = decide(at(undefined, 0, { leaseMs: 1500 }));
    assert.equal(decision.action === 'create' ? decision.spec.leaseDurationSeconds : 0, 2);
  });
});

describe('observe', () => {
  it('runtime/E2: an unchanged record keeps the time of its first sight, a changed one starts anew', () => {
    const first = observe(undefined, held('other'), 5);
    assert.equal(observe(first, held('other'), 9).atMs, 5);
    assert.equal(observe(first, held('other', { renewTime: NOW }), 9).atMs, 9);
  });
});

describe('records', () => {
  it('runtime/E4: a released Lease is free at once and keeps its count', () =>
    assert.deepEqual(released(held('me'), now), {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: NOW,
      renewTime: NOW,
      leaseTransitions: 3,
    }));

  it('runtime/E6: times have six digits', () => {
    for (const time of [renewed(held('me'), 15_000, now).renewTime, released(held('me'), now).acquireTime]) {
      assert.match(time ?? '', /T\d\d:\d\d:\d\d\.\d{6}Z$/);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ResourceRecord } from '../resources/resource-record.ts';
import { VersionHistory } from './version-history.ts';

const record = (id: number, generation: number): ResourceRecord => ({
  kind: 'things',
  id: `t-${id}`,
  serial: id,
  name: '',
  tags: {},
  state: 'active',
  createdAt: '',
  updatedAt: '',
  generation,
  fields: {},
});

const HORIZON_MS = 1000;

interface Step {
  readonly id: number;
  readonly afterMs: number;
  readonly isRemoval: boolean;
}

const steps = fc.array(
  fc.record({
    id: fc.integer({ min: 1, max: 3 }),
    afterMs: fc.integer({ min: 0, max: 600 }),
    isRemoval: fc.boolean(),
  }),
  { maxLength: 30 },
);

/** The same in the plainest way: every state of the world, with the moment it began. */
function replay(history: VersionHistory, given: readonly Step[]) {
  const worlds: { readonly sinceMs: number; readonly objects: ReadonlyMap<number, ResourceRecord> }[] = [];
  let objects = new Map<number, ResourceRecord>();
  let nowMs = 0;
  for (const [generation, { id, afterMs, isRemoval }] of given.entries()) {
    nowMs += afterMs;
    const before = objects.get(id);
    const now = isRemoval ? undefined : record(id, generation);
    objects = new Map(objects);
    if (now === undefined) objects.delete(id);
    else objects.set(id, now);
    history.note(before, now, nowMs);
    worlds.push({ sinceMs: nowMs, objects });
  }
  return { worlds, objects, nowMs };
}

describe('the history of versions', () => {
  it('lab/C7: shows the world as it was at any moment within the horizon', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: HORIZON_MS - 1 }), (given, agoMs) => {
        const history = new VersionHistory(HORIZON_MS);
        const { worlds, objects, nowMs } = replay(history, given);
        const thenMs = nowMs - agoMs;
        const expected =
          worlds.findLast(({ sinceMs }) => sinceMs <= thenMs)?.objects ?? new Map<number, ResourceRecord>();
        const current = [...objects.values()];
        const sorted = [...expected.values()].sort((a, b) => a.serial - b.serial);
        assert.deepEqual(history.list('things', current, thenMs), sorted);
        for (const id of [1, 2, 3]) {
          const found = history.get({ kind: 'things', id: `t-${id}` }, objects.get(id), thenMs);
          assert.deepEqual(found, expected.get(id));
        }
      }),
    );
  });

  it('forgets what is older, and shows what is true then', () => {
    const history = new VersionHistory(HORIZON_MS);
    history.note(undefined, record(1, 1), 0);
    history.note(undefined, record(2, 1), 5000);
    assert.deepEqual(history.get({ kind: 'things', id: 't-1' }, record(1, 1), 0 - 1), record(1, 1));
    assert.equal(history.get({ kind: 'things', id: 't-2' }, record(2, 1), 4999), undefined);
  });

  it('does not mix kinds', () => {
    const history = new VersionHistory(HORIZON_MS);
    history.note(undefined, record(1, 1), 10);
    assert.deepEqual(history.list('thing', [], 10), []);
    assert.deepEqual(history.list('other', [record(9, 1)], 10), [record(9, 1)]);
  });
});

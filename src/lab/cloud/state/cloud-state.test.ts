import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { CloudError } from '../cloud-error.ts';
import { KindCatalogue } from '../resources/kind-catalogue.ts';
import { defineKind } from '../resources/kind-definition.ts';
import { OPERATIONS } from '../resources/operation.ts';
import type { KindName, ResourceRecord } from '../resources/resource-record.ts';
import { CloudState } from './cloud-state.ts';
import type { LiveTransaction } from './live-transaction.ts';
import { type OpenedState, openState } from './state-log.ts';

interface ThingFields {
  readonly size: number;
  readonly colour?: string | undefined;
}

const THINGS: KindName<ThingFields> = { plural: 'things' };
const NOTES = { shelf: 'notes' };

const things = defineKind(THINGS, {
  singular: 'thing',
  idPrefix: 'thing',
  states: ['making', 'made', 'going', 'gone', 'error'],
  name: { isUnique: true },
  quotas: { size: 100 },
  usage: ({ fields }) => ({ size: fields.size }),
  deletion: { during: ['going'], rest: { state: 'gone', visibleMs: 500 } },
  transitions: {
    making: { durationMs: 1000, finish: () => ({ state: 'made' }) },
    going: { durationMs: 1000, finish: () => ({ state: 'gone' }) },
  },
});

function stateOf(opened: OpenedState, clock = new VirtualClock()): CloudState {
  const kinds = new KindCatalogue({});
  kinds.add(things);
  return new CloudState({ ...opened, kinds, seed: 1, clock, logger: SILENT_LOG });
}

const add = (state: CloudState, name: string, size = 1, at = 'made') =>
  state.commit((transaction) => transaction.add(THINGS, { name, state: at, fields: { size } })).result;

const step = fc.record({
  what: fc.constantFrom(
    'add',
    'paint',
    'unpaint',
    'go',
    'conclude',
    'fail',
    'remove',
    'note',
    'forget',
    'compact',
    'wait',
  ),
  which: fc.nat(5),
  size: fc.integer({ min: 1, max: 60 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

interface Doing {
  readonly transaction: LiveTransaction;
  readonly step: Step;
  readonly count: number;
}

/** What needs no object. */
const DEEDS: Readonly<Record<string, (doing: Doing) => void>> = {
  add: ({ transaction, step: { size }, count }) =>
    void transaction.add(THINGS, { name: `n${count % 7}`, state: 'making', fields: { size } }),
  note: ({ transaction, step: { which }, count }) =>
    transaction.place(NOTES, `__proto__${which}`, { count, nested: { ü: ['\u2028', null] } }),
  forget: ({ transaction, step: { which } }) => transaction.take(NOTES, `__proto__${which}`),
};

/** What is done to one. */
const CHANGES: Readonly<Record<string, (doing: Doing, record: ResourceRecord<ThingFields>) => void>> = {
  paint: ({ transaction, step: { size }, count }, record) =>
    void transaction.change(record, { fields: { colour: `c${count}`, size } }),
  unpaint: ({ transaction }, record) => void transaction.change(record, { fields: { colour: undefined } }),
  go: ({ transaction }, record) => void transaction.change(record, { state: 'going' }),
  remove: ({ transaction }, record) => transaction.remove(record),
};

/** What ends the transition of one. */
const ENDS: typeof CHANGES = {
  fail: ({ transaction }, record) => transaction.fail(record, { code: 'Internal', message: 'on purpose' }),
  conclude: ({ transaction }, record) =>
    transaction.conclude(record, { state: record.state === 'going' ? 'gone' : 'made' }),
};

/** Does something; what the rules refuse is refused. */
function perform(state: CloudState, step: Step, count: number): void {
  state.commit((transaction) => {
    const doing = { transaction, step, count };
    const records = transaction.list(THINGS);
    const record = records[step.which % Math.max(1, records.length)];
    DEEDS[step.what]?.(doing);
    if (record !== undefined) CHANGES[step.what]?.(doing, record);
    if (record?.transition !== undefined) ENDS[step.what]?.(doing, record);
  });
}

describe('the state of the cloud', () => {
  it('is what the log says, after anything that may happen and however often it is written anew', async () => {
    await using directory = await scratchDirectory();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = new VirtualClock();
        const path = `${directory.path}/${run++}`;
        const opened = openState(path, SILENT_LOG);
        const state = stateOf(opened, clock);
        for (const [count, each] of steps.entries()) {
          if (each.what === 'compact') opened.log.compact();
          else if (each.what === 'wait') await clock.advance(each.size * 10);
          else refusable(() => perform(state, each, count));
        }
        const before = [...opened.tables.snapshot()];
        opened.log[Symbol.dispose]();
        const again = openState(path, SILENT_LOG);
        using _ = again.log;
        assert.deepEqual([...again.tables.snapshot()], before);
      }),
      { numRuns: 60 },
    );
  });

  it('lab/C9: never uses more than a quota, whatever happens', async () => {
    await using directory = await scratchDirectory();
    const opened = openState(directory.path, SILENT_LOG);
    using _ = opened.log;
    const state = stateOf(opened);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        for (const [count, each] of steps.entries()) refusable(() => perform(state, each, count));
        const used = state.list(THINGS).reduce((sum, { fields }) => sum + fields.size, 0);
        assert.ok(used <= 100, String(used));
        const names = state.list(THINGS).map(({ name }) => name);
        assert.equal(new Set(names).size, names.length, 'unique names');
      }),
    );
  });

  it('does not change when a transaction is refused', async () => {
    await using directory = await scratchDirectory();
    const opened = openState(directory.path, SILENT_LOG);
    using _ = opened.log;
    const state = stateOf(opened);
    add(state, 'one');
    const before = [...opened.tables.snapshot()];
    assert.throws(() =>
      state.commit((transaction) => {
        transaction.add(THINGS, { name: 'two', state: 'making', fields: { size: 1 } });
        transaction.place(NOTES, 'a', {});
        for (const record of transaction.list(THINGS)) transaction.change(record, { state: 'going' });
        assert.equal(transaction.list(THINGS).length, 2, 'a transaction sees its own writes');
        throw new Error('no');
      }),
    );
    assert.deepEqual([...opened.tables.snapshot()], before);
    assert.deepEqual(
      state.list(THINGS).map(({ name }) => name),
      ['one'],
    );
  });

  it('lab/C3: does not change when a transaction cannot be kept, and reads go on', async () => {
    await using directory = await scratchDirectory();
    const opened = openState(directory.path, SILENT_LOG);
    const state = stateOf(opened);
    const one = add(state, 'one');
    opened.log[Symbol.dispose]();
    assert.throws(
      () => add(state, 'two'),
      (error) => error instanceof CloudError && error.code === 'Unavailable',
    );
    assert.deepEqual(state.list(THINGS), [one]);
    assert.deepEqual(state.getEarlier(THINGS, one.id, 1000), undefined);
  });

  it('lab/C10: has one operation for a chain of states, and ends it with the last', async () => {
    await using directory = await scratchDirectory();
    const opened = openState(directory.path, SILENT_LOG);
    using _ = opened.log;
    const state = stateOf(opened);
    const { id, transition } = add(state, 'one', 1, 'making');
    const stateNow = () => state.peek(OPERATIONS, transition?.operationId ?? '')?.state;
    state.commit((transaction) => transaction.conclude(transaction.demand(THINGS, id), { state: 'going' }));
    assert.equal(state.get(THINGS, id)?.transition?.operationId, transition?.operationId);
    assert.equal(stateNow(), 'running');
    state.commit((transaction) => transaction.conclude(transaction.demand(THINGS, id), { state: 'gone' }));
    assert.equal(stateNow(), 'succeeded');
  });

  it('lab/C2: forgets what has expired, with the next change', async () => {
    await using directory = await scratchDirectory();
    const clock = new VirtualClock();
    const opened = openState(directory.path, SILENT_LOG);
    using _ = opened.log;
    const state = stateOf(opened, clock);
    const record = add(state, 'one');
    state.commit((transaction) => transaction.change(record, { state: 'gone' }));
    await clock.advance(499);
    assert.equal(state.list(THINGS).length, 1);
    await clock.advance(1);
    assert.equal(state.list(THINGS).length, 0);
    const { moves } = state.commit((transaction) => transaction.place(NOTES, 'a', {}));
    assert.deepEqual(
      moves.map(({ before, now }) => [before?.id, now]),
      [[record.id, undefined]],
    );
    assert.equal(opened.tables.all('kind/things').size, 0);
  });
});

function refusable(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
  }
}

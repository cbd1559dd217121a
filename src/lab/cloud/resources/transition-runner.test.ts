import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../../test/support/scratch.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { CloudState } from '../state/cloud-state.ts';
import { Tables } from '../state/tables.ts';
import { KindCatalogue } from './kind-catalogue.ts';
import { defineKind } from './kind-definition.ts';
import type { KindName } from './resource-record.ts';
import { TransitionRunner } from './transition-runner.ts';

const THINGS: KindName<object> = { plural: 'things' };

/** A runner with a log that can break, and work that can be held up. */
function rig() {
  const clock = new VirtualClock();
  const kinds = new KindCatalogue({});
  const world = { isFull: false, works: [] as string[], work: async () => {} };
  kinds.add(
    defineKind(THINGS, {
      singular: 'thing',
      idPrefix: 't',
      states: ['making', 'made', 'going', 'error'],
      transitions: {
        making: { durationMs: 1000, work: () => worked('making'), finish: () => ({ state: 'made' }) },
        going: { durationMs: 1000, work: () => worked('going'), finish: () => 'gone' },
      },
    }),
  );
  const worked = async (state: string) => {
    world.works.push(`+${state}`);
    await world.work();
    world.works.push(`-${state}`);
    return undefined;
  };
  const append = () => {
    if (world.isFull) throw new Error('the disk is full');
  };
  const log = { append, compactIfLarge: () => undefined };
  const state = new CloudState({ tables: new Tables(), log, kinds, seed: 1, clock, logger: SILENT_LOG });
  const runner: TransitionRunner = new TransitionRunner({
    kinds,
    clock,
    log: SILENT_LOG,
    state,
    commit: async (work) => runner.follow(state.commit(work).moves),
    stuckMs: () => undefined,
    hold: () => ({ [Symbol.dispose]: () => undefined }),
  });
  const add = () => {
    const seed = { name: '', state: 'making', fields: {} };
    const { result, moves } = state.commit((transaction) => transaction.add(THINGS, seed));
    runner.follow(moves);
    return result;
  };
  const go = (id: string) => {
    const { moves } = state.commit((transaction) =>
      transaction.change(transaction.demand(THINGS, id), { state: 'going' }),
    );
    runner.follow(moves);
  };
  return { clock, state, runner, world, add, go };
}

describe('the runner of transitions', () => {
  it('lab/C10: tries again when the end of a state cannot be kept', async () => {
    const { clock, state, runner, world, add } = rig();
    await using _ = runner;
    const { id } = add();
    world.isFull = true;
    await clock.advance(1000);
    await runner.idle();
    assert.equal(state.get(THINGS, id)?.state, 'making');
    world.isFull = false;
    await clock.advance(1000);
    await runner.idle();
    assert.equal(state.get(THINGS, id)?.state, 'made');
  });

  it('lab/C10: never does two works of one object at a time, and the last state wins', async () => {
    const { clock, state, runner, world, add, go } = rig();
    await using _ = runner;
    const slow = Promise.withResolvers<void>();
    world.work = () => slow.promise;
    const { id } = add();
    await clock.advance(1000);
    go(id);
    await clock.advance(1000);
    assert.deepEqual(world.works, ['+making']);
    slow.resolve();
    await until(() => state.get(THINGS, id) === undefined, 'it is gone');
    assert.deepEqual(world.works, ['+making', '-making', '+going', '-going']);
  });

  it('lab/C10: does not let a state last longer than it was meant to when the clock was set back', async () => {
    const { clock, state, runner } = rig();
    await using _ = runner;
    const seed = { name: '', state: 'making', fields: {} };
    const { result: record } = state.commit((transaction) => transaction.add(THINGS, seed));
    const transition = {
      operationId: record.transition?.operationId ?? '',
      startedAt: '2100-01-01T00:00:00Z',
      durationMs: 1000,
    };
    runner.follow([{ before: undefined, now: { ...record, transition } }]);
    await clock.advance(1000);
    await runner.idle();
    assert.equal(state.get(THINGS, record.id)?.state, 'made');
  });

  it('lab/C10: stops with the cloud, whatever is due', async () => {
    const { clock, state, runner, world, add } = rig();
    const { id } = add();
    await runner[Symbol.asyncDispose]();
    await clock.advance(10_000);
    assert.deepEqual([state.get(THINGS, id)?.state, world.works], ['making', []]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Health, JourneyEvent, ProgressRow } from '../../api/journey.ts';
import { journeyPlan } from './plan.ts';
import { healthOf, leaves, rowAt } from './rows.ts';
import { EMPTY_JOURNEY, elapsedMs, isSlow, type JourneyState, reduce } from './state.ts';

const TS = '2026-01-02T09:14:02.000Z';
const plan = journeyPlan([], {
  version: '0.1.0',
  bootstrap: { isClone: true, node: { found: '24.0.0', using: '24.0.0' } },
  typical: { totalMs: undefined, phasesMs: { hub: 1000 } },
  isOnce: true,
  log: '.slipway/journey.log',
});

const event = (overrides: Partial<JourneyEvent>): JourneyEvent => ({
  ts: TS,
  atMs: 0,
  phase: 'hub',
  kind: 'progress',
  detail: '',
  ...overrides,
});

const stateAfter = (...events: readonly Partial<JourneyEvent>[]): JourneyState =>
  [{ phase: 'journey', kind: 'start', plan } as const, ...events].map(event).reduce(reduce, EMPTY_JOURNEY);

const row = (overrides: Partial<ProgressRow>): ProgressRow => ({
  path: ['cp-0'],
  health: 'working',
  word: 'Installing',
  ...overrides,
});

const percentsOf = ({ phases: [hub] }: JourneyState) => [
  hub?.percent,
  rowAt(hub?.rows ?? [], ['cp-0'])?.row?.percent,
];

describe('the state of a journey', () => {
  it('lists all phases of the plan from the start, in order', () => {
    const { phases } = stateAfter();
    assert.deepEqual(
      phases.map(({ number, id, health }) => `${number} ${id} ${health}`),
      ['hub', 'definition', 'cluster', 'cloud', 'storage', 'hardware', 'onboarding'].map(
        (id, at) => `${at + 1} ${id} waiting`,
      ),
    );
  });

  it('experience/X21: never lets a percent go backwards, of a phase or of a row', () => {
    const percents = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(percents, (values) => {
        const events = values.map((percent) => ({ percent, row: row({ percent }) }));
        const seen = events.map((_, at) => percentsOf(stateAfter({ kind: 'start' }, ...events.slice(0, at + 1))));
        const highest = values.map((_, at) => Math.max(...values.slice(0, at + 1)));
        assert.deepEqual(
          seen,
          highest.map((percent) => [percent, percent]),
        );
      }),
    );
  });

  it('keeps rows as a tree in the order they first appeared', () => {
    const paths = [['b'], ['a', 'x'], ['b', 'y'], ['a', 'w']];
    const { phases } = stateAfter({ kind: 'start' }, ...paths.map((path) => ({ row: row({ path }) })));
    const rows = phases[0]?.rows ?? [];
    assert.deepEqual(
      rows.map(({ name, children }) => [name, children.map((child) => child.name)]),
      [
        ['b', ['y']],
        ['a', ['x', 'w']],
      ],
    );
    assert.equal(leaves(rows).length, 3);
  });

  it('gives a group without a row of its own the worst health in it', () => {
    const healths: readonly Health[] = ['done', 'working', 'attention'];
    const events = healths.map((health, at) => ({ row: row({ path: ['group', `${at}`], health }) }));
    const [group] = stateAfter({ kind: 'start' }, ...events).phases[0]?.rows ?? [];
    assert.equal(group === undefined ? undefined : healthOf(group), 'attention');
  });

  it('takes a line away, and the group that was only there for it', () => {
    const paths = [['workers', 'w-0'], ['workers', 'w-1'], ['cp-0']];
    const rows = paths.map((path) => ({ row: row({ path }) }));
    const after = (...removed: readonly (readonly string[])[]) =>
      stateAfter({ kind: 'start' }, ...rows, ...removed.map((removedRow) => ({ removedRow }))).phases[0]?.rows ??
      [];
    assert.deepEqual(
      leaves(after(['workers', 'w-0'])).map(({ name }) => name),
      ['w-1', 'cp-0'],
    );
    assert.deepEqual(
      after(['workers', 'w-0'], ['workers', 'w-1'], ['nobody', 'x']).map(({ name }) => name),
      ['cp-0'],
    );
  });

  it('counts the time of a line from when its stage began, where that is said', () => {
    const since = '2026-01-02T09:14:00.500Z';
    const { phases } = stateAfter({ kind: 'start' }, { atMs: 10_000, row: row({ since }) });
    assert.equal(rowAt(phases[0]?.rows ?? [], ['cp-0'])?.startedMs, 8500);
  });

  it('fails a phase that had ended when something it left running is lost', () => {
    const { phases } = stateAfter(
      { kind: 'start' },
      { kind: 'end', health: 'done', durationMs: 5 },
      { kind: 'error', health: 'failed', detail: 'process 1 ended' },
    );
    assert.deepEqual(
      [phases[0]?.health, phases[0]?.detail, phases[0]?.durationMs],
      ['failed', 'process 1 ended', 5],
    );
  });

  it('starts a phase that is run again from nothing', () => {
    const { phases } = stateAfter(
      { kind: 'start' },
      { percent: 80, row: row({}) },
      { kind: 'end', health: 'failed' },
      { kind: 'start' },
    );
    assert.deepEqual([phases[0]?.percent, phases[0]?.rows, phases[0]?.health], [undefined, [], 'working']);
  });

  it('ignores events of phases that are not in the plan, but remembers them', () => {
    const state = stateAfter({ phase: 'nobody', detail: 'hello' });
    assert.deepEqual(state.phases, stateAfter().phases);
    assert.equal(state.recent.at(-1)?.detail, 'hello');
  });

  it('remembers the newest twenty events', () => {
    const events = Array.from({ length: 50 }, (_, at) => ({ detail: `${at}` }));
    assert.deepEqual(
      stateAfter(...events).recent.map(({ detail }) => Number(detail)),
      Array.from({ length: 20 }, (_, at) => at + 30),
    );
  });

  it('experience/X23: calls a phase slow after twice its typical time', () => {
    const [hub] = stateAfter({ kind: 'start' }).phases;
    assert.ok(hub !== undefined);
    assert.equal(elapsedMs(hub, 1500), 1500);
    assert.deepEqual([isSlow(hub, 1900), isSlow(hub, 2100)], [false, true]);
  });
});

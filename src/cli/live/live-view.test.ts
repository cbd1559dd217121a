import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { demoComponents } from '../../../test/support/demo-journey.ts';
import { recordedEvents } from '../../../test/support/recorded-journey.ts';
import type { Health, JourneyEvent } from '../../api/journey.ts';
import { EMPTY_JOURNEY, type JourneyState, reduce } from '../../app/journey/state.ts';
import { lineWidth, lookFor, painted } from './line.ts';
import { permanentLines, regionLines } from './live-view.ts';
import { ASCII, UNICODE } from './symbols.ts';
import { treeLines } from './tree-view.ts';

const [start] = await recordedEvents(demoComponents());
const TS = '2026-01-02T09:14:02.000Z';
const NOW_MS = 1500;

const event = (overrides: Partial<JourneyEvent>): JourneyEvent => ({
  ts: TS,
  atMs: 0,
  phase: 'cluster',
  kind: 'progress',
  detail: '',
  ...overrides,
});

const stateAfter = (...events: readonly JourneyEvent[]): JourneyState =>
  [...(start === undefined ? [] : [start]), event({ kind: 'start' }), ...events].reduce(reduce, EMPTY_JOURNEY);

const hosts = (healths: readonly Health[], group = 'hosts'): readonly JourneyEvent[] =>
  healths.map((health, at) =>
    event({ row: { path: [group, `host-${at}`], health, word: 'Installing', percent: at } }),
  );

const texts = (state: JourneyState, room: number, columns = 100): readonly string[] =>
  regionLines(state, { look: lookFor(columns, UNICODE), nowMs: NOW_MS, frame: 0, room, hasKeys: true }).map(
    (line) => painted(line, false),
  );

const HEALTHS = ['done', 'working', 'waiting', 'attention', 'failed', 'skipped'] as const;
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom(
    '\u001b[2J\u001b[H',
    '\u202eevil',
    'x'.repeat(253),
    '日本語'.repeat(20),
    '👩‍👩‍👧‍👦🚀',
    'a\nb\r\nc',
    'e\u0301'.repeat(50),
    '<img onerror>',
  ),
);
const hostileRow = fc.record({
  path: fc.array(hostile, { minLength: 1, maxLength: 3 }),
  health: fc.constantFrom(...HEALTHS),
  word: hostile,
  percent: fc.integer({ min: 0, max: 100 }),
  note: hostile,
});
const hostileEvents = fc.array(
  fc.oneof(
    hostileRow.map((row) => event({ row })),
    hostile.map((detail) => event({ detail })),
    hostile.map((detail) => event({ kind: 'warn', detail })),
    fc.tuple(hostile, hostile).map(([what, cause]) =>
      event({
        kind: 'end',
        health: 'failed',
        detail: what,
        failure: { what, cause, look: [cause], next: [what], code: 'SW1201' },
        addresses: [{ label: what, value: cause }],
      }),
    ),
    hostile.map((detail) => event({ phase: 'journey', kind: 'end', detail, durationMs: 1 })),
  ),
  { maxLength: 12 },
);

describe('every picture', () => {
  const shape = fc.record({
    columns: fc.integer({ min: 20, max: 200 }),
    rows: fc.integer({ min: 3, max: 60 }),
    glyphs: fc.constantFrom(UNICODE, ASCII),
  });

  it('experience/X7: fits the terminal, whatever the names are', () => {
    fc.assert(
      fc.property(hostileEvents, shape, (events, { columns, rows, glyphs }) => {
        const look = lookFor(columns, glyphs);
        let state = stateAfter();
        for (const next of events) {
          state = reduce(state, next);
          const region = regionLines(state, { look, nowMs: NOW_MS, frame: 1, room: rows - 2, hasKeys: true });
          assert.ok(region.length <= rows - 2, `${region.length} lines of ${rows - 2}`);
          for (const line of [...region, ...permanentLines(next, state, look)]) {
            assert.ok(lineWidth(line) < columns, painted(line, false));
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('shows hostile text as text', () => {
    fc.assert(
      fc.property(hostileEvents, shape, (events, { columns, glyphs }) => {
        const look = lookFor(columns, glyphs);
        const state = stateAfter(...events);
        const region = regionLines(state, { look, nowMs: NOW_MS, frame: 1, room: 40, hasKeys: true });
        const fixed = events.flatMap((next) => permanentLines(next, state, look));
        for (const line of [...region, ...fixed]) assert.doesNotMatch(painted(line, false), /[\p{Cc}\p{Cf}]/u);
      }),
      { numRuns: 100 },
    );
  });

  it('experience/X6: is plain ASCII where the locale is', () => {
    const look = lookFor(100, ASCII);
    const state = stateAfter(event({ detail: 'Größe · 日本 → x…' }), ...hosts(['done', 'working', 'failed']));
    const region = regionLines(state, { look, nowMs: NOW_MS, frame: 1, room: 40, hasKeys: true });
    for (const line of region) assert.match(painted(line, false), /^[\x20-\x7e]*$/);
  });
});

describe('the region', () => {
  it('experience/X3: folds finished branches first', () => {
    const state = stateAfter(
      ...hosts(['done', 'done', 'done'], 'control plane'),
      ...hosts(['working', 'working'], 'workers'),
    );
    const lines = texts(state, 9);
    assert.ok(lines.some((line) => line.includes('✔ 3 done in control plane')));
    assert.ok(lines.some((line) => line.includes('host-1')));
  });

  const crowd = (health: (at: number) => Health, ...group: readonly string[]): readonly JourneyEvent[] =>
    Array.from({ length: 100 }, (_, at) =>
      event({ row: { path: [...group, `host-${at}`], health: health(at), word: 'Installing' } }),
    );
  const mixed = (at: number): Health => (at < 60 ? 'done' : at < 95 ? 'working' : 'failed');
  const FAILED_HOSTS = [95, 96, 97, 98, 99].map((at) => `✖ host-${at}`);

  for (const columns of [120, 80, 58, 38]) {
    for (const group of [[], ['workers']]) {
      it(`experience/X3: shows failed hosts before finished and waiting ones, at ${columns} columns, ${group.length} groups`, () => {
        const text = texts(stateAfter(...crowd(mixed, ...group)), 15, columns).join('\n');
        for (const host of FAILED_HOSTS) assert.ok(text.includes(host), `${host}\n${text}`);
      });
    }
  }

  it('experience/X3: counts hosts, not lines, and says the truth about a group', () => {
    const lines = texts(stateAfter(...crowd(mixed, 'workers')), 14);
    assert.match(lines.find((line) => line.includes('workers')) ?? '', /60\/100 done$/);
    assert.ok(lines.some((line) => line.includes('✔ 60 done')));
    const shown = lines.filter((line) => line.includes('host-')).length;
    const more = Number(/… (\d+) more/.exec(lines.join('\n'))?.[1]);
    assert.equal(60 + shown - 1 + more, 100, 'the line "now" names a host too');
    assert.equal(lines.join('\n').match(/^ {4}└─/gm)?.length, 1);
  });

  it('draws a thousand hosts with work in proportion to their number, so that it can draw them many times a second', () => {
    const reads = (count: number): number => {
      let total = 0;
      const state = stateAfter(
        ...Array.from({ length: count }, (_, at) =>
          event({ row: { path: [`host-${at}`], health: 'failed', word: 'disk is broken' } }),
        ),
      );
      const counted = <T extends object>(value: T): T =>
        new Proxy(value, {
          get: (target, key, receiver) => {
            total++;
            return Reflect.get(target, key, receiver);
          },
        });
      const phases = state.phases.map((phase) => ({ ...phase, rows: counted(phase.rows.map(counted)) }));
      texts({ ...state, phases }, 30);
      permanentLines(event({ kind: 'end', health: 'failed' }), { ...state, phases }, lookFor(100, UNICODE));
      return total;
    };
    const [some, many] = [reads(100), reads(1000)];
    assert.ok(some >= 100, 'every host is looked at');
    assert.ok(many <= 20 * some, `${some} reads for 100 hosts, ${many} for 1000`);
  });

  it('experience/X21: says a percent as it is shown elsewhere: whole, and never going back', () => {
    const percents = [100 / 7.8, 3];
    const state = stateAfter(
      ...percents.map((percent) =>
        event({ row: { path: ['cp-1'], health: 'working', word: 'Writing image', percent } }),
      ),
    );
    assert.match(texts(state, 20).at(-1) ?? '', /now {2}cp-1: Writing image 13 % /);
  });

  it('shows what happens now even where there is room for hardly anything', () => {
    const state = stateAfter(...hosts(['working', 'working', 'working']));
    const lines = texts(state, 3, 20);
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? '', /^3 ◐ cluster/);
    assert.match(lines[1] ?? '', /^ now host-2: Ins…/);
    assert.ok(
      texts(state, 9, 58).some((line) => line.includes('host-2')),
      'phases to come make room for the tree',
    );
  });

  it('experience/X23: says that a phase takes longer than usual, while it works and when it has ended', () => {
    const slow = (state: JourneyState): JourneyState => ({
      ...state,
      phases: state.phases.map((one) => (one.id === 'cluster' ? { ...one, typicalMs: 500 } : one)),
    });
    assert.match(texts(slow(stateAfter()), 20)[0] ?? '', /▲ slow \(typical 0\.5 s\)/);
    const ended = event({ kind: 'end', health: 'done', detail: 'all is well', durationMs: 3000 });
    const lines = permanentLines(ended, slow(stateAfter(ended)), lookFor(100, UNICODE));
    assert.match(
      lines.map((line) => painted(line, false)).join('\n'),
      /all is well.*\n +▲ slow \(typical 0\.5 s\)/,
    );
  });

  it('experience/X32: while it stands, says what failed and how to try again', () => {
    const failed = event({ kind: 'end', health: 'failed', detail: 'no' });
    const standing = event({ phase: 'journey', stage: 'standing' });
    const state = stateAfter(failed, standing);
    assert.equal(texts(state, 20).at(-1), '  failed: cluster on bare metal · r try again · q quit');
    assert.match(texts(state, 20, 38).at(-1) ?? '', /^ {2}failed.*· r try again · q quit$/);
    assert.match(
      texts(stateAfter(standing), 20).at(-1) ?? '',
      /running · Ctrl-C stops everything.* h help · q quit$/,
    );
  });

  it('keeps columns apart when things take hours', () => {
    const row = { path: ['cp-0'], health: 'working', word: 'Installing', percent: 100 } as const;
    const state = stateAfter(event({ row, atMs: -3_600_000 }));
    assert.ok(texts(state, 20).some((line) => line.includes('100 %  1 h 00 m')));
  });

  it('experience/X3: then says how many more there are', () => {
    const lines = texts(stateAfter(...hosts(Array.from({ length: 40 }, () => 'working'))), 15);
    assert.equal(lines.length, 15);
    assert.ok(lines.some((line) => /… \d+ more/.test(line)));
  });

  it('experience/X3: keeps problems as long as anything', () => {
    const healths = Array.from({ length: 40 }, (_, at): Health => (at === 33 ? 'failed' : 'waiting'));
    assert.ok(texts(stateAfter(...hosts(healths)), 12).some((line) => line.includes('✖ host-33')));
  });

  it('shows bar, percent and time only where there is room', () => {
    const state = stateAfter(...hosts(['working']));
    assert.ok(texts(state, 20, 100).some((line) => line.includes('░░░░')));
    assert.ok(texts(state, 20, 80).some((line) => /host-0 {2}Installing +0 % +\d/.test(line)));
  });

  it('experience/X7: is a list below 40 columns', () => {
    const rows = stateAfter(...hosts(['working'])).phases[2]?.rows ?? [];
    const lines = treeLines(rows, { look: lookFor(30, UNICODE), nowMs: NOW_MS, room: 9 }).map((line) =>
      painted(line, false),
    );
    assert.deepEqual(lines, ['  hosts 0/1', '  ◐ host-0 0 % Installing']);
  });

  it('is empty when the journey is over', () => {
    assert.deepEqual(
      texts(reduce(stateAfter(), event({ phase: 'journey', kind: 'end', stage: 'ended' })), 20),
      [],
    );
  });
});

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
const NOW_MS = Date.parse(TS) + 1500;

const event = (overrides: Partial<JourneyEvent>): JourneyEvent => ({
  ts: TS,
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
    assert.ok(lines.some((line) => line.includes('✔ 3 of control plane')));
    assert.ok(lines.some((line) => line.includes('host-1')));
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

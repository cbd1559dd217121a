import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { demoComponents } from '../../../test/support/demo-journey.ts';
import { assertGoldenFile } from '../../../test/support/golden-file.ts';
import { recordedEvents } from '../../../test/support/recorded-journey.ts';
import { TROUBLED_USUAL_MS, troubledComponents } from '../../../test/support/troubled-journey.ts';
import type { JourneyEvent } from '../../api/journey.ts';
import { EMPTY_JOURNEY, type JourneyState, reduce } from '../../app/journey/state.ts';
import { accessibleLines } from './accessible-lines.ts';
import { jsonLine } from './json-lines.ts';
import { lookFor, painted } from './line.ts';
import { permanentLines, regionLines } from './live-view.ts';
import { logRenderer } from './presenter.ts';
import { ASCII, type Glyphs, UNICODE } from './symbols.ts';

const FOLDER = join(import.meta.dirname, '../../../test/golden/cli');

const assertGolden = (file: string, text: string): void => assertGoldenFile(join(FOLDER, file), text);

const SCENARIOS = [
  { name: 'all-green', record: () => recordedEvents(demoComponents(), { typicalMs: 22_400 }) },
  { name: 'failure-in-the-middle', record: () => recordedEvents(demoComponents({ fails: 'cloud' })) },
  {
    name: 'skipped-phases',
    record: () => recordedEvents(demoComponents({ without: ['storage', 'hardware', 'onboarding'] })),
  },
  {
    name: 'trouble-and-retry',
    record: () =>
      recordedEvents(troubledComponents(), {
        isOnce: false,
        phasesMs: TROUBLED_USUAL_MS,
        acts: ['retry', 'stop'],
      }),
  },
  { name: 'nothing-registered', record: () => recordedEvents([]) },
] as const;

const recorded = (name: string): readonly JourneyEvent[] =>
  readFileSync(join(FOLDER, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): JourneyEvent => JSON.parse(line));

interface Step {
  readonly event: JourneyEvent;
  readonly after: JourneyState;
  readonly before: JourneyState;
}

function steps(events: readonly JourneyEvent[]): readonly Step[] {
  let state = EMPTY_JOURNEY;
  return events.map((event) => {
    const before = state;
    state = reduce(before, event);
    return { event, after: state, before };
  });
}

const WIDTHS = [120, 100, 80, 58, 38] as const;
/** Often enough to see each part of the region, rarely enough to be read in review. */
const PICTURE_EVERY = 12;
const isPictured = ({ event, after }: Step, at: number): boolean =>
  at % PICTURE_EVERY === 0 || event.stage === 'standing' || after.recent.length === SHORT_STORY;
/** The number of an early event at which a phase has rows, even in a short journey. */
const SHORT_STORY = 9;

function livePicture(
  events: readonly JourneyEvent[],
  columns: number,
  glyphs: Glyphs,
  isColoured: boolean,
): string {
  const look = lookFor(columns, glyphs);
  const blocks = steps(events).map((step, at) => {
    const { event, after } = step;
    const fixed = permanentLines(event, after, look);
    const region = regionLines(after, { look, nowMs: event.atMs, frame: at, room: 22, hasKeys: true });
    const picture = isPictured(step, at) ? region : [];
    const shown = picture.map((line) => `| ${painted(line, isColoured)}`.trimEnd());
    return [...fixed.map((line) => painted(line, isColoured)), ...shown];
  });
  return `=== ${columns} columns (lines that start with | are the redrawn region) ===\n${blocks.flat().join('\n')}\n`;
}

const VARIANTS = [
  { variant: 'colour', glyphs: UNICODE, isColoured: true },
  { variant: 'no-colour', glyphs: UNICODE, isColoured: false },
  { variant: 'ascii', glyphs: ASCII, isColoured: false },
] as const;

describe('the golden pictures of a journey', () => {
  for (const { name, record } of SCENARIOS) {
    it(`${name}: the recorded events are what a journey publishes today`, async () => {
      const events = await record();
      assertGolden(`${name}.jsonl`, `${events.map((event) => JSON.stringify(event)).join('\n')}\n`);
    });

    for (const { variant, glyphs, isColoured } of VARIANTS) {
      it(`experience/X7: ${name} live, ${variant}`, () => {
        const pictures = WIDTHS.map((columns) => livePicture(recorded(name), columns, glyphs, isColoured));
        assertGolden(`${name}.${variant}.txt`, pictures.join('\n'));
      });
    }

    it(`experience/X4: ${name} as a log`, () => {
      const pictures = WIDTHS.map((columns) => {
        const render = logRenderer(lookFor(columns, UNICODE), false, false);
        const lines = steps(recorded(name)).flatMap(({ event, after, before }) => render(event, after, before));
        return `=== ${columns} columns ===\n${lines.join('\n')}\n`;
      });
      assertGolden(`${name}.log.txt`, pictures.join('\n'));
    });

    it(`experience/X5: ${name} for a screen reader`, () => {
      const lines = steps(recorded(name)).flatMap(({ event, after, before }) =>
        accessibleLines(event, after, before),
      );
      assertGolden(`${name}.accessible.txt`, `${lines.join('\n')}\n`);
    });

    it(`experience/X1: ${name} as JSON lines, which are the events themselves`, () => {
      const lines = recorded(name).map(jsonLine);
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        recorded(name),
      );
    });
  }

  it('experience/X30: dependants of a failed phase are skipped with the reason, others still run', () => {
    const text = readFileSync(join(FOLDER, 'failure-in-the-middle.no-colour.txt'), 'utf8');
    assert.match(text, /5 – storage and machines {8}skipped \(needs cloud\)/);
    assert.match(text, /6 ✔ hardware/);
  });
});

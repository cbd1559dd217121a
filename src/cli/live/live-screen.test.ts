import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import xterm from '@xterm/headless';
import { type DemoOptions, demoComponents } from '../../../test/support/demo-journey.ts';
import { type FakeTerminal, type FakeTerminalOptions, fakeTerminal } from '../../../test/support/fake-terminal.ts';
import { inVirtualTime, journeyOf, recordingClock } from '../../../test/support/recorded-journey.ts';
import { component, kept, phase } from '../../../test/support/simple-journey.ts';
import type { Component } from '../../app/components.ts';
import type { Phase } from '../../app/journey/phase.ts';
import { LiveScreen } from './live-screen.ts';
import { UNICODE } from './symbols.ts';

interface ScreenOptions extends FakeTerminalOptions {
  readonly demo?: DemoOptions;
  readonly components?: readonly Component[];
  readonly isOnce?: boolean;
  readonly isColoured?: boolean;
}

function liveJourney({ demo, isOnce = true, isColoured = true, ...options }: ScreenOptions = {}) {
  const { components = demoComponents(demo), ...shape } = options;
  const clock = recordingClock();
  const journey = journeyOf(components, clock, { isOnce });
  const terminal = fakeTerminal(shape);
  const screen = new LiveScreen({ journey, terminal, clock, glyphs: UNICODE, isColoured, doesReflow: true });
  const stop = new AbortController();
  screen.start();
  const end = journey.run(stop.signal);
  const finish = async () => {
    await inVirtualTime(clock, end);
    screen[Symbol.dispose]();
  };
  return { clock, journey, terminal, stop, screen, end, finish };
}

const isCursorVisible = (output: string): boolean =>
  output.lastIndexOf('\u001b[?25h') > output.lastIndexOf('\u001b[?25l');

/** A real terminal emulator that sees what the fake terminal was given. */
class Emulator {
  readonly #terminal: xterm.Terminal;
  #seen = 0;

  constructor(columns: number, rows: number) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 1000, allowProposedApi: true });
  }

  async see(terminal: FakeTerminal): Promise<void> {
    const bytes = terminal.output();
    await new Promise<void>((done) => this.#terminal.write(bytes.slice(this.#seen), done));
    this.#seen = bytes.length;
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** Scrollback and screen, without empty lines at the end. */
  text(): string {
    const { active } = this.#terminal.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, at) => active.getLine(at)?.translateToString(true) ?? '',
    );
    return lines.join('\n').trimEnd();
  }
}

const occurrences = (text: string, part: string): number => text.split(part).length - 1;

describe('a live screen', () => {
  it('ends with exactly the permanent lines, each once, and the cursor visible', async () => {
    const { terminal, finish } = liveJourney();
    const emulator = new Emulator(100, 40);
    await finish();
    await emulator.see(terminal);
    const text = emulator.text();
    for (const title of ['1 ✔ hub', '3 ✔ cluster on bare metal', '7 ▲ onboarding', '➜ log']) {
      assert.equal(occurrences(text, title), 1, title);
    }
    assert.doesNotMatch(text, /now {2}|q quit|◐|░/);
    assert.match(text, /nothing is left running$/);
    assert.ok(isCursorVisible(terminal.output()));
  });

  it('experience/X3: draws the region again at the bottom, below the permanent lines', async () => {
    const { clock, terminal, stop, finish } = liveJourney();
    const emulator = new Emulator(100, 40);
    await clock.advance(3000);
    await emulator.see(terminal);
    const text = emulator.text();
    assert.equal(occurrences(text, 'cluster on bare metal'), 1);
    assert.match(text, /2 ✔ definition[\s\S]*3 \S cluster on bare metal[\s\S]*now {2}/);
    stop.abort();
    await finish();
  });

  it('experience/X7: leaves nothing behind when the terminal is resized', async () => {
    const { clock, terminal, stop, finish } = liveJourney();
    const emulator = new Emulator(100, 40);
    // A region that no longer fits the screen when wrapped scrolls out of reach; no program can take that back.
    for (const [columns, rows] of [
      [58, 40],
      [38, 40],
      [120, 30],
      [70, 50],
      [100, 40],
    ] as const) {
      await clock.advance(1000);
      await emulator.see(terminal);
      emulator.resize(columns, rows);
      terminal.resize(columns, rows);
      await emulator.see(terminal);
      const text = emulator.text();
      assert.equal(occurrences(text, '3 ✔'), 0);
      assert.equal(text.match(/\bnow /g)?.length, 1, `one region at ${columns} columns:\n${text}`);
      assert.equal(occurrences(text, 'cluster on bare metal'), 1, `one phase at ${columns} columns:\n${text}`);
    }
    stop.abort();
    await finish();
    await emulator.see(terminal);
    assert.doesNotMatch(emulator.text(), /now {2}|░/);
  });

  it('experience/X3: writes at most ten times a second, and nothing when nothing changes', async () => {
    const { clock, terminal, stop, finish } = liveJourney({ demo: { speed: 100 }, isOnce: false });
    await clock.advance(1000);
    assert.ok(terminal.writes.length <= 11, `${terminal.writes.length} writes`);
    await clock.advance(5000);
    const before = terminal.writes.length;
    await clock.advance(60_000);
    assert.equal(terminal.writes.length, before, 'a journey that stands still is silent');
    stop.abort();
    await finish();
  });

  it('experience/X3: never clears the screen or the scrollback, never takes the alternate screen', async () => {
    const { terminal, finish } = liveJourney({ demo: { fails: 'cloud' } });
    await finish();
    // oxlint-disable-next-line no-control-regex -- escape codes are what is looked for
    assert.doesNotMatch(terminal.output(), /\u001b\[[23]J|\u001bc|\u001b\[\?(1049|1047|47)h|\u001b\[H/);
  });

  it('experience/X6: has no colour codes without colour', async () => {
    const { terminal, finish } = liveJourney({ isColoured: false });
    await finish();
    // oxlint-disable-next-line no-control-regex -- escape codes are what is looked for
    assert.doesNotMatch(terminal.output(), /\u001b\[[0-9;]*m/);
  });

  it('experience/X8: gives the cursor back when the process just ends', async () => {
    const { clock, terminal, stop, finish } = liveJourney();
    await clock.advance(2000);
    assert.equal(isCursorVisible(terminal.output()), false);
    terminal.exit();
    assert.ok(isCursorVisible(terminal.output()));
    const length = terminal.output().length;
    stop.abort();
    await finish();
    assert.equal(terminal.output().length, length, 'and writes nothing after that');
  });

  it('experience/X7: lays out what was said before a resize for the terminal as it is now', async () => {
    const { clock, terminal, stop, finish } = liveJourney({ columns: 120 });
    await clock.advance(1000);
    terminal.press('h');
    const before = terminal.writes.length;
    // Too soon after the picture before: it waits for the next one, and the terminal is narrow by then.
    terminal.press('e');
    terminal.resize(38, 60);
    const written = terminal.writes.slice(before).join('').replaceAll('\u001b[2K', '');
    const text = written.replace(/\s+/g, ' ');
    assert.match(text, /definition: examples\/acme-cloud · 9 of 12 capabilities · lint 0 errors/);
    stop.abort();
    await finish();
  });

  it('experience/X23: measures time on a clock that never jumps', async () => {
    const { clock, terminal, stop, finish } = liveJourney();
    await clock.advance(0);
    await clock.advance(2000);
    const now = clock.now.bind(clock);
    clock.now = () => new Date(now().getTime() + 3_600_000);
    await clock.advance(1000);
    clock.now = () => new Date(now().getTime() - 3_600_000);
    await clock.advance(1000);
    const emulator = new Emulator(100, 40);
    await emulator.see(terminal);
    assert.match(emulator.text(), /cluster on bare metal.* 3\.\d s$/m);
    assert.doesNotMatch(emulator.text(), / h \d\d m| 0\.0 s/);
    stop.abort();
    await finish();
  });

  it('experience/X13: shows what only a live terminal may show', async () => {
    const value = 'http://127.0.0.1:7440/';
    const run: Phase['run'] = async (context) => {
      kept(context, 'page');
      return { health: 'done', detail: '', addresses: [{ label: 'page', value, liveValue: `${value}#t=3fd1` }] };
    };
    const { clock, terminal, stop, finish } = liveJourney({
      components: component(phase({ run })),
      isOnce: false,
    });
    await clock.advance(0);
    await clock.advance(1000);
    assert.match(terminal.output(), /page .*http:\/\/127\.0\.0\.1:7440\/#t=3fd1/);
    stop.abort();
    await finish();
  });

  it('experience/X26: says at once that it is stopping', async () => {
    const { clock, terminal, stop, finish } = liveJourney();
    await clock.advance(2000);
    stop.abort();
    await clock.advance(100);
    assert.match(terminal.output(), /stopping…/);
    await finish();
  });
});

describe('the keys', () => {
  it('experience/X25: q and Ctrl-C ask the process to stop', async () => {
    const { terminal, stop, finish } = liveJourney();
    terminal.press('q');
    terminal.press('\u0003');
    assert.deepEqual(terminal.interruptions, ['SIGINT', 'SIGINT']);
    stop.abort();
    await finish();
  });

  it('experience/X25: h shows the keys, quit first; retry only where there is something to retry', async () => {
    const { clock, terminal, stop, finish } = liveJourney({ isOnce: false, demo: { fails: 'cloud', speed: 10 } });
    terminal.press('h');
    await clock.advance(200);
    assert.match(terminal.output(), /keys[\s\S]*q[\s\S]*quit[\s\S]*these lines/);
    assert.doesNotMatch(terminal.output(), /try again/);
    await clock.advance(30_000);
    terminal.press('h');
    await clock.advance(200);
    assert.match(terminal.output(), /try again what failed/);
    stop.abort();
    await finish();
  });

  it('experience/X25: e shows the last events', async () => {
    const { clock, terminal, stop, finish } = liveJourney();
    await clock.advance(1000);
    terminal.press('e');
    await clock.advance(200);
    assert.match(terminal.output(), /the last 1\d events/);
    assert.match(
      terminal.output(),
      /\d\d:\d\d:\d\d (UTC|GMT|[A-Z]{2,5}).{0,4} {2}hub: /,
      'local time with its zone',
    );
    stop.abort();
    await finish();
  });

  it('experience/X32: r runs again what failed', async () => {
    const { clock, terminal, stop, finish } = liveJourney({ isOnce: false, demo: { fails: 'cloud', speed: 10 } });
    await clock.advance(30_000);
    terminal.press('r');
    await clock.advance(400);
    assert.match(terminal.output(), /trying again: cloud, storage and machines/);
    stop.abort();
    await finish();
  });

  it('Ctrl-Z gives the terminal back and draws again on return', async () => {
    const { clock, terminal, stop, finish } = liveJourney();
    await clock.advance(2000);
    terminal.press('\u001a');
    assert.deepEqual(terminal.interruptions, ['SIGTSTP']);
    const [closed, redrawn] = terminal.writes.slice(-2);
    assert.ok(isCursorVisible(closed ?? ''));
    assert.equal(isCursorVisible(redrawn ?? ''), false);
    stop.abort();
    await finish();
  });

  it('arrow keys and pasted sequences do nothing', async () => {
    const { terminal, stop, finish } = liveJourney();
    terminal.press('\u001b[A');
    terminal.press('\u001bq');
    assert.deepEqual(terminal.interruptions, []);
    stop.abort();
    await finish();
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type DemoOptions, demoComponents } from '../../../test/support/demo-journey.ts';
import { inVirtualTime, recordingClock } from '../../../test/support/recorded-journey.ts';
import type { JourneyEvent } from '../../api/journey.ts';
import { acquireRunLock } from '../journey/run-lock.ts';
import { runUp } from '../journey/up.ts';
import type { VerbContext } from '../verb.ts';
import { upVerb } from './up.ts';

const SETTINGS = { once: true, port: undefined, data: '.slipway', from: undefined } as const;

describe('slipway up', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'slipway-up-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function start(settings: Partial<Parameters<typeof runUp>[2]>, demo?: DemoOptions) {
    const clock = recordingClock();
    const stop = new AbortController();
    const events: JourneyEvent[] = [];
    const show: VerbContext['output']['show'] = (journey) => {
      journey.subscribe((event) => events.push(event));
      return { [Symbol.asyncDispose]: async () => {} };
    };
    const output = { result: () => {}, hint: () => {}, show };
    const context = { output, clock, signal: stop.signal, folder, env: {} };
    const components = demo === undefined ? [] : demoComponents(demo);
    const exit = runUp(components, context, { ...SETTINGS, ...settings });
    return { clock, stop, events, exit, finished: () => inVirtualTime(clock, exit) };
  }

  it('exits 0 with nothing registered, with and without --once, having said what will come', async () => {
    for (const once of [true, false]) {
      const run = start({ once });
      assert.equal(await run.finished(), 0);
      const plan = run.events[0]?.plan;
      assert.equal(plan?.phases.length, 7);
      assert.ok(plan.phases.every(({ promise }) => promise.endsWith('.')));
      assert.ok(plan.commands.length > 0);
    }
  });

  it('leaves a log and, from the first good run, a history, but no lock', async () => {
    assert.equal(await start({}, {}).finished(), 0);
    assert.deepEqual(readdirSync(join(folder, '.slipway')).sort(), ['history.jsonl', 'journey.log']);
  });

  it('experience/X23: knows typical times from the third run on', async () => {
    const typical: (number | undefined)[] = [];
    for (let run = 1; run <= 3; run++) {
      const { events, finished } = start({}, {});
      await finished();
      typical.push(events[0]?.plan?.typicalMs);
    }
    assert.deepEqual(
      typical.map((ms) => ms !== undefined),
      [false, false, true],
    );
  });

  it('exits 1 when a phase failed', async () => {
    assert.equal(await start({}, { fails: 'cloud' }).finished(), 1);
  });

  it('experience/X14: exits 130 when interrupted before the end', async () => {
    const run = start({ once: false }, {});
    await run.clock.advance(1000);
    run.stop.abort();
    assert.equal(await run.finished(), 130);
  });

  it('experience/X14: exits 0 when stopped after the end, even if a phase failed', async () => {
    const run = start({ once: false }, { fails: 'cloud' });
    await run.clock.advance(120_000);
    run.stop.abort();
    assert.equal(await run.finished(), 0);
  });

  it('refuses an unknown phase with the nearest one', async () => {
    const message = '--from must name a phase, not "clod". Did you mean cloud?';
    await assert.rejects(start({ from: 'clod' }).exit, { message, exitCode: 2 });
  });

  it('experience/X27: refuses to start twice in one folder', async () => {
    using _lock = acquireRunLock({ folder, data: join(folder, '.slipway'), now: () => new Date() });
    await assert.rejects(start({}).exit, { exitCode: 3, code: 'SW1102' });
  });

  it('keeps its data where it is told to', async () => {
    await start({ data: 'elsewhere' }).finished();
    assert.deepEqual(readdirSync(folder), ['elsewhere']);
  });

  it('has only settings that do something, and each is explained', () => {
    assert.deepEqual(Object.keys(upVerb.settings), ['once', 'port', 'data', 'from']);
  });
});

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { demoComponents } from '../../../test/support/demo-journey.ts';
import { inVirtualTime, recordingClock } from '../../../test/support/recorded-journey.ts';
import { component, DONE, FAILED, kept, never, phase } from '../../../test/support/simple-journey.ts';
import type { JourneyEvent } from '../../api/journey.ts';
import type { Component } from '../components.ts';
import { readHistory } from '../journey/history-file.ts';
import type { Journey } from '../journey/journey.ts';
import type { Phase } from '../journey/phase.ts';
import { acquireRunLock } from '../journey/run-lock.ts';
import { runUp } from '../journey/up.ts';
import { upVerb } from './up.ts';

const SETTINGS = {
  once: true,
  port: undefined,
  data: '.slipway',
  from: undefined,
  provider: undefined,
  scenario: undefined,
} as const;

describe('slipway up', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'slipway-up-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function start(settings: Partial<Parameters<typeof runUp>[2]>, components: readonly Component[] = []) {
    const clock = recordingClock();
    const stop = new AbortController();
    const events: JourneyEvent[] = [];
    const journeys: Journey[] = [];
    const show = (journey: Journey): Disposable => {
      journeys.push(journey);
      journey.subscribe((event) => events.push(event));
      return { [Symbol.dispose]: () => {} };
    };
    const output = { result: () => {}, hint: () => {}, show };
    const context = { output, clock, signal: stop.signal, folder, env: {} };
    const exit = runUp(components, context, { ...SETTINGS, ...settings });
    return { clock, stop, events, journeys, exit, finished: () => inVirtualTime(clock, exit) };
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
    assert.equal(await start({}, demoComponents()).finished(), 0);
    assert.deepEqual(readdirSync(join(folder, '.slipway')).sort(), ['history.jsonl', 'journey.log']);
  });

  it('experience/X23: knows typical times from the third run on', async () => {
    const typical: (number | undefined)[] = [];
    for (let run = 1; run <= 3; run++) {
      const { events, finished } = start({}, demoComponents());
      await finished();
      typical.push(events[0]?.plan?.typicalMs);
    }
    assert.deepEqual(
      typical.map((ms) => ms !== undefined),
      [false, false, true],
    );
  });

  it('exits 1 when a phase failed', async () => {
    assert.equal(await start({}, demoComponents({ fails: 'cloud' })).finished(), 1);
  });

  it('experience/X14: exits 130 when interrupted before the end', async () => {
    const run = start({ once: false }, demoComponents());
    await run.clock.advance(1000);
    run.stop.abort();
    assert.equal(await run.finished(), 130);
  });

  it('experience/X14: exits 0 when stopped after the end, even if a phase failed', async () => {
    const run = start({ once: false }, demoComponents({ fails: 'cloud' }));
    await run.clock.advance(120_000);
    run.stop.abort();
    assert.equal(await run.finished(), 0);
  });

  it('refuses an unknown phase with the nearest one', async () => {
    const message = '--from must name a phase, not "clod". Did you mean cloud?';
    await assert.rejects(start({ from: 'clod' }).exit, { message, exitCode: 2 });
  });

  it('takes the title that a phase has for now', async () => {
    const provisional = { title: 'lab', promise: 'Nodes come up.' };
    const run = start({ from: 'lab', once: true }, component(phase({ id: 'cluster', provisional })));
    assert.equal(await run.finished(), 0);
  });

  it('experience/X27: refuses to start twice in one folder', async () => {
    using _lock = acquireRunLock({ folder, data: join(folder, '.slipway'), now: () => new Date() });
    await assert.rejects(start({}).exit, { exitCode: 3, code: 'SW1102' });
  });

  const paged = (more: Partial<Phase> = {}): readonly Component[] =>
    component(
      phase({
        run: async (context) => {
          kept(context, 'page');
          return { health: 'done', detail: '', addresses: [{ label: 'page', value: 'http://127.0.0.1:7440/' }] };
        },
        ...more,
      }),
    );

  it('experience/X27: tells a second start the address of the first', async () => {
    const run = start({ once: false }, paged());
    await run.clock.advance(1000);
    await assert.rejects(start({}).exit, /It is at http:\/\/127\.0\.0\.1:7440\//);
    run.stop.abort();
    assert.equal(await run.finished(), 0);
  });

  it('goes on when the address cannot be written down, and says so', async () => {
    const run = start({ once: true }, paged());
    mkdirSync(join(folder, '.slipway', 'up.lock.new'));
    assert.equal(await run.finished(), 0);
    const warnings = run.events.filter(({ kind }) => kind === 'warn').map(({ detail }) => detail);
    assert.match(warnings.join(), /^a second start will not know the address of this one: EISDIR/);
    assert.ok(run.events.some(({ detail }) => detail === 'stopped page'));
  });

  it('experience/X23: remembers a run once, however often it is retried', async () => {
    let attempts = 0;
    const flaky = phase({ id: 'cloud', run: async () => (++attempts < 3 ? FAILED : DONE) });
    const run = start({ once: false }, [...paged(), ...component(flaky)]);
    for (let retry = 0; retry < 3; retry++) {
      await run.clock.advance(1000);
      run.journeys[0]?.retry();
    }
    await run.clock.advance(1000);
    run.stop.abort();
    assert.equal(await run.finished(), 0);
    assert.equal(attempts, 3);
    assert.equal(readHistory(join(folder, '.slipway')).length, 1);
  });

  it('exits with 1 when something could not be stopped', async () => {
    const run = start({ once: true }, paged({ run: async (context) => (kept(context, 'page', never), DONE) }));
    assert.equal(await run.finished(), 1);
  });

  it('gives the command to continue with the settings of this one', async () => {
    const run = start(
      { data: 'my data', port: 0, scenario: 'two clouds.yaml' },
      demoComponents({ fails: 'cloud' }),
    );
    await run.finished();
    const failure = run.events.find((event) => event.failure !== undefined)?.failure;
    assert.equal(
      failure?.next.at(-1),
      "npx slipway up --from cloud --once --data 'my data' --port 0 --scenario 'two clouds.yaml'",
    );
    assert.equal(failure?.look.at(-1), 'my data/journey.log');
  });

  it('keeps its data where it is told to', async () => {
    await start({ data: 'elsewhere' }).finished();
    assert.deepEqual(readdirSync(folder), ['elsewhere']);
  });

  it('has only settings that do something, and each is explained', () => {
    assert.deepEqual(Object.keys(upVerb.settings), ['once', 'port', 'data', 'from', 'provider', 'scenario']);
  });
});

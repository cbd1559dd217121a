import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  inVirtualTime,
  journeyOf,
  recordedEvents,
  recordingClock,
} from '../../../test/support/recorded-journey.ts';
import type { JourneyEvent } from '../../api/journey.ts';
import { userError } from '../../base/errors.ts';
import { Handover, type Phase, type PhaseContext, type PhaseOutcome, type Probe } from './phase.ts';

const DONE: PhaseOutcome = { health: 'done', detail: 'all is well' };
const FAILED: PhaseOutcome = { health: 'failed', detail: 'it did not work', code: 'SW1201' };

const phase = (overrides: Partial<Phase> = {}): Phase => ({
  id: 'hub',
  needs: [],
  probes: [],
  run: async () => DONE,
  ...overrides,
});

const component = (...phases: readonly Phase[]) => [{ name: 'test', phases }];

const probe = (predicate: string, isTrue: boolean): Probe => ({
  predicate,
  ask: async () => (isTrue ? { isTrue } : { isTrue, evidence: `${predicate} is false` }),
});

/** `hub done`, `cloud skipped (needs hub)` … of every phase that ended and is registered. */
const ends = (events: readonly JourneyEvent[]): readonly string[] =>
  events
    .filter(
      ({ kind, phase: id, detail }) =>
        kind === 'end' && id !== 'journey' && detail !== 'not part of this version yet',
    )
    .map(({ phase: id, health, detail }) => `${id} ${health}${health === 'skipped' ? ` (${detail})` : ''}`);

const failureOf = (events: readonly JourneyEvent[]) =>
  events.find(({ failure }) => failure !== undefined)?.failure;

const tick = async (context: PhaseContext) => context.clock.sleep(1000, context.signal);

/** A journey that is run step by step, with everything it said. */
function running(phases: readonly Phase[], isOnce: boolean) {
  const clock = recordingClock();
  const journey = journeyOf(component(...phases), clock, { isOnce });
  const stop = new AbortController();
  const details: string[] = [];
  journey.subscribe(({ detail }) => details.push(detail));
  return { clock, journey, stop, details, end: journey.run(stop.signal) };
}

const kept = (context: PhaseContext, name: string, onStop: () => void = () => {}) =>
  context.keep(name, { [Symbol.asyncDispose]: async () => onStop() });

describe('a journey', () => {
  it('runs the phases in order and times them', async () => {
    const run: Phase['run'] = async (context) => {
      await tick(context);
      return DONE;
    };
    const events = await recordedEvents(component(phase({ run }), phase({ id: 'cloud', run })));
    assert.deepEqual(ends(events), ['hub done', 'cloud done']);
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'end').flatMap(({ durationMs }) => durationMs ?? []),
      [1000, 1000, 2000],
    );
  });

  it('experience/X30: skips what needs a failed phase, and runs the others', async () => {
    const events = await recordedEvents(
      component(
        phase({ id: 'hub', run: async () => FAILED }),
        phase({ id: 'cloud', needs: ['hub'] }),
        phase({ id: 'storage', needs: ['cloud'] }),
        phase({ id: 'onboarding' }),
      ),
    );
    const want = ['hub failed', 'cloud skipped (needs hub)', 'storage skipped (needs cloud)', 'onboarding done'];
    assert.deepEqual(ends(events), want);
  });

  it('experience/X30: names the failed phases in its last line when it runs once', async () => {
    const events = await recordedEvents(
      component(phase({ run: async () => FAILED }), phase({ id: 'storage', run: async () => FAILED })),
    );
    assert.equal(events.at(-1)?.detail, 'failed: hub, storage and machines');
  });

  it('says that phases nobody registered are not part of this version yet', async () => {
    const events = await recordedEvents([]);
    const skipped = events.filter(({ health }) => health === 'skipped');
    assert.equal(skipped.length, 7);
    assert.ok(skipped.every(({ detail }) => detail === 'not part of this version yet'));
  });

  it('hands values from one phase to a later one', async () => {
    const address = new Handover<string>('address of the hub');
    const seen: string[] = [];
    const hub = phase({
      run: async (context) => {
        address.put(context, '127.0.0.1:1');
        return DONE;
      },
    });
    const cloud = phase({
      id: 'cloud',
      run: async (context) => {
        seen.push(address.get(context));
        return DONE;
      },
    });
    await recordedEvents(component(hub, cloud));
    assert.deepEqual(seen, ['127.0.0.1:1']);
    const alone = await recordedEvents(component(cloud));
    assert.deepEqual(ends(alone), ['cloud failed'], 'values do not leak from one journey into another');
  });

  it('starts at a phase, running earlier ones only where they are needed', async () => {
    const phases = component(
      phase({ id: 'hub' }),
      phase({ id: 'definition' }),
      phase({ id: 'cluster', needs: ['hub'] }),
      phase({ id: 'cloud', needs: ['cluster'] }),
    );
    const events = await recordedEvents(phases, { from: 'cloud' });
    assert.deepEqual(ends(events), [
      'hub done',
      'definition skipped (starts at cloud)',
      'cluster done',
      'cloud done',
    ]);
  });

  it('tells late comers everything so far', async () => {
    const { journey, clock, end } = running([phase()], true);
    await inVirtualTime(clock, end);
    assert.equal(journey.state.phases[0]?.health, 'done');
    assert.equal(journey.state.stage, 'stopped');
  });

  it('keeps the order of events when a listener publishes one itself', async () => {
    const clock = recordingClock();
    const journey = journeyOf(component(phase()), clock);
    const heard: string[] = [];
    journey.subscribe(({ kind, phase: id }) => {
      if (kind === 'start' && id === 'hub') journey.warn('from a listener');
    });
    journey.subscribe(({ kind, phase: id }) => heard.push(`${id} ${kind}`));
    await inVirtualTime(clock, journey.run(new AbortController().signal));
    assert.deepEqual(heard.slice(0, 4), ['journey start', 'hub start', 'journey warn', 'hub end']);
  });

  it('experience/X13: publishes no secret, whatever a phase says', async () => {
    const secret = 'Bearer abcdefghijklmnop';
    const run: Phase['run'] = async (context) => {
      context.row({ path: ['host'], health: 'working', word: secret });
      context.waitingFor(secret);
      return { ...FAILED, detail: secret, look: [`https://user:hunter2@example.com/`] };
    };
    const text = JSON.stringify(await recordedEvents(component(phase({ run }))));
    assert.doesNotMatch(text, /abcdefghijklmnop|hunter2/);
  });
});

describe('the cause of a failure', () => {
  const failing = (probes: readonly Probe[], run: Phase['run'] = async () => FAILED) =>
    recordedEvents(component(phase({ probes, run })));

  it('experience/X31: is the first probe that is false', async () => {
    const failure = failureOf(await failing([probe('a', true), probe('b', false), probe('c', false)]));
    assert.equal(failure?.cause, 'b is false');
  });

  it('experience/X31: is unknown when all probes pass, and then names the last three warnings', async () => {
    const run: Phase['run'] = async (context) => {
      for (const warning of ['one', 'two', 'three', 'four']) context.warn(warning);
      return FAILED;
    };
    const failure = failureOf(await failing([probe('a', true), probe('b', true)], run));
    assert.equal(failure?.cause, 'cause unknown: all 2 probes pass; last warnings: two; three; four');
  });

  it('counts a probe that throws or does not answer as false', async () => {
    const throws: Probe = { predicate: 'the API answers', ask: () => Promise.reject(new Error('refused')) };
    const hangs: Probe = { predicate: 'the API answers', ask: () => new Promise(() => {}) };
    assert.equal(failureOf(await failing([throws]))?.cause, 'the API answers: refused');
    assert.equal(failureOf(await failing([hangs]))?.cause, 'the API answers: no answer within 5 s');
  });

  it('ends with the command to continue and a code that can be explained', async () => {
    const failure = failureOf(await failing([probe('a', false)]));
    assert.deepEqual(failure?.next, ['npx slipway up --from hub']);
    assert.equal(failure?.code, 'SW1201');
  });

  it('shows the sentence of a failure that was foreseen', async () => {
    const events = await failing([], () =>
      Promise.reject(userError('BadDefinition', 'volumes.attach is missing')),
    );
    assert.equal(failureOf(events)?.what, 'volumes.attach is missing');
  });

  it('experience/X10: shows nothing of an error nobody foresaw, and records it', async () => {
    const recorded: unknown[] = [];
    const thrown = new TypeError('internal pointer 0xdeadbeef');
    const phases = component(phase({ run: () => Promise.reject(thrown) }));
    const events = await recordedEvents(phases, { recordError: (_phase, error) => recorded.push(error) });
    assert.doesNotMatch(JSON.stringify(events), /deadbeef/);
    assert.equal(failureOf(events)?.code, 'SW9001');
    assert.deepEqual(recorded, [thrown]);
  });
});

describe('the end of a journey', () => {
  it('experience/X26: stops what was left running in reverse order, one line per thing', async () => {
    const stopped: string[] = [];
    const run: Phase['run'] = async (context) => {
      for (const name of ['hub', 'cluster', 'page']) kept(context, name, () => stopped.push(name));
      return DONE;
    };
    const events = await recordedEvents(component(phase({ run })));
    assert.deepEqual(stopped, ['page', 'cluster', 'hub']);
    const lines = events.slice(-5).map(({ detail }) => detail);
    assert.deepEqual(lines, [
      'stopping…',
      'stopped page',
      'stopped cluster',
      'stopped hub',
      'nothing is left running',
    ]);
  });

  it('goes on when one thing cannot be stopped or takes for ever', async () => {
    const stopped: string[] = [];
    const run: Phase['run'] = async (context) => {
      kept(context, 'good', () => stopped.push('good'));
      context.keep('stubborn', { [Symbol.asyncDispose]: () => new Promise(() => {}) });
      context.keep('broken', { [Symbol.asyncDispose]: () => Promise.reject(new Error('no such process')) });
      return DONE;
    };
    const events = await recordedEvents(component(phase({ run })));
    assert.deepEqual(stopped, ['good']);
    const warnings = events.filter(({ kind }) => kind === 'warn').map(({ detail }) => detail);
    assert.deepEqual(warnings, [
      'broken could not be stopped: no such process',
      'stubborn did not stop in time; it may still be running',
    ]);
  });

  it('experience/X14: is an interruption before the last phase has ended', async () => {
    const { clock, stop, details, end } = running(
      [phase({ run: async (c) => tick(c).then(() => DONE) }), phase({ id: 'cloud' })],
      false,
    );
    await clock.advance(10);
    stop.abort();
    assert.equal(details.at(-1), 'stopping…', 'said at once');
    assert.equal(await inVirtualTime(clock, end), 'interrupted');
    assert.ok(details.includes('interrupted'));
  });

  it('does not wait for a phase that does not notice the interruption', async () => {
    const stopped: string[] = [];
    const late = Promise.withResolvers<void>();
    const run: Phase['run'] = async (context) => {
      await late.promise;
      kept(context, 'late', () => stopped.push('late'));
      return DONE;
    };
    const { clock, stop, end } = running([phase({ run })], true);
    stop.abort();
    assert.equal(await inVirtualTime(clock, end), 'interrupted');
    late.resolve();
    await clock.advance(1);
    assert.deepEqual(stopped, ['late'], 'what it hands over too late is stopped too');
  });

  it('stays up as long as something runs, and finishes well when it is stopped then', async () => {
    const run: Phase['run'] = async (context) => {
      kept(context, 'page');
      return DONE;
    };
    const { clock, journey, stop, details, end } = running([phase({ run })], false);
    await clock.advance(60_000);
    assert.equal(journey.state.stage, 'standing');
    stop.abort();
    assert.equal(await inVirtualTime(clock, end), 'finished');
    const last = 'everything is stopped; data stays in .slipway, to remove it: rm -r .slipway';
    assert.deepEqual(details.slice(-3), ['stopping…', 'stopped page', last]);
  });

  it('comes by itself when nothing runs', async () => {
    const { clock, details, end } = running([phase()], false);
    assert.equal(await inVirtualTime(clock, end), 'finished');
    assert.equal(details.at(-1), 'nothing is running, so this ends here');
  });

  it('experience/X32: waits after a failure; a retry runs what failed and what needed it', async () => {
    let attempts = 0;
    const ran: string[] = [];
    const count = (id: string) => async () => (ran.push(id), DONE);
    const flaky = async () => (++attempts === 1 ? FAILED : DONE);
    const phases = [
      phase({ id: 'hub', run: count('hub') }),
      phase({ id: 'cloud', run: flaky }),
      phase({ id: 'storage', needs: ['cloud'], run: count('storage') }),
    ];
    const { clock, journey, end } = running(phases, false);
    await clock.advance(1000);
    assert.equal(journey.state.stage, 'standing');
    assert.deepEqual(ran, ['hub']);
    journey.retry();
    await inVirtualTime(clock, end);
    assert.deepEqual(ran, ['hub', 'storage']);
  });
});

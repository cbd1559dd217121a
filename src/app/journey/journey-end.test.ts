import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  inVirtualTime,
  journeyOf,
  recordedEvents,
  recordingClock,
} from '../../../test/support/recorded-journey.ts';
import {
  component,
  DONE,
  ends,
  FAILED,
  failureOf,
  kept,
  never,
  phase,
  running,
} from '../../../test/support/simple-journey.ts';
import type { Phase, PhaseId } from './phase.ts';
import { PHASE_IDS } from './phase.ts';

const STAYS_UP = { isOnce: false };

describe('the end of a journey', () => {
  it('experience/X26: stops what was left running, the last phase first, one line per thing', async () => {
    const stopped: string[] = [];
    const keeps = (id: PhaseId, ...names: readonly string[]) =>
      phase({
        id,
        run: async (context) => {
          for (const name of names) kept(context, name, () => stopped.push(name));
          return DONE;
        },
      });
    const events = await recordedEvents(component(keeps('hub', 'hub'), keeps('cloud', 'pod', 'page')));
    assert.deepEqual(stopped, ['page', 'pod', 'hub']);
    const lines = events.slice(-5).map(({ detail }) => detail);
    assert.deepEqual(lines, [
      'stopping…',
      'stopped page',
      'stopped pod',
      'stopped hub',
      'nothing is left running',
    ]);
  });

  it('goes on when one thing cannot be stopped or takes for ever, and names it at the end', async () => {
    const stopped: string[] = [];
    const run: Phase['run'] = async (context) => {
      kept(context, 'good', () => stopped.push('good'));
      kept(context, 'stubborn', never);
      kept(context, 'broken', () => Promise.reject(new Error('no such process')));
      return DONE;
    };
    const { clock, events, end } = running([phase({ run })]);
    const { stillRunning } = await inVirtualTime(clock, end);
    assert.deepEqual(stopped, ['good']);
    const warnings = events.filter(({ kind }) => kind === 'warn').map(({ detail }) => detail);
    assert.deepEqual(warnings, [
      'broken could not be stopped (no such process) and may still be running',
      'stubborn did not stop in time and may still be running',
    ]);
    assert.deepEqual(stillRunning, ['broken', 'stubborn']);
    const last = events.at(-1);
    assert.deepEqual(
      [last?.kind, last?.detail],
      ['error', 'not stopped, and perhaps still running: broken, stubborn'],
    );
  });

  it('kills what does not stop, where it can be killed', async () => {
    const killed: string[] = [];
    const run: Phase['run'] = async (context) => {
      kept(context, 'stubborn', never, { kill: () => killed.push('stubborn') });
      return DONE;
    };
    const { clock, details, end } = running([phase({ run })]);
    assert.deepEqual((await inVirtualTime(clock, end)).stillRunning, []);
    assert.deepEqual(killed, ['stubborn']);
    assert.ok(details().includes('stubborn did not stop in time and was killed'));
  });

  it('experience/X26: takes at most 3 s in all, however much does not stop', async () => {
    const deaf = phase({ id: 'onboarding', run: never });
    const stubborn = PHASE_IDS.filter((id) => id !== 'onboarding').map((id) =>
      phase({
        id,
        run: async (context) => {
          for (const name of ['one', 'two']) kept(context, `${id} ${name}`, never);
          return DONE;
        },
      }),
    );
    const { clock, pass, journey, stop, details, end } = running([...stubborn, deaf], STAYS_UP);
    await pass(10_000);
    stop.abort();
    const { stillRunning } = await inVirtualTime(clock, end);
    assert.ok(journey.elapsedMs <= 13_050, `${journey.elapsedMs - 10_000} ms`);
    assert.equal(stillRunning.length, 13);
    assert.match(
      details().at(-1) ?? '',
      /still running: phase onboarding, hardware two, hardware one, storage two/,
    );
  });

  it('experience/X26: takes no longer than it takes', async () => {
    const slow = phase({
      run: async (context) => {
        for (const name of ['one', 'two', 'three']) kept(context, name, () => context.clock.sleep(900));
        return DONE;
      },
    });
    const { clock, journey, details, end } = running([slow]);
    await inVirtualTime(clock, end);
    assert.equal(details().at(-1), 'nothing is left running');
    assert.ok(journey.elapsedMs <= 950, 'the things of one phase are stopped at the same time');
  });

  it('experience/X26: kill ends everything at once, and nothing twice', async () => {
    const killed: string[] = [];
    const run: Phase['run'] = async (context) => {
      for (const name of ['one', 'two']) kept(context, name, never, { kill: () => killed.push(name) });
      return DONE;
    };
    const { clock, pass, journey, stop, end } = running([phase({ run })], STAYS_UP);
    await pass(10);
    stop.abort();
    journey.kill();
    assert.deepEqual(killed, ['one', 'two']);
    journey.kill();
    assert.equal(killed.length, 2);
    await inVirtualTime(clock, end);
  });

  it('experience/X14: is an interruption before the last phase has ended', async () => {
    const waits: Phase['run'] = async ({ clock, signal }) => clock.sleep(1000, signal).then(() => DONE);
    const { clock, pass, stop, details, end } = running([phase({ run: waits }), phase({ id: 'cloud' })], STAYS_UP);
    await pass(10);
    stop.abort();
    assert.equal(details().at(-1), 'stopping…', 'said at once');
    assert.equal((await inVirtualTime(clock, end)).wasInterrupted, true);
    assert.ok(details().includes('interrupted'));
  });

  it('experience/X26: says what it does when it was interrupted before it began', async () => {
    const clock = recordingClock();
    const journey = journeyOf(component(phase()), clock);
    const details: string[] = [];
    journey.subscribe(({ detail }) => details.push(detail));
    assert.equal((await journey.run(AbortSignal.abort())).wasInterrupted, true);
    assert.deepEqual(details.slice(1), [
      'stopping…',
      'everything is stopped; data stays in .slipway, to remove it: rm -r .slipway',
    ]);
  });

  it('does not wait for a phase that does not notice the interruption, and names it', async () => {
    const stopped: string[] = [];
    const late = Promise.withResolvers<void>();
    const run: Phase['run'] = async (context) => {
      await late.promise;
      kept(context, 'late', () => stopped.push('late'));
      return DONE;
    };
    const { clock, pass, stop, journey, end } = running([phase({ run })]);
    stop.abort();
    const { wasInterrupted, stillRunning } = await inVirtualTime(clock, end);
    assert.equal(wasInterrupted, true);
    assert.deepEqual(stillRunning, ['phase hub']);
    assert.ok(journey.elapsedMs <= 1050);
    late.resolve();
    await pass(1);
    assert.deepEqual(stopped, ['late'], 'what it hands over too late is stopped too');
  });

  it('stops what runs when a listener throws', async () => {
    const stopped: string[] = [];
    const { clock, journey, end } = running([
      phase({
        run: async (context) => {
          kept(context, 'hub', () => stopped.push('hub'));
          return DONE;
        },
      }),
    ]);
    journey.subscribe(({ kind, phase: id }) => {
      if (kind === 'end' && id === 'hub') throw new Error('disk full');
    });
    await assert.rejects(inVirtualTime(clock, end), /disk full/);
    assert.deepEqual(stopped, ['hub']);
  });

  it('goes on telling after a listener threw', async () => {
    const { clock, journey, details, end } = running([phase()]);
    await inVirtualTime(clock, end);
    const faulty = journey.subscribe(() => {
      journey.warn('from a listener');
      throw new Error('disk full');
    });
    assert.throws(() => journey.warn('one'));
    faulty[Symbol.dispose]();
    journey.warn('two');
    assert.deepEqual(details().slice(-3), ['one', 'from a listener', 'two']);
  });
});

describe('a journey that stays up', () => {
  it('does so as long as something runs, and finishes well when it is stopped then', async () => {
    const { clock, pass, journey, stop, details, end } = running(
      [phase({ run: async (context) => (kept(context, 'page'), DONE) })],
      STAYS_UP,
    );
    await pass(60_000);
    assert.equal(journey.state.stage, 'standing');
    stop.abort();
    assert.deepEqual(await inVirtualTime(clock, end), { wasInterrupted: false, stillRunning: [] });
    const last = 'everything is stopped; data stays in .slipway, to remove it: rm -r .slipway';
    assert.deepEqual(details().slice(-3), ['stopping…', 'stopped page', last]);
  });

  it('ends by itself when nothing runs', async () => {
    const { clock, details, end } = running([phase()], STAYS_UP);
    assert.equal((await inVirtualTime(clock, end)).wasInterrupted, false);
    assert.equal(details().at(-1), 'nothing is running, so this ends here');
  });

  it('says with a failure how to go on after it is stopped', async () => {
    const { clock, pass, events, stop, end } = running([phase({ run: async () => FAILED })], STAYS_UP);
    await pass(1000);
    assert.deepEqual(failureOf(events)?.next, ['once this one is stopped:', 'npx slipway up --from hub']);
    stop.abort();
    await inVirtualTime(clock, end);
  });

  it('fails the phase whose thing ends by itself, with its sentence', async () => {
    const death = Promise.withResolvers<string>();
    const run: Phase['run'] = async (context) => (kept(context, 'the API', never, { ended: death.promise }), DONE);
    const { clock, pass, journey, events, details, stop, end } = running([phase({ run })], STAYS_UP);
    await pass(1000);
    death.resolve('process 4711 ended with code 1');
    await pass(1000);
    assert.equal(journey.state.phases[0]?.health, 'failed');
    assert.equal(events.at(-1)?.kind, 'error');
    assert.equal(failureOf(events)?.what, 'the API ended by itself');
    assert.equal(failureOf(events)?.cause, 'process 4711 ended with code 1');
    stop.abort();
    await inVirtualTime(clock, end);
    assert.ok(!details().includes('stopped the API'), 'there is nothing to stop any more');
  });

  it('fails a phase at once when what it started ends while it still works', async () => {
    const run: Phase['run'] = async (context) => {
      const ended = context.clock.sleep(500).then(() => 'process 4711 ended with code 1');
      kept(context, 'the API', never, { ended });
      await context.clock.sleep(60_000, context.signal);
      return DONE;
    };
    const { clock, events, end } = running([phase({ run })]);
    await inVirtualTime(clock, end);
    assert.deepEqual(ends(events), ['hub failed']);
    assert.ok((events.at(-1)?.atMs ?? 0) < 2000);
    assert.equal(failureOf(events)?.cause, 'process 4711 ended with code 1');
  });

  it('does not complain about what ends because of the Ctrl-C that we got too', async () => {
    const death = Promise.withResolvers<string>();
    const run: Phase['run'] = async (context) => (
      kept(context, 'the API', () => {}, { ended: death.promise }), DONE
    );
    const { clock, pass, events, details, stop, end } = running([phase({ run })], STAYS_UP);
    await pass(1000);
    death.resolve('ended by SIGINT');
    await pass(20);
    stop.abort();
    await inVirtualTime(clock, end);
    assert.ok(events.every(({ kind }) => kind !== 'error'));
    assert.ok(details().includes('stopped the API'));
  });
});

describe('a retry', () => {
  const flaky =
    (attempts: { count: number }): Phase['run'] =>
    async ({ clock, signal }) => {
      attempts.count++;
      await clock.sleep(1000, signal);
      return attempts.count === 1 ? FAILED : DONE;
    };

  it('experience/X32: runs what failed and what needed it, and nothing else', async () => {
    const ran: string[] = [];
    const count = (id: string) => async () => (ran.push(id), DONE);
    const phases = [
      phase({ id: 'hub', run: count('hub') }),
      phase({ id: 'definition', run: async () => ({ health: 'skipped', detail: 'nothing to do' }) }),
      phase({ id: 'cloud', run: flaky({ count: 0 }) }),
      phase({ id: 'storage', needs: ['cloud'], run: count('storage') }),
      phase({ id: 'hardware', needs: ['storage'], run: count('hardware') }),
    ];
    const { clock, pass, journey, events, details, end } = running(phases, STAYS_UP);
    await pass(10_000);
    assert.equal(journey.state.stage, 'standing');
    assert.deepEqual(ran, ['hub']);
    journey.retry();
    await inVirtualTime(clock, end);
    assert.deepEqual(ran, ['hub', 'storage', 'hardware']);
    assert.ok(details().includes('trying again: cloud, storage and machines, hardware'));
    assert.deepEqual(ends(events).slice(-3), ['cloud done', 'storage done', 'hardware done']);
    assert.equal(journey.state.durationMs, 2000, 'the time of the work, not of the standing between');
  });

  it('does not try what --from left out', async () => {
    const phases = [
      phase({ id: 'hub' }),
      phase({ id: 'definition', needs: ['hub'] }),
      phase({ id: 'cloud', needs: ['hub'], run: flaky({ count: 0 }) }),
    ];
    const { clock, pass, journey, details, end } = running(phases, { ...STAYS_UP, from: 'cloud' });
    await pass(10_000);
    journey.retry();
    await inVirtualTime(clock, end);
    assert.ok(details().includes('trying again: cloud'));
  });

  it('first stops what the phase had left running', async () => {
    const attempts = { count: 0 };
    const stopped: number[] = [];
    const run: Phase['run'] = async (context) => {
      const attempt = attempts.count + 1;
      kept(context, `pod ${attempt}`, () => stopped.push(attempt));
      return flaky(attempts)(context);
    };
    const { clock, pass, journey, details, stop, end } = running([phase({ id: 'cloud', run })], STAYS_UP);
    await pass(10_000);
    journey.retry();
    await pass(10_000);
    assert.deepEqual(stopped, [1]);
    assert.ok(details().includes('stopped pod 1'));
    stop.abort();
    await inVirtualTime(clock, end);
    assert.deepEqual(stopped, [1, 2]);
  });

  it('experience/X14: that is interrupted is an interruption', async () => {
    const { clock, pass, journey, stop, end } = running([phase({ run: flaky({ count: 0 }) })], STAYS_UP);
    await pass(10_000);
    journey.retry();
    await pass(500);
    stop.abort();
    assert.equal((await inVirtualTime(clock, end)).wasInterrupted, true);
  });
});

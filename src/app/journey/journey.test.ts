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
  never,
  phase,
  probe,
  running,
} from '../../../test/support/simple-journey.ts';
import { userError } from '../../base/errors.ts';
import { Handover, type Phase, type PhaseContext, type Probe } from './phase.ts';

const tick = async (context: PhaseContext) => context.clock.sleep(1000, context.signal);

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
    const { journey, clock, end } = running([phase()]);
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

  it('skips what needs a phase that found nothing to do', async () => {
    const run: Phase['run'] = async () => ({ health: 'skipped', detail: 'the definition has no volumes' });
    const events = await recordedEvents(
      component(phase({ id: 'storage', run }), phase({ id: 'onboarding', needs: ['storage'] })),
    );
    assert.deepEqual(ends(events), [
      'storage skipped (the definition has no volumes)',
      'onboarding skipped (needs storage and machines)',
    ]);
  });

  it('does not listen to the progress of a phase that has ended', async () => {
    const late: Phase['run'] = async (context) => {
      context.clock.timer(500, () => {
        context.progress('too late', 80);
        context.row({ path: ['host'], health: 'working', word: 'too late' });
        context.waitingFor('nothing');
        context.warn('this is heard');
      });
      return DONE;
    };
    const events = await recordedEvents(
      component(
        phase({ run: late }),
        phase({ id: 'cloud', run: async (context) => tick(context).then(() => DONE) }),
      ),
    );
    const told = events.filter(({ phase: id }) => id === 'hub').map(({ kind, detail }) => `${kind} ${detail}`);
    assert.deepEqual(told, ['start ', 'end all is well', 'warn this is heard']);
  });

  it('refuses two phases with the same id', () => {
    const twice = () => journeyOf(component(phase(), phase()), recordingClock());
    assert.throws(twice, { message: 'two components register the phase "hub"' });
  });

  it('experience/X13: keeps what only a live terminal may show out of events', async () => {
    const address = { label: 'page', value: 'http://127.0.0.1:7440/' };
    const run: Phase['run'] = async () => ({
      health: 'done',
      detail: '',
      addresses: [{ ...address, liveValue: `${address.value}#t=3fd1` }],
    });
    const { clock, journey, events, end } = running([phase({ run })]);
    await inVirtualTime(clock, end);
    assert.doesNotMatch(JSON.stringify(events), /3fd1/);
    assert.doesNotMatch(JSON.stringify(journey.state), /3fd1/);
    assert.equal(journey.liveAddress(address).value, 'http://127.0.0.1:7440/#t=3fd1');
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

  it('experience/X31: names what the phase waited for when all probes pass', async () => {
    const run: Phase['run'] = async (context) => {
      context.waitingFor('2 of 3 nodes Ready');
      context.waitingFor('3 of 3 nodes Ready');
      return FAILED;
    };
    const failure = failureOf(await failing([probe('a', true)], run));
    assert.equal(failure?.cause, 'cause unknown: its one probe passes; it waited for: 3 of 3 nodes Ready');
  });

  it('is what the phase itself says where it knows it, and then no probe is asked', async () => {
    const failure = failureOf(
      await failing([probe('a', false)], async () => ({ ...FAILED, cause: 'disk sda is broken' })),
    );
    assert.equal(failure?.cause, 'disk sda is broken');
  });

  it('asks a probe with the context of its phase', async () => {
    const seen: unknown[] = [];
    const curious: Probe = {
      predicate: 'a',
      ask: async ({ data, journey, signal }) => {
        seen.push(data, typeof journey, signal.aborted);
        return { isTrue: true };
      },
    };
    await failing([curious]);
    assert.deepEqual(seen, ['/home/ada/clone/.slipway', 'object', false]);
  });

  it('does not ask for ever: slow probes are given up after some time, and said to be not asked', async () => {
    const slow: Probe = {
      predicate: 'slow',
      ask: async ({ clock }) => clock.sleep(4900).then(() => ({ isTrue: true })),
    };
    const events = await failing(Array.from({ length: 10 }, () => slow));
    const want = 'cause unknown: the first 3 of 10 probes pass, the others were not asked in time';
    assert.equal(failureOf(events)?.cause, want);
    assert.ok((events.at(-1)?.atMs ?? 0) <= 15_000);
  });

  it('experience/X26: Ctrl-C while probes are asked ends at once', async () => {
    const hangs: Probe = { predicate: 'the API answers', ask: never };
    const { clock, stop, events, end } = running([phase({ run: async () => FAILED, probes: [hangs, hangs] })]);
    await clock.advance(100);
    stop.abort();
    await clock.advance(10);
    assert.equal((await end).wasInterrupted, true);
    assert.equal(failureOf(events)?.cause, 'cause unknown: interrupted while the probes were asked');
    assert.ok((events.at(-1)?.atMs ?? 0) <= 110);
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

  it('always names the log', async () => {
    const events = await failing([probe('a', false)], async () => ({ ...FAILED, look: ['x.log'] }));
    assert.deepEqual(failureOf(events)?.look, ['x.log', '.slipway/journey.log']);
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
    const events = await recordedEvents(phases, {
      recordError: (subject, error) => recorded.push([subject, error]),
    });
    assert.doesNotMatch(JSON.stringify(events), /deadbeef/);
    assert.equal(failureOf(events)?.code, 'SW9001');
    assert.deepEqual(recorded, [['phase hub', thrown]]);
  });
});

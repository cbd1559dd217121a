import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { terminalError } from '../../base/errors.ts';
import { createLog } from '../../base/log.ts';
import { ManagerRun, type ManagerRunOptions } from './manager-run.ts';
import type { Runnable, RunnableGroup } from './runnable.ts';

const ORDER: readonly RunnableGroup[] = ['http', 'webhook', 'cache', 'other', 'warm-up', 'leader'];

function setUp(options: Partial<ManagerRunOptions> = {}) {
  const clock = new VirtualClock();
  const told: string[] = [];
  const lines: string[] = [];
  const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => clock.now() });
  const run = new ManagerRun({ clock, log, gracefulShutdownMs: 30_000, ...options });
  /** Gets ready after `readyMs` and takes `stopMs` to stop. */
  const part = (group: RunnableGroup, { readyMs = 10, stopMs = 10, name = group as string } = {}): Runnable => ({
    name,
    group,
    async run(signal) {
      told.push(`+${name}`);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      if (stopMs > 0) await clock.sleep(stopMs);
      told.push(`-${name}`);
    },
    ready: (signal) => clock.sleep(readyMs, signal),
  });
  const stop = new AbortController();
  const outcome: { done?: boolean; error?: unknown } = {};
  const start = () => {
    run.start(stop.signal).then(
      () => (outcome.done = true),
      (error: unknown) => (outcome.error = error),
    );
  };
  return { clock, told, lines, run, part, stop, outcome, start };
}

/** An elector that a test decides about. */
function candidate() {
  const calls: string[] = [];
  const lost = Promise.withResolvers<void>();
  let elect = () => {};
  const candidacy = (elected: () => void) => {
    elect = elected;
    return {
      run: (signal: AbortSignal) => {
        signal.addEventListener('abort', () => {
          calls.push('ended');
          lost.resolve();
        });
        return lost.promise;
      },
      release: async () => void calls.push('released'),
    };
  };
  return { candidacy, calls, elect: () => elect(), lose: (error: Error) => lost.reject(error) };
}

const lossOf = () => terminalError('LeaderElectionLost', 'leader election lost: lease demo: network');

describe('ManagerRun', () => {
  it('runtime/M1: starts the groups in order, each when the one before is ready', async () => {
    const { clock, told, run, part, stop, start, outcome } = setUp();
    for (const group of ORDER.toReversed()) run.add(part(group));
    start();
    for (const [index, group] of ORDER.entries()) {
      await clock.advance(index === 0 ? 0 : 10);
      assert.deepEqual(
        told,
        ORDER.slice(0, index + 1).map((name) => `+${name}`),
        `after ${group}`,
      );
    }
    await run.ready;
    stop.abort();
    await clock.advance(0);
    await clock.advance(1000);
    assert.equal(outcome.done, true);
  });

  it('says once when everything that does not wait for leadership has started', async () => {
    const { clock, lines, run, part, stop, start } = setUp({ candidacy: candidate().candidacy });
    run.add(part('cache', { readyMs: 500 }));
    start();
    await clock.advance(0);
    await clock.advance(499);
    assert.deepEqual(lines, []);
    await clock.advance(1);
    await run.ready;
    assert.match(lines.join(''), /^\{[^\n]*"Ready"\}\n$/);
    stop.abort();
    await clock.advance(0);
    await clock.advance(1000);
  });

  it('runtime/M2: stops others, the leader, caches, webhooks, HTTP, and then releases the lease', async () => {
    const { candidacy, calls, elect } = candidate();
    const { clock, told, run, part, stop, start, outcome } = setUp({
      candidacy: (elected) => candidacy(elected),
      underneath: [],
    });
    for (const group of ORDER) run.add(part(group));
    start();
    await clock.advance(0);
    await clock.advance(100);
    elect();
    await clock.advance(0);
    await clock.advance(100);
    told.length = 0;
    stop.abort();
    await clock.advance(0);
    assert.equal(run.stopping.aborted, true, 'probes fail from now on');
    await clock.advance(45);
    assert.deepEqual(calls, [], 'the lease is kept while anything runs');
    await clock.advance(100);
    assert.deepEqual(told, ['-other', '-leader', '-warm-up', '-cache', '-webhook', '-http']);
    assert.deepEqual(calls, ['ended', 'released']);
    assert.deepEqual(outcome, { done: true });
    assert.equal(clock.nextDueMs, undefined);
  });

  it('runtime/M2: sample 8: a reconcile of 5 s in flight finishes before the lease is released', async () => {
    const { candidacy, calls, elect } = candidate();
    const { clock, told, run, part, stop, start, outcome } = setUp({ candidacy: (elected) => candidacy(elected) });
    run.add(part('leader', { stopMs: 5000 }));
    start();
    await clock.advance(0);
    elect();
    await clock.advance(0);
    await clock.advance(20);
    stop.abort(new Error('received SIGTERM'));
    await clock.advance(0);
    await clock.advance(4999);
    assert.deepEqual([told, calls], [['+leader'], []]);
    await clock.advance(10);
    assert.deepEqual([told, calls, outcome], [['+leader', '-leader'], ['ended', 'released'], { done: true }]);
  });

  it('runtime/M2: gives up at the deadline, names who still runs, and keeps the lease', async () => {
    const { candidacy, calls, elect } = candidate();
    const { clock, run, part, stop, start, outcome } = setUp({ candidacy: (elected) => candidacy(elected) });
    run.add(part('leader', { stopMs: 3_600_000, name: 'slow' }));
    start();
    await clock.advance(0);
    elect();
    await clock.advance(0);
    await clock.advance(20);
    stop.abort();
    await clock.advance(0);
    await clock.advance(29_999);
    assert.deepEqual(outcome, {});
    await clock.advance(1);
    assert.match(String(outcome.error), /these parts still ran 30s after the stop: slow/);
    assert.ok(!calls.includes('released'), 'its work may still write');
  });

  for (const { graceMs, afterMs, isOver } of [
    { graceMs: 0, afterMs: 0, isOver: true },
    { graceMs: -1, afterMs: 86_400_000, isOver: false },
  ]) {
    it(`runtime/M2: a graceful period of ${graceMs} ${isOver ? 'does not wait' : 'waits for ever'}`, async () => {
      const { clock, run, part, stop, start, outcome } = setUp({ gracefulShutdownMs: graceMs });
      run.add(part('other', { stopMs: 2 * 86_400_000 }));
      start();
      await clock.advance(20);
      stop.abort();
      await clock.advance(0);
      await clock.advance(afterMs);
      assert.equal('error' in outcome, isOver);
      await clock.advance(2 * 86_400_000);
      assert.equal('done' in outcome, !isOver);
    });
  }

  it('runtime/M3: a part that throws stops all others, and start() rejects with its error', async () => {
    const { clock, told, lines, run, part, start, outcome } = setUp();
    run.add(part('http'));
    const failure = new Error('disk is full');
    run.add({ name: 'bad', group: 'other', run: () => clock.sleep(500).then(() => Promise.reject(failure)) });
    start();
    await clock.advance(0);
    await clock.advance(600);
    assert.deepEqual([told, outcome.error], [['+http', '-http'], failure]);
    assert.match(lines.at(-1) ?? '', /disk is full/, 'the last line names the cause (8.2)');
  });

  it('runtime/M3: a part that rejects with nothing at all stops the manager too', async () => {
    const { clock, run, start, outcome } = setUp();
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- parts may be written by anybody
    run.add({ name: 'sloppy', group: 'other', run: () => Promise.reject(undefined) });
    start();
    await clock.advance(0);
    assert.match(String(outcome.error), /sloppy/);
  });

  it('runtime/M3: a part that fails before it is ready ends the start', async () => {
    const { clock, told, run, part, start, outcome } = setUp();
    run.add({
      name: 'bad',
      group: 'http',
      run: async () => {},
      ready: () => Promise.reject(new Error('port is taken')),
    });
    run.add(part('cache'));
    start();
    await clock.advance(0);
    await clock.advance(100);
    assert.match(String(outcome.error), /port is taken/);
    assert.deepEqual(told, []);
    await assert.rejects(run.ready, /stopped before/);
  });

  it('runtime/M3: a part may end by itself', async () => {
    const { clock, run, stop, start, outcome } = setUp();
    run.add({ name: 'once', group: 'other', run: async () => {} });
    start();
    await clock.advance(60_000);
    assert.deepEqual(outcome, {});
    stop.abort();
    await clock.advance(0);
    assert.deepEqual(outcome, { done: true });
  });

  it('runtime/M4: start() may be called once', async () => {
    const { clock, run, stop, start } = setUp();
    start();
    await assert.rejects(run.start(stop.signal), { reason: 'ManagerStarted' });
    stop.abort();
    await clock.advance(0);
  });

  it('runtime/M4: a part added later starts at once in its group, and none during the stop', async () => {
    const { clock, told, run, part, stop, start } = setUp();
    start();
    await run.leading;
    run.add(part('leader', { name: 'late' }));
    await clock.advance(0);
    assert.deepEqual(told, ['+late']);
    stop.abort();
    await clock.advance(0);
    assert.throws(() => run.add(part('other')), { reason: 'ManagerStopping' });
    await clock.advance(100);
    assert.deepEqual(told, ['+late', '-late']);
  });

  it('runtime/M4: a part for the leader waits for leadership, whenever it is added', async () => {
    const { candidacy, elect } = candidate();
    const { clock, told, run, part, stop, start } = setUp({ candidacy: (elected) => candidacy(elected) });
    start();
    await run.ready;
    run.add(part('leader'));
    await clock.advance(60_000);
    assert.deepEqual(told, []);
    elect();
    await clock.advance(10);
    assert.deepEqual(told, ['+leader']);
    await run.leading;
    stop.abort();
    await clock.advance(0);
    await clock.advance(100);
  });

  it('runtime/M5: lost leadership ends at once, without grace and without release', async () => {
    const { candidacy, calls, elect, lose } = candidate();
    const { clock, run, part, start, outcome } = setUp({ candidacy: (elected) => candidacy(elected) });
    run.add(part('leader', { stopMs: 20_000 }));
    start();
    await clock.advance(0);
    elect();
    await clock.advance(0);
    await clock.advance(20);
    lose(lossOf());
    await clock.advance(0);
    assert.match(String(outcome.error), /leader election lost/);
    assert.ok(!calls.includes('released'));
    await clock.advance(60_000);
  });

  it('runtime/M5: leadership lost during the stop ends the grace for work that still runs', async () => {
    const { candidacy, elect, lose } = candidate();
    const { clock, run, part, stop, start, outcome } = setUp({ candidacy: (elected) => candidacy(elected) });
    run.add(part('leader', { stopMs: 20_000 }));
    start();
    await clock.advance(0);
    elect();
    await clock.advance(0);
    await clock.advance(20);
    stop.abort();
    await clock.advance(0);
    await clock.advance(1000);
    lose(lossOf());
    await clock.advance(0);
    assert.match(String(outcome.error), /still ran/);
    await clock.advance(60_000);
  });

  it('runtime/E10: without election it leads', async () => {
    const { clock, told, run, part, stop, start } = setUp();
    run.add(part('leader'));
    start();
    await clock.advance(10);
    assert.deepEqual(told, ['+leader']);
    stop.abort();
    await clock.advance(0);
    await clock.advance(100);
  });

  it('stops while it still starts: what has started ends, the rest never starts', async () => {
    const { clock, told, run, part, stop, start, outcome } = setUp();
    run.add(part('http'));
    run.add(part('cache', { readyMs: 3_600_000 }));
    run.add(part('other'));
    start();
    await clock.advance(0);
    await clock.advance(100);
    stop.abort();
    await clock.advance(0);
    await clock.advance(100);
    assert.deepEqual([told, outcome], [['+http', '+cache', '-cache', '-http'], { done: true }]);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('runs the check before the caches and after the probes, and ends with its error', async () => {
    const seen: string[] = [];
    const { clock, told, run, part, start, outcome } = setUp({
      beforeCaches: async () => {
        seen.push(...told);
        throw terminalError('MissingPermissions', 'may not list pods');
      },
    });
    run.add(part('http'));
    run.add(part('cache'));
    start();
    await clock.advance(0);
    await clock.advance(100);
    assert.deepEqual([seen, told], [['+http'], ['+http', '-http']]);
    assert.match(String(outcome.error), /may not list pods/);
  });

  it('logs what fails after the stop and stops all the same', async () => {
    const { clock, lines, run, stop, start, outcome } = setUp();
    const sour = async (signal: AbortSignal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      throw new Error('sour grapes');
    };
    run.add({ name: 'sour', group: 'other', run: sour });
    start();
    await clock.advance(10);
    stop.abort();
    await clock.advance(0);
    await clock.advance(10);
    assert.deepEqual(outcome, { done: true });
    assert.ok(lines.some((line) => line.includes('sour grapes')));
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryError, terminalError, userError } from '../../base/errors.ts';
import { ApiError, NetworkError } from '../client/api-error.ts';
import { failing, Rig } from './controller-rig.ts';
import { after, DONE } from './reconcile.ts';

const withWidget = (name = 'a') => {
  const rig = new Rig();
  rig.cluster.put({ metadata: { name } });
  return rig;
};
const times = (rig: Rig) => rig.runs.map(({ atMs }) => atMs);
const conflict = () => new ApiError({ code: 409, reason: 'Conflict', message: 'newer' });

describe('loop: requeue', () => {
  it('runtime/R5: failures come back after 5, 10, 20, 40 ms; after a success at 5 ms again (sample 3)', async () => {
    const rig = withWidget();
    const error = () => retryError('Busy', 'it is busy');
    await rig.run(failing(error(), error(), error(), error()));
    await rig.pass(1000);
    assert.deepEqual(times(rig), [0, 5, 15, 35, 75]);

    const again = withWidget();
    await again.run(failing(error(), error()));
    await again.pass(1000);
    again.cluster.put({ metadata: { name: 'a', labels: { now: 'changed' } } });
    await again.rest();
    assert.deepEqual(times(again), [0, 5, 15, 1000]);
  });

  it('runtime/R5: after(30 s) and an event at 5 s: runs at 5 s, and not at 30 s when nothing asks for it (sample 4)', async () => {
    const rig = withWidget();
    let runs = 0;
    await rig.run(() => (runs++ === 0 ? after(30_000) : DONE));
    await rig.pass(5000);
    rig.cluster.put({ metadata: { name: 'a', labels: { now: 'changed' } } });
    await rig.pass(60_000);
    assert.deepEqual(times(rig), [0, 5000]);
  });

  it('runtime/R5: user and terminal errors wait until the object changes', async () => {
    for (const error of [userError('Bad', 'bad size'), terminalError('Never', 'no such disk')]) {
      const rig = withWidget();
      await rig.run(failing(error, error));
      await rig.pass(10_000_000);
      assert.equal(rig.runs.length, 1, error.reason);
      rig.cluster.put({ metadata: { name: 'a', generation: 2 } });
      await rig.pass(10_000_000);
      assert.equal(rig.runs.length, 2, error.reason);
    }
  });

  it('runtime/R5: an error that says when comes back then', async () => {
    const rig = withWidget();
    await rig.run(failing(retryError('Throttled', 'slow down', { retryAfterMs: 7000 })));
    await rig.pass(10_000);
    assert.deepEqual(times(rig), [0, 7000]);
  });

  it('runtime/Q4: a requeue keeps its priority, so that failures of the initial list do not overtake', async () => {
    const rig = new Rig();
    for (const name of ['a', 'b', 'c']) rig.cluster.put({ metadata: { name } });
    let failures = 0;
    await rig.run(async (object) => {
      await rig.clock.sleep(10);
      if (object.metadata.name === 'a' && failures++ === 0) throw retryError('Busy', 'it is busy');
      return DONE;
    });
    await rig.clock.advance(10);
    rig.cluster.put({ metadata: { name: 'live' } });
    await rig.pass(100);
    assert.deepEqual(
      rig.runs.map(({ name }) => name),
      ['a', 'b', 'live', 'c', 'a'],
    );
  });

  it('runtime/R12: a key whose object is gone is done without a call', async () => {
    const rig = withWidget();
    await rig.run(failing(retryError('Busy', 'it is busy')));
    rig.cluster.remove('default/a');
    await rig.pass(1000);
    assert.equal(rig.runs.length, 1);
    assert.equal(await rig.metric('controller_runtime_reconcile_total{controller="widget",result="success"}'), 1);
  });
});

describe('loop: concurrency and time', () => {
  it('runtime/R10: one key is never reconciled twice at once, different keys up to the limit', async () => {
    const rig = new Rig();
    for (const name of ['a', 'b', 'c', 'd']) rig.cluster.put({ metadata: { name } });
    const active: string[] = [];
    let most = 0;
    const { bound } = await rig.run(
      async ({ metadata: { name } }) => {
        assert.ok(!active.includes(name), `${name} runs twice`);
        active.push(name);
        most = Math.max(most, active.length);
        await rig.clock.sleep(100);
        active.splice(active.indexOf(name), 1);
        return DONE;
      },
      { maxConcurrent: 3 },
    );
    rig.cluster.put({ metadata: { name: 'a', labels: { now: 'changed' } } });
    await rig.rest();
    assert.deepEqual([bound.activity.processing, rig.runs.length], [3, 3]);
    await rig.pass(1000);
    assert.equal(most, 3);
    assert.deepEqual(rig.runs.map(({ name }) => name).toSorted(), ['a', 'a', 'b', 'c', 'd']);
  });

  it('runtime/R10: the number of workers comes from the environment where the controller does not say it', async () => {
    const rig = new Rig();
    const bound = rig.widgets(() => DONE);
    bound.bind({
      ...rig.environment,
      maxConcurrent: 2,
      maxConcurrentByKind: new Map([['Widget.example.com', 5]]),
    });
    const series = 'controller_runtime_max_concurrent_reconciles{controller="widget"}';
    assert.equal(await rig.metric(series), 5);
  });

  it('runtime/R8: a hanging reconcile is aborted, counted, told every minute and keeps its key (sample 20)', async () => {
    const rig = withWidget();
    const open = Promise.withResolvers<void>();
    let reason: unknown;
    const { bound } = await rig.run(
      async (_, { signal }) => {
        signal.addEventListener('abort', () => (reason = signal.reason));
        await open.promise;
        return DONE;
      },
      { timeoutMs: 1000, maxConcurrent: 2 },
    );
    await rig.pass(1000);
    assert.match(String(reason), /the reconcile took longer than 1s/);
    assert.equal(await rig.metric('controller_runtime_reconcile_timeouts_total{controller="widget"}'), 1);
    rig.cluster.put({ metadata: { name: 'a', labels: { now: 'changed' } } });
    await rig.pass(120_000);
    assert.equal(rig.runs.length, 1);
    assert.equal(bound.activity.processing, 1);
    const message = 'warn Reconcile does not end though its signal was aborted';
    assert.deepEqual(rig.said, [message, message]);
    open.resolve();
    await rig.rest();
    assert.equal(rig.runs.length, 2);
  });

  it('runtime/R8: a reconcile that ends by its timeout is a retryable failure with that reason', async () => {
    const rig = withWidget();
    const { bound } = await rig.run(async (_, { signal }) => rig.clock.sleep(1e9, signal).then(() => DONE), {
      timeoutMs: 1000,
    });
    await rig.pass(1000);
    assert.deepEqual(rig.cluster.conditions('default/a'), [
      'Ready=False ReconcileTimeout: the reconcile took longer than 1s',
    ]);
    assert.equal(bound.activity.waiting, 1);
  });

  it('lets the event loop turn while many keys are ready', async () => {
    const rig = new Rig();
    for (let name = 0; name < 3000; name++) rig.cluster.put({ metadata: { name: `${name}` } });
    let seenAtFirstTurn = 0;
    setImmediate(() => setImmediate(() => (seenAtFirstTurn = rig.runs.length)));
    await rig.run(() => DONE);
    assert.ok(seenAtFirstTurn < 3000, `${seenAtFirstTurn}`);
    assert.equal(rig.runs.length, 3000);
  });
});

describe('loop: failures', () => {
  it('runtime/R7: neither a thrown text nor a synchronous throw ends the process or the worker', async () => {
    const rig = withWidget();
    await rig.run(failing('oops', undefined, new TypeError('x is undefined')));
    await rig.pass(1000);
    assert.equal(rig.runs.length, 4);
    assert.equal(await rig.metric('controller_runtime_reconcile_panics_total{controller="widget"}'), 3);
    const errors = rig.lines.filter(({ level }) => level === 'error').map(({ fields }) => String(fields['err']));
    assert.deepEqual(errors, ['oops', 'undefined', 'TypeError: x is undefined']);
  });

  it('runtime/R6: conflicts leave no line above debug', async () => {
    const rig = withWidget();
    await rig.run(failing(conflict(), conflict()));
    await rig.pass(1000);
    assert.equal(rig.runs.length, 3);
    assert.deepEqual([rig.said, rig.cluster.requests], [[], []]);
    assert.ok(rig.lines.some(({ message }) => message === 'Reconcile failed'));
  });

  it('a refused write is an error line once per key in five minutes', async () => {
    const rig = withWidget();
    const denied = () => new ApiError({ code: 403, reason: 'Forbidden', message: 'no', retryAfterMs: 50_000 });
    await rig.run(failing(...Array.from({ length: 8 }, denied)));
    await rig.pass(340_000);
    assert.equal(rig.runs.length, 7);
    assert.equal(rig.said.filter((line) => line === 'error Reconcile failed').length, 1);
  });

  it('runtime/O1: equal lines of a key are collapsed after the fifth, with a counter', async () => {
    const rig = withWidget();
    const errors = Array.from({ length: 21 }, (_, count) =>
      retryError('Busy', `try ${count}`, { retryAfterMs: 10 }),
    );
    await rig.run(failing(...errors));
    await rig.pass(1000);
    const lines = rig.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields['repeated']);
    assert.deepEqual(lines, [undefined, undefined, undefined, undefined, undefined, 10, 20]);
    assert.deepEqual(rig.said.at(-1), 'info Reconciled after failures');
  });

  it('after a write without an answer the next reconcile reads from the server', async () => {
    const rig = withWidget();
    await rig.run(
      failing(
        new NetworkError('reset', { mayHaveHappened: true }),
        new NetworkError('refused', { mayHaveHappened: false }),
      ),
    );
    rig.cluster.requests.length = 0;
    await rig.pass(5);
    assert.equal(rig.cluster.requests[0], 'live.find default/a');
    rig.cluster.requests.length = 0;
    await rig.pass(10);
    assert.equal(rig.runs.length, 3);
    // Only what takes the condition back: the object itself came from the cache again.
    assert.deepEqual(rig.cluster.requests, ['live.find default/a', 'applyStatus slipway/test/widget/outcome']);
  });

  it('a failing read of the object is retried and blamed on nobody', async () => {
    const rig = withWidget();
    rig.cluster.failures.set('find', new NetworkError('refused', { mayHaveHappened: false }));
    await rig.run(() => DONE);
    assert.equal(rig.runs.length, 0);
    await rig.pass(5);
    assert.equal(rig.runs.length, 1);
    assert.deepEqual([rig.told, rig.cluster.requests], [[], []]);
  });
});

describe('loop: metrics', () => {
  it('runtime/R13: every series is there with zero at the start', async () => {
    const rig = new Rig();
    rig.widgets(() => DONE, { maxConcurrent: 4 }).bind(rig.environment);
    const zero = [
      'reconcile_errors_total',
      'terminal_reconcile_errors_total',
      'reconcile_panics_total',
      'active_workers',
      'reconcile_timeouts_total',
    ];
    for (const name of zero)
      assert.equal(await rig.metric(`controller_runtime_${name}{controller="widget"}`), 0, name);
    for (const result of ['success', 'error', 'requeue', 'requeue_after'])
      assert.equal(
        await rig.metric(`controller_runtime_reconcile_total{controller="widget",result="${result}"}`),
        0,
        result,
      );
    assert.equal(await rig.metric('controller_runtime_max_concurrent_reconciles{controller="widget"}'), 4);
  });

  it('runtime/R13: results are counted under the names of upstream, and as verdicts under ours', async () => {
    const rig = withWidget();
    await rig.run(failing(retryError('Busy', 'x'), new Error('bug'), terminalError('Never', 'x')));
    await rig.pass(1000);
    rig.cluster.put({ metadata: { name: 'a', generation: 2 } });
    await rig.pass(1000);
    const total = (result: string) =>
      rig.metric(`controller_runtime_reconcile_total{controller="widget",result="${result}"}`);
    const verdict = (result: string) =>
      rig.metric(`slipway_controller_reconciles_total{controller="widget",result="${result}"}`);
    assert.deepEqual([await total('error'), await total('success')], [3, 1]);
    assert.deepEqual(
      await Promise.all(['retryable_error', 'bug', 'terminal_error', 'user_error', 'success'].map(verdict)),
      [1, 1, 1, 0, 1],
    );
    assert.equal(await rig.metric('controller_runtime_terminal_reconcile_errors_total{controller="widget"}'), 1);
    assert.equal(await rig.metric('controller_runtime_reconcile_time_seconds_count{controller="widget"}'), 4);
  });
});

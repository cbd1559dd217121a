import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import type { InformerHealth } from '../cache/cache.ts';
import { syncChecks, waitForCaches } from './cache-sync.ts';
import { exitCodeOf } from './exit-code.ts';

const entry = (resource: string, rest: Partial<InformerHealth> = {}): InformerHealth => ({
  resource,
  isSynced: false,
  objects: 0,
  resourceVersion: '',
  reconnects: 0,
  relists: 0,
  divergences: 0,
  ...rest,
});
const notServed = entry('widgets.ex.io', { problem: 'no such kind', problemReason: 'NotServed' });

function setUp(health: InformerHealth[]) {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => clock.now() });
  const stop = new AbortController();
  const cache = {
    health,
    async waitForSync({ timeoutMs = 0, signal }: { timeoutMs?: number; signal?: AbortSignal } = {}) {
      const endMs = clock.monotonicMs() + timeoutMs;
      while (health.some(({ isSynced }) => !isSynced)) {
        if (clock.monotonicMs() >= endMs) throw new Error('not synced');
        await clock.sleep(1000, signal);
      }
    },
  };
  const waiting = waitForCaches({ cache, clock, log, timeoutMs: 120_000, signal: stop.signal });
  return { clock, lines, stop, waiting };
}

const minutes = async (clock: VirtualClock, count: number) => {
  for (let second = 0; second < count * 60 + 1; second++) await clock.advance(1000);
};

describe('waitForCaches', () => {
  it('runtime/8.2: fails after two minutes with the problem of each kind, exit code 3', async () => {
    const { clock, waiting } = setUp([
      entry('pods', { problem: 'forbidden' }),
      entry('nodes', { isSynced: true }),
      notServed,
    ]);
    const failed = assert.rejects(waiting, (error) => {
      assert.equal(exitCodeOf(error), 3);
      assert.match(String(error), /could not read in 2m0s: pods \(forbidden\)/);
      assert.doesNotMatch(String(error), /nodes|widgets/);
      return true;
    });
    await minutes(clock, 2);
    await failed;
  });

  it('runtime/18.1: sample 19: waits without end for a kind that is not served, says so once, and goes on', async () => {
    const health = [notServed];
    const { clock, lines, waiting } = setUp(health);
    await minutes(clock, 30);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /widgets\.ex\.io/);
    health[0] = entry('widgets.ex.io', { isSynced: true });
    await clock.advance(1000);
    await waiting;
  });

  it('does not wait for a kind whose problem only sounds like one that is not served', async () => {
    const { clock, waiting } = setUp([
      entry('widgets.ex.io', {
        problem: 'the server could not find the requested resource',
        problemReason: 'Forbidden',
      }),
    ]);
    const ended = assert.rejects(waiting, (error) => exitCodeOf(error) === 3);
    await minutes(clock, 5);
    await ended;
  });

  it('ends when the program stops', async () => {
    const { clock, stop, waiting } = setUp([notServed]);
    await clock.advance(10);
    stop.abort(new Error('stop'));
    await assert.rejects(waiting, /stop/);
  });
});

describe('syncChecks', () => {
  it('runtime/18.1: sample 19: has a readiness check per kind, named by it', () => {
    const checks = syncChecks([notServed, entry('pods', { isSynced: true })]);
    assert.deepEqual([...checks.keys()], ['cache-widgets.ex.io', 'cache-pods']);
    assert.throws(() => checks.get('cache-widgets.ex.io')?.(), /widgets\.ex\.io: no such kind/);
    assert.doesNotThrow(() => checks.get('cache-pods')?.());
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pullDelayMs, type RestartMemory, restartDecision, retryDelayMs } from './restart-backoff.ts';

/** When a container that dies after `livesMs` is started, in seconds after its first end; and how long it waited. */
function starts(count: number, { livesMs = 0, maxMs = 300_000 } = {}): readonly number[] {
  let memory: RestartMemory | undefined;
  let finishedAtMs = 1_000_000;
  const waits: number[] = [];
  for (let left = count; left > 0; left--) {
    let nowMs = finishedAtMs;
    let decision = restartDecision({ memory, finishedAtMs, nowMs, maxMs });
    if (decision.kind === 'wait') {
      assert.equal(decision.untilMs, finishedAtMs + decision.delayMs);
      assert.equal(restartDecision({ memory, finishedAtMs, nowMs: decision.untilMs - 1, maxMs }).kind, 'wait');
      nowMs = decision.untilMs;
      decision = restartDecision({ memory, finishedAtMs, nowMs, maxMs });
    }
    assert.equal(decision.kind, 'start');
    if (decision.kind !== 'start') continue;
    waits.push((nowMs - finishedAtMs) / 1000);
    memory = decision.memory;
    finishedAtMs = nowMs + livesMs;
  }
  return waits;
}

describe('restartDecision', () => {
  it('lab/N13: starts again at once, then after 10, 20, 40, 80, 160 and 300 s', () => {
    assert.deepEqual(starts(9), [0, 10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('lab/N13: counts from the end of the run, however long it was', () => {
    assert.deepEqual(starts(4, { livesMs: 9 * 60_000 }), [0, 10, 20, 40]);
  });

  it('lab/N13: begins anew after a run that ended more than ten minutes after its start', () => {
    assert.deepEqual(starts(4, { livesMs: 10 * 60_000 }), [0, 10, 20, 40]);
    assert.deepEqual(starts(4, { livesMs: 10 * 60_000 + 1 }), [0, 0, 0, 0]);
  });

  it('lab/N13: waits no longer than the node says', () => {
    assert.deepEqual(starts(5, { maxMs: 1000 }), [0, 1, 1, 1, 1]);
    assert.deepEqual(starts(5, { maxMs: 30_000 }), [0, 10, 20, 30, 30]);
  });
});

describe('delays of other starts', () => {
  it('lab/N12: an image is asked for again after 10 s, doubled up to 5 min', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((failures) => pullDelayMs(failures) / 1000);
    assert.deepEqual(delays, [10, 20, 40, 80, 160, 300, 300]);
  });

  it('what lacks something is tried again after 1 s, doubled up to 10 s', () => {
    const delays = [1, 2, 3, 4, 5, 6].map((failures) => retryDelayMs(failures) / 1000);
    assert.deepEqual(delays, [1, 2, 4, 8, 10, 10]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { PrometheusMetrics } from './metrics.ts';
import { watchProcess } from './process-metrics.ts';

function setUp() {
  const clock = new VirtualClock({ start: new Date(5000) });
  const metrics = new PrometheusMetrics();
  const lines: string[] = [];
  const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => clock.now() });
  const delay = {
    max: 0,
    isOn: false,
    enable: () => (delay.isOn = true),
    disable: () => (delay.isOn = false),
    reset: () => (delay.max = 0),
  };
  const usage = { heapUsedBytes: 10, heapLimitBytes: 100, residentBytes: 7, cpuSeconds: 1 };
  const stop = new AbortController();
  const done = watchProcess(
    {
      metrics,
      clock,
      log,
      delay: {
        ...delay,
        get max() {
          return delay.max;
        },
      },
      usage: () => ({ ...usage }),
    },
    stop.signal,
  );
  return { clock, metrics, lines, delay, usage, stop, done };
}

describe('watchProcess', () => {
  it('runtime/M10: observes the longest lag of each second', async () => {
    const { clock, metrics, delay, stop, done } = setUp();
    delay.max = 300e6;
    await clock.advance(1000);
    delay.max = 2e6;
    await clock.advance(1000);
    const text = await metrics.text();
    assert.match(text, /slipway_event_loop_lag_seconds_bucket\{le="0\.25"\} 1/);
    assert.match(text, /slipway_event_loop_lag_seconds_bucket\{le="0\.5"\} 2/);
    stop.abort();
    await done;
    assert.equal(clock.nextDueMs, undefined);
  });

  it('runtime/M10: warns once of a full heap, and again after relief', async () => {
    const { clock, lines, usage, stop, done } = setUp();
    for (const heapUsedBytes of [84, 85, 95, 80, 90, 74, 86]) {
      usage.heapUsedBytes = heapUsedBytes;
      await clock.advance(1000);
    }
    assert.equal(lines.length, 2, lines.join(''));
    assert.match(lines[0] ?? '', /heap is nearly full/);
    stop.abort();
    await done;
  });

  it('shows memory, processor time and the start of the process', async () => {
    const { metrics, usage, stop, done } = setUp();
    await metrics.text();
    usage.cpuSeconds = 3.5;
    const text = await metrics.text();
    for (const line of [
      'process_cpu_seconds_total 3.5',
      'process_resident_memory_bytes 7',
      'process_start_time_seconds 5',
      'slipway_heap_limit_bytes 100',
    ]) {
      assert.ok(text.includes(`\n${line}\n`), `${line} in ${text}`);
    }
    stop.abort();
    await done;
  });

  it('reads the real numbers of this process', async () => {
    const clock = new VirtualClock();
    const metrics = new PrometheusMetrics();
    const log = createLog({ level: 'error', write: () => {}, now: () => clock.now() });
    const stop = new AbortController();
    const done = watchProcess({ metrics, clock, log }, stop.signal);
    await clock.advance(1000);
    assert.match(await metrics.text(), /process_resident_memory_bytes [1-9]\d{6,}/);
    stop.abort();
    await done;
  });
});

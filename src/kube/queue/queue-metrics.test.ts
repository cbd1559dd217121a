import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { WorkQueue } from './work-queue.ts';

async function setup() {
  const clock = new VirtualClock();
  const metrics = new PrometheusMetrics();
  const queue = new WorkQueue({ clock, metrics, name: 'widget' });
  /** The series of one metric without the labels that all have. */
  const series = async (name: string) =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith(`workqueue_${name}{`))
      .map((line) =>
        line
          .replace(/^[^{]*\{name="widget",controller="widget",?/, '')
          .replace('} ', ' ')
          .trim(),
      );
  return { clock, metrics, queue, series };
}

describe('queue metrics', () => {
  it('runtime/Q9: every series is there with zero before anything happens', async () => {
    const { series } = await setup();
    assert.deepEqual(await series('depth'), ['priority="0" 0']);
    for (const name of [
      'adds_total',
      'retries_total',
      'unfinished_work_seconds',
      'longest_running_processor_seconds',
    ])
      assert.deepEqual(await series(name), ['0'], name);
  });

  it('runtime/Q9: depth is told by priority, and falls back to zero', async () => {
    const { queue, series } = await setup();
    queue.add('a', { priority: -100 });
    queue.add('b', { priority: -100 });
    queue.add('b', { priority: 5 });
    queue.add('delayed', { afterMs: 5 });
    const sorted = async () => (await series('depth')).toSorted();
    assert.deepEqual(await sorted(), ['priority="-100" 1', 'priority="0" 0', 'priority="5" 1']);
    await queue.get();
    await queue.get();
    assert.deepEqual(await sorted(), ['priority="-100" 0', 'priority="0" 0', 'priority="5" 0']);
  });

  it('runtime/Q9: more than 25 priorities share one label', async () => {
    const { queue, series } = await setup();
    for (let priority = 0; priority < 30; priority++) queue.add(`${priority}`, { priority });
    const depths = await series('depth');
    assert.equal(depths.length, 26);
    assert.ok(depths.includes('priority="exceeded_cardinality_limit" 5'));
  });

  it('runtime/Q9: adds count keys that became ready, retries those that were delayed', async () => {
    const { clock, queue, series } = await setup();
    queue.add('a');
    queue.add('a');
    queue.add('b', { isRateLimited: true });
    queue.add('c', { afterMs: 1000 });
    await clock.advance(10);
    assert.deepEqual(await series('adds_total'), ['2']);
    assert.deepEqual(await series('retries_total'), ['2']);
    assert.deepEqual(await series('adds_total'), ['2']);
  });

  it('runtime/Q9: durations of waiting and of work, in buckets from 1e-8 to 1e3 seconds', async () => {
    const { clock, metrics, queue, series } = await setup();
    queue.add('a');
    await clock.advance(2000);
    await queue.get();
    await clock.advance(30_000);
    assert.deepEqual(await series('unfinished_work_seconds'), ['30']);
    assert.deepEqual(await series('longest_running_processor_seconds'), ['30']);
    queue.done('a');
    assert.deepEqual(await series('queue_duration_seconds_sum'), ['2']);
    assert.deepEqual(await series('work_duration_seconds_sum'), ['30']);
    const limits = (await metrics.text()).matchAll(/^workqueue_work_duration_seconds_bucket\{le="([^"]+)"/gm);
    const decades = Array.from({ length: 12 }, (_, index) => 10 ** (index - 8));
    assert.deepEqual(
      Array.from(limits, ([, limit]) => Number(limit).toPrecision(3)),
      [...decades.map((value) => value.toPrecision(3)), 'NaN'],
    );
  });

  it('hands over what was counted when the queue is disposed, and reads it no more', async () => {
    const { metrics, queue, series } = await setup();
    queue.add('a');
    queue[Symbol.dispose]();
    assert.deepEqual(await series('adds_total'), ['1']);
    assert.match(await metrics.text(), /workqueue_depth\{.*priority="0"\} 0/);
  });
});

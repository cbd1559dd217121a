import type { Histogram, Labels, Metrics } from '../metrics/metrics.ts';

/** What a scrape reads from a queue. */
export interface QueueReading {
  readonly depths: readonly { readonly priority: number; readonly size: number }[];
  /** Since when each key is being worked on, on the clock of the queue. */
  readonly startedMs: Iterable<number>;
  readonly nowMs: number;
}

/** As upstream: a priority is a label, and labels must stay few. */
const MAX_PRIORITIES = 25;
const REST = 'exceeded_cardinality_limit';
const BUCKETS = Array.from({ length: 12 }, (_, index) => Number(`1e${index - 8}`));

/**
 * The metrics of one queue under the names of upstream (Q9). Counting is two additions of a number: gauges and counters
 * are handed over when somebody scrapes, histograms at once.
 */
export class QueueMetrics implements Disposable {
  readonly #labels: Labels;
  readonly #queueSeconds: Histogram;
  readonly #workSeconds: Histogram;
  readonly #collector: Disposable;
  readonly #collect: () => void;
  readonly #priorities = new Set<string>(['0']);
  #adds = 0;
  #retries = 0;

  constructor(metrics: Metrics, name: string, read: () => QueueReading) {
    this.#labels = { name, controller: name };
    this.#queueSeconds = histogram(metrics, 'queue_duration', 'How long a key waits until it is worked on');
    this.#workSeconds = histogram(metrics, 'work_duration', 'How long the work on a key takes');
    this.#collect = this.#collection(metrics, read);
    this.#collector = metrics.onScrape(this.#collect);
  }

  added(): void {
    this.#adds++;
  }

  retried(): void {
    this.#retries++;
  }

  started(waitedMs: number): void {
    this.#queueSeconds.observe(this.#labels, waitedMs / 1000);
  }

  finished(workedMs: number): void {
    this.#workSeconds.observe(this.#labels, workedMs / 1000);
  }

  /** Counts what was not scraped yet and stops. */
  [Symbol.dispose](): void {
    this.#collect();
    this.#collector[Symbol.dispose]();
  }

  #collection(metrics: Metrics, read: () => QueueReading): () => void {
    const labels = ['name', 'controller'];
    const gauge = (name: string, help: string, more: readonly string[] = []) =>
      metrics.gauge({ name: `workqueue_${name}`, help, labels: [...labels, ...more] });
    const counter = (name: string, help: string) => metrics.counter({ name: `workqueue_${name}`, help, labels });
    const depth = gauge('depth', 'Keys that are ready, by priority', ['priority']);
    const unfinished = gauge('unfinished_work_seconds', 'Sum of the time that keys in work have taken so far');
    const longest = gauge('longest_running_processor_seconds', 'Time that the longest work in progress has taken');
    const adds = counter('adds_total', 'Keys that became ready');
    const retries = counter('retries_total', 'Keys that were added with a delay');
    const collect = () => {
      const { depths, startedMs, nowMs } = read();
      for (const [priority, size] of this.#sizes(depths)) depth.set({ ...this.#labels, priority }, size);
      const seconds = Array.from(startedMs, (ms) => (nowMs - ms) / 1000);
      unfinished.set(
        this.#labels,
        seconds.reduce((sum, each) => sum + each, 0),
      );
      longest.set(
        this.#labels,
        seconds.reduce((most, each) => Math.max(most, each), 0),
      );
      adds.add(this.#labels, this.#adds);
      retries.add(this.#labels, this.#retries);
      this.#adds = 0;
      this.#retries = 0;
    };
    collect();
    return collect;
  }

  /** Also zeros, for priorities that were there once. */
  #sizes(depths: QueueReading['depths']): ReadonlyMap<string, number> {
    for (const { priority } of depths)
      if (this.#priorities.size < MAX_PRIORITIES) this.#priorities.add(`${priority}`);
    const sizes = new Map(Array.from(this.#priorities, (priority) => [priority, 0]));
    for (const { priority, size } of depths) {
      const label = this.#priorities.has(`${priority}`) ? `${priority}` : REST;
      sizes.set(label, (sizes.get(label) ?? 0) + size);
    }
    return sizes;
  }
}

const histogram = (metrics: Metrics, name: string, help: string): Histogram =>
  metrics.histogram({
    name: `workqueue_${name}_seconds`,
    help,
    labels: ['name', 'controller'],
    buckets: BUCKETS,
  });

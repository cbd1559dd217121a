import type { Counter, Gauge, Metrics } from '../metrics/metrics.ts';
import type { InformerHealth } from './cache.ts';

const LABELS = ['resource'];
const COUNTED = ['divergences', 'relists', 'reconnects'] as const;

type Counted = Pick<InformerHealth, (typeof COUNTED)[number]>;

/** What is counted about informers, read from their health when somebody scrapes. */
export class CacheMetrics {
  readonly #metrics: Metrics;
  readonly #objects: Gauge;
  readonly #counters: Readonly<Record<keyof Counted, Counter>>;
  /** What was counted at the scrape before; as many as there are resources. */
  readonly #before = new Map<string, Counted>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    const counter = (name: string, help: string) => metrics.counter({ name, help, labels: LABELS });
    this.#objects = metrics.gauge({ name: 'slipway_cache_objects', help: 'Objects in the cache', labels: LABELS });
    this.#counters = {
      divergences: counter('slipway_cache_divergence_total', 'Objects that differed from the server: a bug'),
      relists: counter('slipway_cache_relists_total', 'Lists after the first one'),
      reconnects: counter('slipway_cache_reconnects_total', 'Watches opened after the first one'),
    };
  }

  observe(health: () => readonly InformerHealth[]): Disposable {
    return this.#metrics.onScrape(() => {
      // Two versions of one resource are one resource.
      for (const informers of Map.groupBy(health(), ({ resource }) => resource).values()) this.#collect(informers);
    });
  }

  #collect(informers: readonly InformerHealth[]): void {
    const [{ resource } = { resource: '' }] = informers;
    const sum = (name: keyof Counted | 'objects') => informers.reduce((total, health) => total + health[name], 0);
    const now = { divergences: sum('divergences'), relists: sum('relists'), reconnects: sum('reconnects') };
    this.#objects.set({ resource }, sum('objects'));
    for (const name of COUNTED) {
      // Less than before: an informer was left out that counts again later.
      const more = now[name] - (this.#before.get(resource)?.[name] ?? 0);
      this.#counters[name].add({ resource }, Math.max(0, more));
    }
    this.#before.set(resource, now);
  }
}

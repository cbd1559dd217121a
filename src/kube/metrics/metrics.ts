import { Counter as PromCounter, Gauge as PromGauge, Histogram as PromHistogram, Registry } from 'prom-client';

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels: Labels, by?: number): void;
}
export interface Gauge {
  set(labels: Labels, value: number): void;
  add(labels: Labels, by: number): void;
  /** Ends a series: what it was about is there no more. */
  remove(labels: Labels): void;
}
export interface Histogram {
  observe(labels: Labels, value: number): void;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** What a program counts. Series are made with zero at start, so that alerts work (S44): add(labels, 0). */
export interface Metrics {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Histogram;
  /** Runs before each scrape, for gauges that are read and not counted. */
  onScrape(collect: () => void): Disposable;
  /** The text that Prometheus reads. */
  text(): Promise<string>;
}

/** A registry of its own: two managers in one process do not share numbers. Asking twice for a name gives one metric. */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();
  readonly #made = new Map<string, unknown>();
  readonly #collectors = new Set<() => void>();

  counter(options: MetricOptions): Counter {
    return this.#once(options.name, () => {
      const metric = new PromCounter(this.#config(options));
      return { add: (labels, by = 1) => metric.inc({ ...labels }, by) };
    });
  }

  gauge(options: MetricOptions): Gauge {
    return this.#once(options.name, () => {
      const metric = new PromGauge(this.#config(options));
      return {
        set: (labels, value) => metric.set({ ...labels }, value),
        add: (labels, by) => metric.inc({ ...labels }, by),
        remove: (labels) => metric.remove({ ...labels }),
      };
    });
  }

  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Histogram {
    return this.#once(options.name, () => {
      const metric = new PromHistogram({ ...this.#config(options), buckets: [...options.buckets] });
      return { observe: (labels, value) => metric.observe({ ...labels }, value) };
    });
  }

  onScrape(collect: () => void): Disposable {
    this.#collectors.add(collect);
    return { [Symbol.dispose]: () => void this.#collectors.delete(collect) };
  }

  text(): Promise<string> {
    for (const collect of this.#collectors) collect();
    return this.#registry.metrics();
  }

  #config({ name, help, labels = [] }: MetricOptions) {
    return { name, help, labelNames: [...labels], registers: [this.#registry] };
  }

  #once<T>(name: string, make: () => T): T {
    const made = (this.#made.get(name) as T | undefined) ?? make();
    this.#made.set(name, made);
    return made;
  }
}

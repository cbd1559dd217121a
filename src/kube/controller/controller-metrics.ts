import type { Counter, Histogram, Labels, Metrics } from '../metrics/metrics.ts';
import type { Verdict } from './settle.ts';

// Those of upstream (controller-runtime pkg/internal/controller/metrics), because dashboards read them.
const BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

const VERDICTS: readonly Exclude<Verdict, 'abandoned'>[] = [
  'success',
  'requeue_after',
  'user_error',
  'terminal_error',
  'retryable_error',
  'bug',
];

/** The label that upstream uses; `requeue` exists there and never happens here. */
const upstreamResult = (verdict: Verdict): string =>
  verdict === 'success' || verdict === 'requeue_after' ? verdict : 'error';

export interface ControllerMetricsOptions {
  readonly metrics: Metrics;
  readonly controller: string;
  readonly maxConcurrent: number;
  /** Reconciles that run now. */
  readonly active: () => number;
}

/** The metrics of one controller under the names of upstream, and its verdicts under ours; all series exist at zero (R13). */
export class ControllerMetrics implements Disposable {
  readonly #labels: Labels;
  readonly #seconds: Histogram;
  readonly #collector: Disposable;
  readonly #collect: () => void;
  readonly #verdicts = new Map<Verdict, number>(VERDICTS.map((verdict) => [verdict, 0]));
  readonly #timeouts: Counter;
  readonly #handlerErrors: Counter;

  constructor({ metrics, controller, maxConcurrent, active }: ControllerMetricsOptions) {
    const named = (name: string, help: string) => ({ name, help, labels: ['controller'] });
    const runtime = (name: string, help: string) => named(`controller_runtime_${name}`, help);
    this.#labels = { controller };
    this.#seconds = metrics.histogram({
      ...runtime('reconcile_time_seconds', 'How long a reconcile takes'),
      buckets: BUCKETS,
    });
    this.#timeouts = metrics.counter(
      runtime('reconcile_timeouts_total', 'Reconciles that took longer than allowed'),
    );
    this.#handlerErrors = metrics.counter(
      named('slipway_controller_handler_errors_total', 'Events that were dropped because a handler threw'),
    );
    metrics
      .gauge(runtime('max_concurrent_reconciles', 'Reconciles that may run at once'))
      .set(this.#labels, maxConcurrent);
    this.timedOut(0);
    this.handlerFailed(0);
    const workers = metrics.gauge(runtime('active_workers', 'Reconciles that run now'));
    const countVerdicts = this.#verdictCounts(metrics);
    this.#collect = () => {
      workers.set(this.#labels, active());
      countVerdicts();
    };
    this.#collect();
    this.#collector = metrics.onScrape(this.#collect);
  }

  ended(verdict: Verdict, tookMs: number): void {
    this.#seconds.observe(this.#labels, tookMs / 1000);
    const count = this.#verdicts.get(verdict);
    if (count !== undefined) this.#verdicts.set(verdict, count + 1);
  }

  timedOut(by = 1): void {
    this.#timeouts.add(this.#labels, by);
  }

  handlerFailed(by = 1): void {
    this.#handlerErrors.add(this.#labels, by);
  }

  /** Counts what was not scraped yet and stops. */
  [Symbol.dispose](): void {
    this.#collect();
    this.#collector[Symbol.dispose]();
  }

  /** Verdicts are counted as plain numbers and handed over when somebody scrapes: the loop is a hot path. */
  #verdictCounts(metrics: Metrics): () => void {
    const labels = ['controller', 'result'];
    const named = (name: string, help: string, by = ['controller']) =>
      metrics.counter({ name: `controller_runtime_${name}`, help, labels: by });
    const total = named('reconcile_total', 'Reconciles by result', labels);
    const errors = named('reconcile_errors_total', 'Reconciles that failed');
    const terminal = named('terminal_reconcile_errors_total', 'Reconciles that failed and are not tried again');
    const panics = named('reconcile_panics_total', 'Reconciles that failed by a bug');
    const verdicts = metrics.counter({
      name: 'slipway_controller_reconciles_total',
      help: 'Reconciles by what they came to',
      labels,
    });
    total.add({ ...this.#labels, result: 'requeue' }, 0);
    return () => {
      for (const [verdict, count] of this.#verdicts) {
        const result = upstreamResult(verdict);
        verdicts.add({ ...this.#labels, result: verdict }, count);
        total.add({ ...this.#labels, result }, count);
        errors.add(this.#labels, result === 'error' ? count : 0);
        terminal.add(this.#labels, verdict === 'user_error' || verdict === 'terminal_error' ? count : 0);
        panics.add(this.#labels, verdict === 'bug' ? count : 0);
        this.#verdicts.set(verdict, 0);
      }
    };
  }
}

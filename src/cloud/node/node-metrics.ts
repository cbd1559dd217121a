import type { Node } from '../../api/generated/core-v1.ts';
import type { Clock } from '../../base/clock.ts';
import type { Counter, Histogram, Metrics } from '../../kube/metrics/metrics.ts';
import { PROVIDER_ERRORS, ProviderError, type ProviderErrorKind } from '../../sdk/provider/provider-error.ts';
import { NodeProblem } from './node-problem.ts';

/** The kinds of the provider, and: the machine is gone, the Node and its machine do not fit, the server refuses it. */
export type SyncFailure = ProviderErrorKind | 'absent' | 'mismatch' | 'api';

const FAILURES = [...Object.keys(PROVIDER_ERRORS), 'absent', 'mismatch', 'api'] as readonly SyncFailure[];
const DELAY_BUCKETS = [1, 4, 16, 64, 256, 1024];

/** Pure: what a failure is counted as. */
export function syncFailure(thrown: unknown): SyncFailure {
  if (thrown instanceof ProviderError) return thrown.kind;
  return thrown instanceof NodeProblem ? 'mismatch' : 'api';
}

/** What is counted of Nodes. The first two have the names of upstream, for dashboards that know them (N14). */
export class NodeMetrics {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #untainted: Histogram;
  readonly #synced: Histogram;
  readonly #failures: Counter;

  constructor(metrics: Metrics, clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#untainted = metrics.histogram({
      name: 'node_controller_cloud_provider_taint_removal_delay_seconds',
      help: 'Time from the creation of a Node until it is not tainted as uninitialized any more',
      buckets: DELAY_BUCKETS,
    });
    this.#synced = metrics.histogram({
      name: 'node_controller_initial_node_sync_delay_seconds',
      help: 'Time from the creation of a Node until everything that its machine tells is written',
      buckets: DELAY_BUCKETS,
    });
    this.#failures = metrics.counter({
      name: 'slipway_cloud_node_sync_errors_total',
      help: 'Attempts to bring what the cloud knows to a Node that failed',
      labels: ['kind'],
    });
    for (const kind of FAILURES) this.#failures.add({ kind }, 0);
  }

  untainted(node: Node): void {
    this.#untainted.observe({}, this.#ageSeconds(node));
  }

  synced(node: Node): void {
    this.#synced.observe({}, this.#ageSeconds(node));
  }

  failed(kind: SyncFailure): void {
    this.#failures.add({ kind });
  }

  /** Never below zero: the server has a clock of its own. */
  #ageSeconds({ metadata: { creationTimestamp } }: Node): number {
    const nowMs = this.#clock.now().getTime();
    return Math.max(0, nowMs - Date.parse(creationTimestamp ?? new Date(nowMs).toISOString())) / 1000;
  }
}

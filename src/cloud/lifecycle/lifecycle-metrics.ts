import { causeChain } from '../../base/errors.ts';
import type { Counter, Histogram, Metrics } from '../../kube/metrics/metrics.ts';
import { providerErrorKind } from '../../sdk/provider/provider-error.ts';
import type { InstanceAnswer } from '../instances/instance-answer.ts';

const OPERATIONS = ['instance_exists', 'instance_shutdown'] as const;
const RESULTS = ['success', 'error', 'instance_not_found', 'not_implemented', 'canceled'] as const;
const BUCKETS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);

type CallResult = (typeof RESULTS)[number];

/** Counted as upstream counts them, under its names (L10). */
export class LifecycleMetrics {
  readonly #durations: Histogram;
  readonly #calls: Counter;

  constructor(metrics: Metrics) {
    this.#durations = metrics.histogram({
      name: 'cloud_node_lifecycle_controller_monitor_nodes_duration_seconds',
      help: 'How long one pass over all nodes took.',
      buckets: BUCKETS,
    });
    this.#calls = metrics.counter({
      name: 'cloud_node_lifecycle_controller_cloud_provider_calls_total',
      help: 'Questions to the cloud provider about machines, by what was asked and how it ended.',
      labels: ['operation', 'result'],
    });
    for (const operation of OPERATIONS) for (const result of RESULTS) this.#calls.add({ operation, result }, 0);
  }

  passed(durationMs: number): void {
    this.#durations.observe({}, durationMs / 1000);
  }

  /** One answer holds what upstream asks for twice: whether a machine exists, and then whether it is off (L8). */
  answered(answer: InstanceAnswer, signal: AbortSignal): void {
    this.#calls.add({ operation: 'instance_exists', result: callResult(answer, signal) });
    if (answer.state === 'present') this.#calls.add({ operation: 'instance_shutdown', result: 'success' });
  }
}

/** The word of upstream for how a question ended. */
export function callResult(answer: InstanceAnswer, signal: AbortSignal): CallResult {
  if (answer.state === 'absent') return 'instance_not_found';
  if (answer.state !== 'failed') return 'success';
  const { error } = answer;
  if (signal.aborted || causeChain(error).some(isAbort)) return 'canceled';
  return providerErrorKind(error) === 'unsupported' ? 'not_implemented' : 'error';
}

const isAbort = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'AbortError';

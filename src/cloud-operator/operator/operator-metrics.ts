import type { Clock } from '../../base/clock.ts';
import type { Gauge, Metrics } from '../../kube/metrics/metrics.ts';
import { USUAL_TYPES } from '../status/conditions.ts';
import type { OperatorCondition } from '../status/operator-status.ts';

/** How a workload does. */
export interface ObservedOperand {
  readonly kind: string;
  readonly name: string;
  readonly isConverged: boolean;
}

/** What the operator counts besides what every controller does (R94). */
export class OperatorMetrics {
  readonly #clock: Clock;
  readonly #condition: Gauge;
  readonly #converged: Gauge;
  readonly #applied: Gauge;
  #types: readonly string[] = [];
  #operands: readonly ObservedOperand[] = [];

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock;
    this.#condition = metrics.gauge({
      name: 'slipway_cloud_operator_condition',
      help: 'Whether a condition of the ClusterOperator is True: 1 or 0.',
      labels: ['type'],
    });
    this.#converged = metrics.gauge({
      name: 'slipway_cloud_operator_operand_converged',
      help: 'Whether a workload has been rolled out as it was applied: 1 or 0.',
      labels: ['kind', 'name'],
    });
    this.#applied = metrics.gauge({
      name: 'slipway_cloud_operator_last_apply_timestamp_seconds',
      help: 'When all operands were last found or made as they should be; 0 before that.',
    });
    for (const type of USUAL_TYPES) this.#condition.set({ type }, 0);
    this.#applied.set({}, 0);
  }

  said(conditions: readonly Pick<OperatorCondition, 'type' | 'status'>[]): void {
    const types = [...USUAL_TYPES, ...conditions.map(({ type }) => type)];
    for (const type of this.#types.filter((one) => !types.includes(one))) this.#condition.remove({ type });
    for (const { type, status } of conditions) this.#condition.set({ type }, status === 'True' ? 1 : 0);
    this.#types = types;
  }

  /** All workloads that are deployed, a provider has one or two; none while nothing is. Others are told of no more. */
  observed(operands: readonly ObservedOperand[]): void {
    for (const { kind, name } of this.#operands) this.#converged.remove({ kind, name });
    for (const { kind, name, isConverged } of operands) this.#converged.set({ kind, name }, isConverged ? 1 : 0);
    this.#operands = operands;
  }

  applied(): void {
    this.#applied.set({}, Math.floor(this.#clock.now().getTime() / 1000));
  }
}

import type { Counter, Gauge, Metrics } from '../../kube/metrics/metrics.ts';
import { DOWNLOAD_FAILURES, type DownloadFailure } from '../infra-env/ignition-download.ts';
import { REASONS, type Reason } from './verdict.ts';

export type Phase = Reason | 'DataSecretAvailable';
const PHASES: readonly Phase[] = [...REASONS, 'DataSecretAvailable'];

/** What is counted besides what every controller counts (section 10). */
export class BootstrapMetrics {
  readonly #failures: Counter;
  readonly #machines: Gauge;
  /** By key of the config; bounded by the configs, for `left` takes out what goes. */
  readonly #phases = new Map<string, Phase>();

  constructor(metrics: Metrics) {
    this.#failures = metrics.counter({
      name: 'openshift_assisted_ignition_fetch_failures_total',
      help: 'Attempts to get the discovery ignition from assisted-service that failed, by what failed.',
      labels: ['failure'],
    });
    this.#machines = metrics.gauge({
      name: 'openshift_assisted_machine_phase',
      help: 'Machines by how far their bootstrap data is: the reason why there is none, or DataSecretAvailable.',
      labels: ['phase'],
    });
    for (const failure of DOWNLOAD_FAILURES) this.#failures.add({ failure }, 0);
    for (const phase of PHASES) this.#machines.set({ phase }, 0);
  }

  fetchFailed(failure: DownloadFailure): void {
    this.#failures.add({ failure });
  }

  reached(key: string, phase: Phase): void {
    if (this.#phases.get(key) === phase) return;
    this.left(key);
    this.#phases.set(key, phase);
    this.#machines.add({ phase }, 1);
  }

  left(key: string): void {
    const phase = this.#phases.get(key);
    if (phase !== undefined) this.#machines.add({ phase }, -1);
    this.#phases.delete(key);
  }
}

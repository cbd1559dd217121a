import { MACHINE_PHASES, type Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { type KubeObject, keyOf, keyText } from '../../api/object.ts';
import type { Gauge, Histogram, Metrics } from '../../kube/metrics/metrics.ts';

/** As Cluster API names them; another one is counted as `Unknown`. */
const PHASES: readonly string[] = MACHINE_PHASES;
/** Installations take from some minutes in a lab to some hours on slow hosts. */
const BUCKETS = [300, 600, 1200, 1800, 2400, 3000, 3600, 5400, 7200, 10_800];

/** What the provider counts besides what every controller does. */
export class ControlPlaneMetrics {
  readonly #phase: Gauge;
  readonly #duration: Histogram;
  /** By control plane; gone with it. */
  readonly #phases = new Map<string, readonly string[]>();

  constructor(metrics: Metrics) {
    this.#phase = metrics.gauge({
      name: 'openshift_assisted_control_plane_machine_phase',
      help: 'Control-plane Machines in each phase.',
      labels: ['phase'],
    });
    this.#duration = metrics.histogram({
      name: 'openshift_assisted_install_duration_seconds',
      help: 'From the AgentClusterInstall to a control plane that is available.',
      buckets: BUCKETS,
    });
    for (const phase of PHASES) this.#phase.set({ phase }, 0);
  }

  machines(controlPlane: KubeObject, machines: readonly Machine[]): void {
    this.#phases.set(keyText(keyOf(controlPlane)), machines.map(phaseOf));
    this.#count();
  }

  gone(controlPlane: KubeObject): void {
    this.#phases.delete(keyText(keyOf(controlPlane)));
    this.#count();
  }

  installed(seconds: number): void {
    this.#duration.observe({}, seconds);
  }

  #count(): void {
    const all = [...this.#phases.values()].flat();
    for (const phase of PHASES) this.#phase.set({ phase }, all.filter((one) => one === phase).length);
  }
}

function phaseOf({ status }: Machine): string {
  const { phase = 'Pending' } = status ?? {};
  return PHASES.includes(phase) ? phase : 'Unknown';
}

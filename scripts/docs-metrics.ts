import { ConfigMap } from '../src/api/generated/core-v1.ts';
import { VirtualClock } from '../src/base/clock.ts';
import { createLog } from '../src/base/log.ts';
import { controllerFor } from '../src/kube/controller/controller.ts';
import { DONE } from '../src/kube/controller/reconcile.ts';
import { LEADER_PROFILES } from '../src/kube/election/election-timing.ts';
import { Elector } from '../src/kube/election/elector.ts';
import { createManager } from '../src/kube/manager/create-manager.ts';
import type { MetricOptions, Metrics } from '../src/kube/metrics/metrics.ts';
import { watchProcess } from '../src/kube/metrics/process-metrics.ts';
import { Webhooks } from '../src/kube/webhook/webhooks.ts';
import { table } from './docs-markdown.ts';

export interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** Files that make metrics; a test finds others, which `runtimeMetrics` would have to bring to life here. */
export const METRIC_SOURCES = [
  'src/kube/cache/cache-metrics.ts',
  'src/kube/controller/controller-metrics.ts',
  'src/kube/election/elector.ts',
  'src/kube/events/create-event-recorder.ts',
  'src/kube/metrics/process-metrics.ts',
  'src/kube/queue/queue-metrics.ts',
  'src/kube/transport/measured.ts',
  'src/kube/webhook/webhooks.ts',
];

/** Remembers what is made and counts nothing. */
class MetricNotes implements Metrics {
  readonly rows = new Map<string, MetricRow>();

  counter(options: MetricOptions) {
    this.#note('counter', options);
    return { add: () => {} };
  }

  gauge(options: MetricOptions) {
    this.#note('gauge', options);
    return { set: () => {}, add: () => {} };
  }

  histogram(options: MetricOptions) {
    this.#note('histogram', options);
    return { observe: () => {} };
  }

  onScrape() {
    return { [Symbol.dispose]: () => {} };
  }

  async text() {
    return '';
  }

  #note(type: MetricRow['type'], { name, help, labels = [] }: MetricOptions): void {
    this.rows.set(name, { name, type, labels, help });
  }
}

/** Every metric of a program with all parts of the runtime. Nothing is opened and nothing is sent. */
export function runtimeMetrics(): readonly MetricRow[] {
  const metrics = new MetricNotes();
  const clock = new VirtualClock();
  const log = createLog({ level: 'error', write: () => {}, now: () => clock.now() });
  const manager = createManager({
    name: 'documented',
    kube: { url: 'https://127.0.0.1:6443' },
    registry: metrics,
    clock,
    log,
  });
  manager.add(controllerFor(ConfigMap).reconcile({ reconcile: async () => DONE }));
  new Elector({
    name: 'documented',
    identity: 'documented',
    timing: LEADER_PROFILES.default,
    store: { get: never, create: never, update: never },
    clock,
    log,
    metrics,
    elected: () => {},
  });
  new Webhooks({ metrics, clock, log });
  const delay = { enable: () => false, disable: () => false, reset: () => {}, max: 0 };
  void watchProcess({ metrics, clock, log, delay }, AbortSignal.abort());
  return [...metrics.rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const never = async (): Promise<never> => {
  throw new Error('nothing is sent');
};

const INTRO = `What a program with controllers serves on its metrics endpoint, in the text format of Prometheus. Names that
start with \`slipway_\` are ours; the others are those of controller-runtime, client-go and Prometheus itself, so that
existing dashboards and alerts work. Labels hold names of controllers, resources and results, never names of objects.`;

/** docs/reference/metrics.md. */
export const metricsPage = (rows: readonly MetricRow[]): string =>
  [
    '# Metrics',
    INTRO,
    table(
      ['metric', 'type', 'labels', 'meaning'],
      rows.map(({ name, type, labels, help }) => [
        `\`${name}\``,
        type,
        labels.length === 0 ? '–' : labels.map((label) => `\`${label}\``).join(', '),
        `${help.replace(/\.$/, '')}.`,
      ]),
    ),
  ].join('\n\n');

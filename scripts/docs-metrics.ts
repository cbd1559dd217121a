import { BootstrapMetrics } from '../src/agent/bootstrap/bootstrap-metrics.ts';
import { ControlPlaneMetrics } from '../src/agent/control-plane/control-plane-metrics.ts';
import { ConfigMap } from '../src/api/generated/core-v1.ts';
import { VirtualClock } from '../src/base/clock.ts';
import { createLog } from '../src/base/log.ts';
import { cloudControllerManager } from '../src/cloud/index.ts';
import { ControllersPart } from '../src/cloud/program/controllers-part.ts';
import { PermissionWatch } from '../src/cloud/program/permission-watch.ts';
import { connected } from '../src/cloud/program/provider.ts';
import { readSettings } from '../src/cloud/program/settings.ts';
import { OperatorMetrics } from '../src/cloud-operator/operator/operator-metrics.ts';
import { controllerFor } from '../src/kube/controller/controller.ts';
import { DONE } from '../src/kube/controller/reconcile.ts';
import { LEADER_PROFILES } from '../src/kube/election/election-timing.ts';
import { Elector } from '../src/kube/election/elector.ts';
import { createManager, type Manager } from '../src/kube/manager/create-manager.ts';
import type { MetricOptions, Metrics } from '../src/kube/metrics/metrics.ts';
import { watchProcess } from '../src/kube/metrics/process-metrics.ts';
import { Webhooks } from '../src/kube/webhook/webhooks.ts';
import { labProvider } from '../src/providers/lab/index.ts';
import { offlineProvider } from '../src/sdk/provider/connect-provider.ts';
import { table } from './docs-markdown.ts';

export interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** Files that make metrics; a test finds others, which would have to be brought to life here. */
export const METRIC_SOURCES = [
  'src/agent/bootstrap/bootstrap-metrics.ts',
  'src/agent/control-plane/control-plane-metrics.ts',
  'src/cloud-operator/operator/operator-metrics.ts',
  'src/cloud/lifecycle/lifecycle-metrics.ts',
  'src/cloud/node/node-metrics.ts',
  'src/cloud/program/controllers-part.ts',
  'src/cloud/program/provider.ts',
  'src/cloud/route/reconcile.ts',
  'src/cloud/service/service-metrics.ts',
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
    return { set: () => {}, add: () => {}, remove: () => {} };
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

/** What everything here is made with: a manager that sends nothing. */
function offline() {
  const metrics = new MetricNotes();
  const clock = new VirtualClock();
  const log = createLog({ level: 'error', write: () => {}, now: () => clock.now() });
  const kube = { url: 'https://127.0.0.1:6443' };
  const manager = createManager({ name: 'documented', kube, registry: metrics, clock, log });
  return { metrics, clock, log, manager };
}

/** Every metric of a program with all parts of the runtime. Nothing is opened and nothing is sent. */
export function runtimeMetrics(): readonly MetricRow[] {
  const { metrics, clock, log, manager } = offline();
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
  return sorted(metrics);
}

/** The metrics that the cloud controller manager has besides. Nothing is opened and nothing is sent. */
export function cloudMetrics(): readonly MetricRow[] {
  const { metrics, clock, log, manager } = offline();
  const before = new Set(metrics.rows.keys());
  const { settings } = readSettings([`--cloud-provider=${labProvider.name}`, '--cluster-cidr=10.0.0.0/8']);
  const { controllers } = cloudControllerManager;
  const provider = offlineProvider(labProvider);
  const ofControllers = controllers.flatMap((one) => one.parts({ manager, provider, settings: settings.cloud }));
  if (ofControllers.length < controllers.length) throw new Error('a controller has no parts');
  const found = { definition: labProvider, config: undefined, secrets: new Map() };
  new ControllersPart({ ...programParts(manager), found, settings });
  const around = { env: {}, clock, log, metrics, signal: AbortSignal.abort() };
  // What it makes of metrics is made at once; there is no cloud that it could connect to.
  void connected(found, settings, around).catch(() => undefined);
  for (const name of before) metrics.rows.delete(name);
  return sorted(metrics);
}

/** The metrics that the cloud operator has besides. */
export function operatorMetrics(): readonly MetricRow[] {
  const { metrics, clock } = offline();
  const before = new Set(metrics.rows.keys());
  new OperatorMetrics(metrics, clock);
  for (const name of before) metrics.rows.delete(name);
  return sorted(metrics);
}

/** The metrics that the Agent providers have besides; what both have under one name has two meanings. */
export function agentMetrics(): readonly MetricRow[] {
  const [bootstrap, controlPlane] = [new MetricNotes(), new MetricNotes()];
  new BootstrapMetrics(bootstrap);
  new ControlPlaneMetrics(controlPlane);
  return [...sorted(bootstrap), ...sorted(controlPlane)];
}

const programParts = (primary: Manager) => ({
  primary,
  kube: () => never(),
  controllers: cloudControllerManager.controllers,
  permissions: new PermissionWatch(primary),
  version: '',
  env: {},
});

const sorted = ({ rows }: MetricNotes): readonly MetricRow[] =>
  [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));

const never = async (): Promise<never> => {
  throw new Error('nothing is sent');
};

const INTRO = `What a program with controllers serves on its metrics endpoint, in the text format of Prometheus. Names that
start with \`slipway_\` are ours; the others are those of controller-runtime, client-go and Prometheus itself, so that
existing dashboards and alerts work. Labels hold names of controllers, resources and results, never names of objects.`;

const CLOUD_INTRO = `The cloud controller manager serves these besides, on its secure port. Names and labels are those of the
Go framework (the lifecycle of nodes and the labels of routes since 1.37), but for \`slipway_cloud_node_sync_errors_total\` and
\`cloud_provider_call_duration_seconds\`, which it does not have. Its queues are called \`Nodes\`, \`service\`, \`node\` and
\`Routes\`.`;

const OPERATOR_INTRO = `The cloud operator serves these besides, over TLS, for whoever may \`get\` the path \`/metrics\`. Upstream has none of its
own.`;

const AGENT_INTRO = `The Agent providers serve these besides, on \`:8080\`: the first two the bootstrap provider,
the others the control-plane provider. Both in one process count under one name: their phases have different names. Upstream has none
of its own.`;

/** docs/reference/metrics.md. */
export const metricsPage = (
  runtime: readonly MetricRow[],
  cloud: readonly MetricRow[],
  operator: readonly MetricRow[],
  agent: readonly MetricRow[],
): string =>
  [
    '# Metrics',
    INTRO,
    metricTable(runtime),
    '## Cloud controller manager',
    CLOUD_INTRO,
    metricTable(cloud),
    '## Cloud operator',
    OPERATOR_INTRO,
    metricTable(operator),
    '## Agent providers',
    AGENT_INTRO,
    metricTable(agent),
  ].join('\n\n');

const metricTable = (rows: readonly MetricRow[]): string =>
  table(
    ['metric', 'type', 'labels', 'meaning'],
    rows.map(({ name, type, labels, help }) => [
      `\`${name}\``,
      type,
      labels.length === 0 ? '–' : labels.map((label) => `\`${label}\``).join(', '),
      `${help.replace(/\.$/, '')}.`,
    ]),
  );

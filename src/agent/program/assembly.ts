import { hostname as hostOfMachine } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { ClusterAccess } from '../../kube/config/cluster-access.ts';
import type { LeaderElectionConfig, RuntimeConfig } from '../../kube/config/runtime-config.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import type { ResolvedTls } from '../../kube/manager/cluster-tls.ts';
import { createManager, type Manager } from '../../kube/manager/create-manager.ts';
import { TLS_CACHE, TlsWatch } from '../../kube/manager/tls-watch.ts';
import { type Metrics, PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import { type Need, needs } from '../../kube/rbac/need.ts';
import { listenerTls } from '../../kube/serving/listener-tls.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import { addWebhooks } from '../../kube/webhook/add-webhooks.ts';
import type { Webhooks } from '../../kube/webhook/webhooks.ts';
import type { HttpCall } from '../../oci/http-call.ts';
import { BOOTSTRAP_CACHE, bootstrapControllers } from '../bootstrap/controllers.ts';
import { controlPlaneControllers } from '../control-plane/controllers.ts';
import { agentNames } from '../manifests/names.ts';
import type { Provider } from '../provider.ts';
import { releaseImages } from '../release/release-images.ts';
import { registerBootstrapWebhooks, registerControlPlaneWebhooks } from '../webhooks/agent-webhooks.ts';
import { isSameForUs } from './openshift.ts';
import type { AgentSettings } from './settings.ts';

/** What is known before the managers are made. */
export interface Beginning {
  readonly kube: ClusterAccess | Transport;
  /** Absent where nothing is served over TLS. */
  readonly tls?: ResolvedTls;
}

export interface AssemblyOptions extends Beginning {
  /** At least one. */
  readonly providers: readonly Provider[];
  readonly settings: AgentSettings;
  readonly http: HttpCall;
  readonly connectWorkload: (kubeconfig: string) => Promise<KubeClient>;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly hostname?: string;
  /** Ends the program in order. */
  readonly stop: () => void;
}

/** Names that others know: Leases as upstream has them, so that two of a kind never work at a time (agent/P1). */
const PROVIDERS = {
  bootstrap: { name: 'slipway-agent-bootstrap', lease: '08dff33b.cluster.x-k8s.io' },
  'control-plane': { name: 'slipway-agent-control-plane', lease: '09dff44b.cluster.x-k8s.io' },
} as const;

/**
 * A control plane clones machines of whatever infrastructure its template is of; which providers a cluster has, nobody
 * can know when roles are made.
 */
const ANY_INFRASTRUCTURE: Need = needs(
  { group: 'infrastructure.cluster.x-k8s.io', plural: '*', scope: 'Namespaced' },
  ['get', 'list', 'watch', 'create', 'delete'],
  { reason: 'users choose the infrastructure provider, and with it the kind of the machines' },
);

export const programName = (providers: readonly Provider[]): string => {
  const [first, ...others] = providers;
  return first === undefined || others.length > 0 ? 'slipway-agent' : PROVIDERS[first].name;
};

/**
 * The whole program, which has sent nothing yet: a manager for each provider. The first one serves probes, metrics and
 * webhooks for all.
 */
export function assembledManagers(options: AssemblyOptions): readonly Manager[] {
  const registry = new PrometheusMetrics();
  const managers = options.providers.map((provider, at) =>
    managerOf(options, { provider, registry, isServing: at === 0 }),
  );
  const [serving, ...others] = managers;
  if (serving !== undefined) addServed(serving, options);
  for (const other of others) {
    serving?.readyz.addSource(() => checksOf(other, 'readyz'));
    serving?.healthz.addSource(() => checksOf(other, 'healthz'));
  }
  return managers;
}

/** Under the name of their manager: both have checks of the same names. */
const checksOf = (manager: Manager, endpoint: 'readyz' | 'healthz') =>
  new Map([...manager[endpoint].all].map(([name, check]) => [`${manager.name}-${name}`, check] as const));

interface Part {
  readonly provider: Provider;
  readonly registry: Metrics;
  readonly isServing: boolean;
}

function managerOf(options: AssemblyOptions, { provider, registry, isServing }: Part): Manager {
  const { kube, settings, version, clock, log, tls, hostname = hostOfMachine() } = options;
  const { name } = PROVIDERS[provider];
  const manager = createManager({
    kube,
    name,
    version,
    hostname,
    clock,
    log: log.child({ provider }),
    registry,
    leaderElection: electionOf(options, provider),
    ...(settings.namespace !== '' && { namespaces: [settings.namespace] }),
    ...(isServing && servedConfig(settings, tls)),
    cache: {
      byKind: {
        ...(provider === 'bootstrap' && BOOTSTRAP_CACHE),
        ...(isServing && tls?.policy !== undefined && TLS_CACHE),
      },
    },
    needs: provider === 'control-plane' ? [ANY_INFRASTRUCTURE] : [],
  });
  for (const controller of controllersOf(options, provider, registry)) manager.add(controller);
  return manager;
}

const servedConfig = (
  { health, metrics, isMetricsSecure, webhook }: AgentSettings,
  tls: ResolvedTls | undefined,
): Partial<RuntimeConfig> => ({
  health: { bind: health },
  metrics: {
    bind: metrics,
    secure: isMetricsSecure,
    ...(tls !== undefined && { tls: listenerTls(tls.settings) }),
  },
  ...(webhook.port !== 0 && {
    webhook: {
      port: webhook.port,
      certDir: webhook.certDir,
      ...(webhook.host !== '' && { host: webhook.host }),
    },
  }),
});

function electionOf({ kube, settings }: AssemblyOptions, provider: Provider): false | LeaderElectionConfig {
  if (!settings.isElected) return false;
  const own = typeof kube === 'function' ? '' : kube.namespace;
  const namespace = settings.electionNamespace || own || agentNames(provider).namespace;
  return { id: PROVIDERS[provider].lease, namespace };
}

function controllersOf(
  { settings, http, clock, connectWorkload }: AssemblyOptions,
  provider: Provider,
  metrics: Metrics,
): readonly Controller[] {
  const filter = settings.watchFilter === '' ? {} : { watchFilter: settings.watchFilter };
  if (provider === 'bootstrap') return bootstrapControllers({ http, settings: settings.assisted, ...filter });
  return controlPlaneControllers({
    releases: releaseImages({ http, clock }),
    connectWorkload,
    clock,
    metrics,
    infrastructure: [],
    ...filter,
  });
}

/** Up before there is a leader. */
function addServed(manager: Manager, { providers, settings, tls, stop }: AssemblyOptions): void {
  if (tls?.policy !== undefined) manager.add(new TlsWatch(manager, tls.policy, stop, isSameForUs));
  if (settings.webhook.port === 0 || tls === undefined) return;
  const [first = 'bootstrap'] = providers;
  addWebhooks(manager, {
    namespace: agentNames(first).namespace,
    tls: listenerTls(tls.settings),
    register: (webhooks) => registerWebhooks(webhooks, providers),
  });
}

/** Admission and conversion of the kinds of these providers. */
export function registerWebhooks(webhooks: Webhooks, providers: readonly Provider[]): void {
  if (providers.includes('bootstrap')) registerBootstrapWebhooks(webhooks);
  if (providers.includes('control-plane')) registerControlPlaneWebhooks(webhooks);
}

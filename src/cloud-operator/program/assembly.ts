import { hostname as hostOfMachine } from 'node:os';
import { Lease } from '../../api/generated/coordination-v1.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ClusterAccess } from '../../kube/config/cluster-access.ts';
import type { LeaderElectionConfig, RuntimeConfig } from '../../kube/config/runtime-config.ts';
import type { ResolvedTls } from '../../kube/manager/cluster-tls.ts';
import { type Addable, createManager, type Manager } from '../../kube/manager/create-manager.ts';
import type { Flag } from '../../kube/manager/flag-parser.ts';
import { TLS_CACHE, TlsWatch } from '../../kube/manager/tls-watch.ts';
import { watchProcess } from '../../kube/metrics/process-metrics.ts';
import { type Need, needs } from '../../kube/rbac/need.ts';
import { reviewNeeds } from '../../kube/rbac/runtime-needs.ts';
import type { TlsSettings } from '../../kube/serving/tls-profile.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import type { ProviderRegistry } from '../registry/providers.ts';
import { TOPOLOGY_NEEDS } from './cluster-facts.ts';
import { IDENTITY_PREFIX, type LeasePlace } from './foreign-leader.ts';
import { GatesWatch } from './gates-watch.ts';
import { metricsServer } from './metrics-server.ts';
import type { OperatorSettings, SettingSource } from './settings.ts';

/** What controllers are told when the program starts. */
export interface SetupFacts {
  readonly settings: OperatorSettings;
  readonly registry: ProviderRegistry;
  readonly tls: TlsSettings;
  readonly readText?: (file: string) => Promise<string>;
}

/** What one of the two programs is. */
export interface ProgramParts {
  /** In the user agent, field managers and events. */
  readonly name: string;
  readonly lease: SettingSource['lease'];
  /** Besides those of both. */
  readonly flags: readonly Flag[];
  /** It has metrics for others, and speaks TLS as the cluster wants it (R5). */
  readonly isServing: boolean;
  /** Which namespaces it works in, and what of some kinds is read (R3). */
  cache(facts: Pick<SetupFacts, 'settings' | 'registry'>): {
    readonly namespaces: readonly string[];
    readonly byKind: NonNullable<NonNullable<RuntimeConfig['cache']>['byKind']>;
  };
  setup(manager: Manager, facts: SetupFacts): readonly Addable[];
}

/** What is known before the manager is made. */
export interface Beginning {
  readonly kube: ClusterAccess | Transport;
  readonly election: false | LeaderElectionConfig;
  readonly tls: ResolvedTls;
}

export interface AssemblyOptions extends Beginning {
  readonly parts: ProgramParts;
  readonly settings: OperatorSettings;
  readonly registry: ProviderRegistry;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly hostname?: string;
  readonly readText?: (file: string) => Promise<string>;
  /** Ends the program in order. */
  readonly stop: () => void;
}

/** Unless an event comes before, everything is looked at again after this (R3). */
const RESYNC_MS = 10 * 60_000;

/** That of the pod or of the context, where the flag says nothing; else where the operator is installed. */
export const leaseNamespace = ({ lease, names }: OperatorSettings, kube: Beginning['kube']): string =>
  lease.namespace || (typeof kube === 'function' ? '' : kube.namespace) || names.operatorNamespace;

/** The whole program, which has sent nothing yet. */
export function assembled(options: AssemblyOptions): Manager {
  const { parts, settings, registry, tls, readText } = options;
  const manager = managerOf(options);
  manager.add(new GatesWatch(manager, settings.gatesVersion));
  const facts = { settings, registry, tls: tls.settings, ...(readText !== undefined && { readText }) };
  for (const part of parts.setup(manager, facts)) manager.add(part);
  if (parts.isServing) addServers(manager, options);
  return manager;
}

function managerOf(options: AssemblyOptions): Manager {
  const { parts, settings, kube, election, version, clock, log, hostname = hostOfMachine() } = options;
  const { namespaces, byKind } = parts.cache(options);
  return createManager({
    kube,
    name: parts.name,
    version,
    hostname: `${IDENTITY_PREFIX}${hostname}`,
    leaderElection: election,
    health: { bind: settings.health },
    namespaces,
    cache: { resyncMs: RESYNC_MS, byKind: { ...byKind, ...(parts.isServing && TLS_CACHE) } },
    needs: [...TOPOLOGY_NEEDS, ...foreignLeaderNeeds(options)],
    clock,
    log,
  });
}

/**
 * Leases that are looked at before the start: where the operator of the payload has its own, whatever place flags give
 * to ours, and that place. None where this one has names of its own.
 */
export function foreignLeases(
  settings: OperatorSettings,
  lease: SettingSource['lease'],
  kube: Beginning['kube'],
): readonly LeasePlace[] {
  if (settings.mode !== 'replace') return [];
  const upstream = { namespace: settings.names.operatorNamespace, name: settings.names[lease] };
  const own = { namespace: leaseNamespace(settings, kube), name: settings.lease.name };
  return upstream.namespace === own.namespace && upstream.name === own.name ? [upstream] : [upstream, own];
}

const foreignLeaderNeeds = ({ parts, settings, kube }: AssemblyOptions): readonly Need[] =>
  foreignLeases(settings, parts.lease, kube).map(({ name, namespace }) =>
    needs(Lease, ['get'], { names: [name], namespace }),
  );

/** Up before there is a leader. */
function addServers(manager: Manager, { settings, tls, hostname = hostOfMachine(), stop }: AssemblyOptions): void {
  const { clock, log, metrics, unfencedClient: client } = manager;
  const { metrics: bind, certDir } = settings;
  if (tls.policy !== undefined) manager.add(new TlsWatch(manager, tls.policy, stop));
  const server = metricsServer({ bind, tls: tls.settings, certDir, hostname, metrics, client, clock, log });
  if (server === undefined) return;
  manager.add({
    name: server.name,
    group: server.group,
    needs: reviewNeeds(),
    run: (signal) => server.run(signal),
    ready: () => server.ready(),
  });
  manager.add({
    name: 'process metrics',
    group: 'http',
    run: (signal) => watchProcess({ metrics, clock, log }, signal),
  });
}

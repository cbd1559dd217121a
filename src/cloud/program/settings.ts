import type { ApiPlace } from '../../kube/config/api-access.ts';
import type { LeaderElectionConfig } from '../../kube/config/runtime-config.ts';
import { type LogSettings, logSettings, withDashes } from '../../kube/manager/component-run.ts';
import { parseFlags } from '../../kube/manager/flag-parser.ts';
import { FlagReader } from '../../kube/manager/flag-reader.ts';
import type { CloudSettings } from '../cloud-settings.ts';
import { canonicalControllers } from './controller-list.ts';
import { type FeatureGates, readFeatureGates } from './feature-gates.ts';
import { CLOUD_FLAGS } from './flags.ts';
import { type TlsSettings, tlsSettings } from './tls-settings.ts';
import { settingProblems } from './validation.ts';

/** The secure port: who may come in, and how (P11). */
export interface SecureSettings {
  readonly port: number;
  readonly host: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly certDir: string;
  readonly tls: TlsSettings;
  readonly alwaysAllowPaths: readonly string[];
  readonly authenticationKubeconfig: string;
  readonly authorizationKubeconfig: string;
  readonly profiling: boolean;
}

/** How the program reaches the API server. */
export interface ApiSettings extends ApiPlace {
  /** Absent: no limit on our side. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
  readonly minResyncMs: number;
}

/** What the flags come to, with nothing left to decide. */
export interface ProgramSettings extends LogSettings {
  readonly cloud: CloudSettings;
  readonly cloudProvider: string;
  readonly cloudConfigFile: string;
  readonly credentialsFolder: string;
  readonly providerPath: string;
  readonly allowUntaggedCloud: boolean;
  readonly useServiceAccountCredentials: boolean;
  readonly api: ApiSettings;
  readonly election: false | Required<Omit<LeaderElectionConfig, 'release'>>;
  /** Absent: no server. */
  readonly secure?: SecureSettings;
  /** Deprecated: `/healthz` in the clear (P6). */
  readonly plain?: { readonly port: number; readonly host: string };
  /** As they were given, for `/configz`. */
  readonly flags: FlagReader;
}

export interface ReadSettings {
  readonly isHelp: boolean;
  readonly isVersion: boolean;
  readonly settings: ProgramSettings;
  /** Everything that is wrong (P4). */
  readonly problems: readonly string[];
}

/** The environment is not asked: a variable of the shell that started us is not meant for this program. */
const NO_ENVIRONMENT = {};
const UPSTREAM_BURST = 30;

/** Reads a command line, without the name of the program (ccm §2.2). */
export function readSettings(argv: readonly string[]): ReadSettings {
  const parsed = parseFlags(CLOUD_FLAGS, argv.map(withDashes).map(withTruth), NO_ENVIRONMENT);
  const read = new FlagReader(parsed);
  const problems = [...parsed.problems];
  const gates = readFeatureGates(read.list('feature-gates'));
  const settings = settingsOf(read, gates, problems);
  problems.push(...gates.problems, ...settingProblems(read));
  return { isHelp: parsed.isHelp, isVersion: read.text('version') !== 'false', settings, problems };
}

/** `--version` alone is `--version=true`. */
const withTruth = (word: string): string => (/^--?version$/.test(word) ? `${word}=true` : word);

function settingsOf(read: FlagReader, gates: FeatureGates, problems: string[]): ProgramSettings {
  const port = read.number('port');
  return {
    cloud: cloudSettings(read, gates),
    cloudProvider: read.text('cloud-provider'),
    cloudConfigFile: read.text('cloud-config'),
    credentialsFolder: read.text('credentials-dir'),
    providerPath: read.text('provider'),
    allowUntaggedCloud: read.is('allow-untagged-cloud'),
    useServiceAccountCredentials: read.is('use-service-account-credentials'),
    api: apiSettings(read),
    election: electionSettings(read),
    ...(read.number('secure-port') > 0 && { secure: secureSettings(read, problems) }),
    ...(port > 0 && { plain: { port, host: read.text('address') } }),
    ...logSettings(read),
    flags: read,
  };
}

function cloudSettings(read: FlagReader, gates: FeatureGates): CloudSettings {
  const concurrentNodeSyncs = read.number('concurrent-node-syncs');
  return {
    controllers: canonicalControllers(read.list('controllers')),
    controllerStartIntervalMs: read.number('controller-start-interval'),
    clusterName: read.text('cluster-name'),
    clusterCIDRs: read
      .text('cluster-cidr')
      .split(',')
      .flatMap((range) => range.trim() || []),
    allocateNodeCIDRs: read.is('allocate-node-cidrs'),
    configureCloudRoutes: read.is('configure-cloud-routes'),
    routeReconciliationPeriodMs: read.number('route-reconciliation-period'),
    nodeMonitorPeriodMs: read.number('node-monitor-period'),
    nodeStatusUpdateFrequencyMs: read.number('node-status-update-frequency'),
    concurrentNodeSyncs,
    concurrentNodeStatusUpdates: read.number('concurrent-node-status-updates') || concurrentNodeSyncs,
    concurrentNodeLifecycleSyncs: read.number('concurrent-node-lifecycle-syncs'),
    concurrentServiceSyncs: read.number('concurrent-service-syncs'),
    nodeDeletionConfirmations: read.number('node-deletion-confirmations'),
    nodeDeletionMinAgeMs: read.number('node-deletion-min-age'),
    serviceResyncPeriodMs: read.number('service-resync-period'),
    refreshNodeLabels: read.is('refresh-node-labels') || gates.isOn('CloudNodeAdditionalLabelsReconciliation'),
    holdBackUninitializedNodes: read.is('hold-back-uninitialized-nodes'),
    watchRoutes: read.is('watch-routes') && gates.isOn('CloudControllerManagerWatchBasedRoutesReconciliation'),
    labelSource: read.text('node-label-source') === 'stable' ? 'stable' : 'deprecated',
    concurrentRouteCalls: read.number('concurrent-route-calls'),
    providerCallTimeoutMs: read.number('provider-call-timeout'),
  };
}

function apiSettings(read: FlagReader): ApiSettings {
  const [qps, burst] = [read.number('kube-api-qps'), read.number('kube-api-burst')];
  return {
    kubeconfig: read.text('kubeconfig'),
    master: read.text('master'),
    environmentFile: read.text('apiserver-env-file'),
    // Below zero means "no limit" in every client of Kubernetes.
    ...(qps > 0 && { rateLimit: { qps, burst: burst > 0 ? burst : UPSTREAM_BURST } }),
    minResyncMs: read.number('min-resync-period'),
  };
}

const electionSettings = (read: FlagReader): ProgramSettings['election'] =>
  read.is('leader-elect') && {
    id: read.text('leader-elect-resource-name'),
    namespace: read.text('leader-elect-resource-namespace'),
    leaseMs: read.number('leader-elect-lease-duration'),
    renewMs: read.number('leader-elect-renew-deadline'),
    retryMs: read.number('leader-elect-retry-period'),
  };

function secureSettings(read: FlagReader, problems: string[]): SecureSettings {
  const flags = {
    minVersion: read.text('tls-min-version'),
    suites: read.list('tls-cipher-suites'),
    named: read.list('tls-sni-cert-key'),
  };
  return {
    port: read.number('secure-port'),
    host: read.text('bind-address'),
    certFile: read.text('tls-cert-file'),
    keyFile: read.text('tls-private-key-file'),
    certDir: read.text('cert-dir'),
    tls: tlsSettings(flags, problems),
    alwaysAllowPaths: read.list('authorization-always-allow-paths'),
    authenticationKubeconfig: read.text('authentication-kubeconfig'),
    authorizationKubeconfig: read.text('authorization-kubeconfig'),
    profiling: read.is('profiling'),
  };
}

import { messageOf } from '../../base/errors.ts';
import type { Environment } from '../../kube/config/surroundings.ts';
import { type LogSettings, logSettings, withDashes } from '../../kube/manager/component-run.ts';
import { type Flag, parseFlags } from '../../kube/manager/flag-parser.ts';
import { FlagReader } from '../../kube/manager/flag-reader.ts';
import { parseBindAddress } from '../../kube/serving/bind-address.ts';
import { type TlsFlags, tlsFromFlags } from '../../kube/serving/tls-profile.ts';
import { dnsLabelProblems } from '../../object/names.ts';
import type { ElectionFlags } from '../config/election.ts';
import { STUB_VERSION } from '../config/feature-gates.ts';
import type { CloudProviderDefinition } from '../definition.ts';
import { type OperatorMode, type OperatorNames, operatorNames } from '../names.ts';
import type { ProviderRegistry } from '../registry/providers.ts';
import { PROGRAM_FLAGS } from './flags.ts';

/** What the flags come to. */
export interface OperatorSettings extends LogSettings {
  readonly mode: OperatorMode;
  readonly names: OperatorNames;
  /** `--provider`. */
  readonly provider?: string;
  /** `RELEASE_VERSION`: of the release that this operator belongs to. */
  readonly releaseVersion: string;
  /** Whose feature gates hold: a program that is in no release goes by that of the cluster (R14). */
  readonly gatesVersion: string;
  readonly lease: { readonly name: string /** Empty: that of the pod. */; readonly namespace: string };
  readonly election: ElectionFlags;
  readonly health: string;
  /** `0`: none. */
  readonly metrics: string;
  readonly certDir: string;
  readonly tls: TlsFlags;
  readonly imagesFile: string;
  readonly prune: boolean;
  readonly systemTrustBundle: string;
  readonly kubeconfig: string;
  readonly environmentFile: string;
}

export interface ReadSettings {
  readonly isHelp: boolean;
  readonly settings: OperatorSettings;
  /** Everything that is wrong. */
  readonly problems: readonly string[];
}

export interface SettingSource {
  readonly argv: readonly string[];
  readonly env: Environment;
  /** Of the program, besides those of both. */
  readonly flags: readonly Flag[];
  readonly lease: 'operatorLease' | 'configSyncLease';
  readonly registry: Pick<ProviderRegistry, 'providers'>;
}

/** Only what is named here: a variable of the shell that started us is not meant for this program. */
const NO_ENVIRONMENT = {};
/** What upstream says of a version that nobody told it. */
const UNKNOWN_VERSION = 'unknown';

/** Reads a command line, without the name of the program. */
export function readSettings({ argv, env, flags, lease, registry }: SettingSource): ReadSettings {
  const parsed = parseFlags([...PROGRAM_FLAGS, ...flags], argv.map(withDashes), NO_ENVIRONMENT);
  const read = new FlagReader(parsed);
  const problems = [...parsed.problems];
  const { mode, names, provider } = placeOf(read, registry, problems);
  const tls = { minVersion: read.text('tls-min-version'), cipherSuites: read.list('tls-cipher-suites') };
  problems.push(...addressProblems(read), ...tlsProblems(tls));
  const releaseVersion = env['RELEASE_VERSION'] || UNKNOWN_VERSION;
  const settings: OperatorSettings = {
    mode,
    names,
    ...(provider !== '' && { provider }),
    releaseVersion,
    gatesVersion: mode === 'sidecar' ? STUB_VERSION : releaseVersion,
    lease: {
      name: read.text('leader-elect-resource-name') || names[lease],
      namespace: read.text('leader-elect-resource-namespace'),
    },
    election: {
      isEnabled: read.is('leader-elect'),
      leaseMs: read.number('leader-elect-lease-duration'),
      renewMs: read.number('leader-elect-renew-deadline'),
      retryMs: read.number('leader-elect-retry-period'),
    },
    health: read.text('health-addr') || '0',
    metrics: read.text('metrics-bind-address') || '0',
    certDir: read.text('tls-cert-dir'),
    tls,
    imagesFile: read.text('images-json'),
    prune: read.isGiven('prune') ? read.is('prune') : mode === 'sidecar',
    systemTrustBundle: read.text('system-trust-bundle'),
    kubeconfig: read.text('kubeconfig'),
    environmentFile: read.text('apiserver-env-file'),
    ...logSettings(read),
  };
  return { isHelp: parsed.isHelp, settings, problems };
}

/** Which provider, beside whom, and under which names (D1). */
function placeOf(read: FlagReader, registry: SettingSource['registry'], problems: string[]) {
  const provider = read.text('provider');
  const known = registry.providers().map(({ definition }) => definition);
  const chosen = known.find(({ id }) => id === provider);
  const isUnknown = provider !== '' && chosen === undefined;
  if (isUnknown) {
    problems.push(`--provider: there is no ${provider}; there are ${known.map(({ id }) => id).join(', ')}`);
  }
  const usual: OperatorMode = chosen?.match.type === 'External' ? 'sidecar' : 'replace';
  const mode = (read.text('mode') || usual) === 'sidecar' ? 'sidecar' : 'replace';
  const names = operatorNames(mode, provider);
  if (mode === 'sidecar' && !isUnknown) problems.push(...sidecarProblems(chosen, names.operatorNamespace));
  const managedNamespace = read.isGiven('namespace') ? read.text('namespace') : names.managedNamespace;
  return { mode, names: { ...names, managedNamespace }, provider } as const;
}

/** Beside the operator of the payload is a place for a provider that is not in it (D1), and names come from its id. */
function sidecarProblems(chosen: CloudProviderDefinition | undefined, longestName: string): readonly string[] {
  if (chosen === undefined) return ['--mode=sidecar needs --provider: its names come from it'];
  const { id, match } = chosen;
  if (match.type !== 'External') {
    return [`--mode=sidecar is for a provider of platform External; ${id} is for ${match.type}`];
  }
  const [problem] = dnsLabelProblems(longestName);
  if (problem === undefined) return [];
  return [`--provider: ${id} is too long for --mode=sidecar: its namespace ${longestName} ${problem}`];
}

const tlsProblems = ({ minVersion, cipherSuites }: TlsFlags): readonly string[] => [
  ...problemOf(() => tlsFromFlags({ minVersion, cipherSuites: [] })),
  ...problemOf(() => tlsFromFlags({ minVersion: '', cipherSuites })),
];

const addressProblems = (read: FlagReader): readonly string[] =>
  ['health-addr', 'metrics-bind-address'].flatMap((name) =>
    problemOf(() => parseBindAddress(read.text(name), `--${name}`)),
  );

function problemOf(check: () => unknown): readonly string[] {
  try {
    check();
    return [];
  } catch (thrown) {
    return [messageOf(thrown)];
  }
}

import { userError } from '../../base/errors.ts';
import type { LogLevel } from '../../base/log.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { LEADER_PROFILES, type LeaderProfile, timingProblems } from '../election/election-timing.ts';
import { parseBindAddress } from '../serving/bind-address.ts';
import { type Flag, type ParsedFlags, parseFlags } from './flag-parser.ts';
import { FlagReader } from './flag-reader.ts';

/** The flags of every program with controllers (M8, 8.1); the reference is made from this table. */
export const runtimeFlags: readonly Flag[] = [
  {
    name: 'kubeconfig',
    type: 'text',
    default: '',
    description: 'Kubeconfig file; else KUBECONFIG, the pod, ~/.kube/config.',
  },
  { name: 'context', type: 'text', default: '', description: 'Context of the kubeconfig.' },
  {
    name: 'namespaces',
    type: 'list',
    default: '',
    aliases: ['namespace'],
    description: 'Namespaces to watch, separated by commas; all when empty.',
  },
  {
    name: 'metrics-bind-address',
    type: 'text',
    default: ':8080',
    description: 'Where metrics are served; 0 for nowhere.',
  },
  {
    name: 'metrics-secure',
    type: 'switch',
    default: 'false',
    description: 'Metrics over TLS, for those who may read them.',
  },
  {
    name: 'metrics-cert-dir',
    type: 'text',
    default: '',
    description: 'Directory with tls.crt and tls.key; else self-signed.',
  },
  {
    name: 'health-probe-bind-address',
    type: 'text',
    default: '0',
    description: 'Where /healthz and /readyz are served; 0 for nowhere.',
  },
  { name: 'leader-elect', type: 'switch', default: 'false', description: 'Work only while leading.' },
  {
    name: 'leader-election-id',
    type: 'text',
    default: '',
    description: 'Name of the Lease; else that of the program.',
  },
  {
    name: 'leader-election-namespace',
    type: 'text',
    default: '',
    description: 'Namespace of the Lease; else that of the pod.',
  },
  {
    name: 'leader-profile',
    type: 'choice',
    default: 'default',
    choices: Object.keys(LEADER_PROFILES),
    description: 'Times of the election.',
  },
  {
    name: 'lease-duration',
    type: 'duration',
    default: '',
    description: 'When others take over; 15s unless the profile says more.',
  },
  {
    name: 'renew-deadline',
    type: 'duration',
    default: '',
    description: 'When the leader gives up; 10s unless the profile says more.',
  },
  {
    name: 'retry-period',
    type: 'duration',
    default: '',
    description: 'Time between tries; 2s unless the profile says more.',
  },
  {
    name: 'webhook-port',
    type: 'number',
    default: '9443',
    range: [0, 65_535],
    description: 'Port of the webhook server.',
  },
  {
    name: 'webhook-cert-dir',
    type: 'text',
    default: '',
    description: 'Directory with tls.crt and tls.key of the webhook server.',
  },
  {
    name: 'graceful-shutdown-timeout',
    type: 'duration',
    default: '30s',
    description: 'For the whole stop; 0 does not wait, -1s waits for ever.',
  },
  {
    name: 'concurrency',
    type: 'number',
    default: '1',
    range: [1, 1000],
    description: 'Reconciles at a time, per controller.',
  },
  {
    name: 'log-level',
    type: 'choice',
    default: 'info',
    choices: ['error', 'warn', 'info', 'debug'],
    description: 'What is logged.',
  },
  {
    name: 'log-format',
    type: 'choice',
    default: 'json',
    choices: ['json', 'text'],
    description: 'How it is logged.',
  },
  {
    name: 'v',
    type: 'number',
    default: '0',
    range: [0, 10],
    description: 'As in Go programs: 1 or more is --log-level=debug.',
  },
];

/** What the flags come to. */
export interface RuntimeSettings {
  readonly isHelp: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'text';
  /** For `createManager`; the namespace and the identity of the election are filled in there. */
  readonly config: RuntimeConfig;
}

/** Throws one userError with every problem of the flags and the environment; `name` is that of the program. */
export function parseRuntimeFlags(
  name: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): RuntimeSettings {
  const parsed = parseFlags(runtimeFlags, argv, env);
  const read = new FlagReader(parsed);
  const problems = [...parsed.problems, ...bindProblems(read)];
  const election = electionOf(name, parsed, read);
  problems.push(...election.problems);
  if (problems.length > 0 && !parsed.isHelp) {
    throw userError('InvalidFlags', `${problems.join('\n')}\n--help lists all flags`);
  }
  const [kubeconfig, context] = [read.text('kubeconfig'), read.text('context')];
  return {
    isHelp: parsed.isHelp,
    ...(kubeconfig !== '' && { kubeconfig }),
    ...(context !== '' && { context }),
    logLevel:
      read.number('v') > 0 ? 'debug' : (LOG_LEVELS.find((level) => level === read.text('log-level')) ?? 'info'),
    logFormat: read.text('log-format') === 'text' ? 'text' : 'json',
    config: configOf(read, election.config),
  };
}

const FOR_EVER_MS = -1;
const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;

function bindProblems(read: FlagReader): readonly string[] {
  return ['metrics-bind-address', 'health-probe-bind-address'].flatMap((name) => {
    try {
      parseBindAddress(read.text(name), `--${name}`);
      return [];
    } catch (thrown) {
      return thrown instanceof Error ? [thrown.message] : [];
    }
  });
}

function electionOf(name: string, { given }: ParsedFlags, read: FlagReader) {
  const profileName = read.text('leader-profile');
  const profile = LEADER_PROFILES[isProfile(profileName) ? profileName : 'default'];
  const ms = (flag: string, standard: number) => (given.has(flag) ? read.number(flag) : standard);
  const timing = {
    leaseMs: ms('lease-duration', profile.leaseMs),
    renewMs: ms('renew-deadline', profile.renewMs),
    retryMs: ms('retry-period', profile.retryMs),
  };
  if (!read.is('leader-elect')) return { config: false as const, problems: [] };
  const namespace = read.text('leader-election-namespace');
  const id = read.text('leader-election-id') || name;
  return { config: { id, ...timing, ...(namespace !== '' && { namespace }) }, problems: timingProblems(timing) };
}

const isProfile = (name: string): name is LeaderProfile => Object.hasOwn(LEADER_PROFILES, name);

function configOf(read: FlagReader, leaderElection: RuntimeConfig['leaderElection']): RuntimeConfig {
  const namespaces = read.list('namespaces');
  const [metricsCertDir, webhookCertDir] = [read.text('metrics-cert-dir'), read.text('webhook-cert-dir')];
  return {
    ...(namespaces.length > 0 && { namespaces }),
    ...(leaderElection !== undefined && { leaderElection }),
    health: { bind: read.text('health-probe-bind-address') },
    metrics: {
      bind: read.text('metrics-bind-address'),
      secure: read.is('metrics-secure'),
      ...(metricsCertDir !== '' && { certDir: metricsCertDir }),
    },
    webhook: { port: read.number('webhook-port'), ...(webhookCertDir !== '' && { certDir: webhookCertDir }) },
    // Any time below 0 means the same here as in Go programs: there is no end to the patience.
    gracefulShutdownMs: Math.max(FOR_EVER_MS, read.number('graceful-shutdown-timeout')),
    controllers: { maxConcurrent: read.number('concurrency') },
  };
}

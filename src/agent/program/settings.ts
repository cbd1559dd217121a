import { messageOf } from '../../base/errors.ts';
import type { Environment } from '../../kube/config/surroundings.ts';
import { type LogSettings, logSettings, withDashes } from '../../kube/manager/component-run.ts';
import { parseFlags } from '../../kube/manager/flag-parser.ts';
import { FlagReader } from '../../kube/manager/flag-reader.ts';
import { parseBindAddress } from '../../kube/serving/bind-address.ts';
import { dnsLabelProblems } from '../../object/names.ts';
import { type AssistedSettings, assistedSettings } from '../infra-env/assisted-settings.ts';
import { AGENT_FLAGS } from './flags.ts';

/** What flags and environment come to. */
export interface AgentSettings extends LogSettings {
  readonly metrics: string;
  readonly isMetricsSecure: boolean;
  readonly health: string;
  readonly isElected: boolean;
  /** Empty: that of the pod. */
  readonly electionNamespace: string;
  /** Empty: all. */
  readonly namespace: string;
  readonly watchFilter: string;
  /** Port 0: none. */
  readonly webhook: { readonly port: number; readonly host: string; readonly certDir: string };
  readonly kubeconfig: string;
  readonly environmentFile: string;
  readonly assisted: AssistedSettings;
}

export interface ReadSettings {
  readonly isHelp: boolean;
  readonly settings: AgentSettings;
  /** Everything that is wrong. */
  readonly problems: readonly string[];
}

/** Only what is named here: a variable of the shell that started us is not meant for this program. */
const NO_ENVIRONMENT = {};

/** Reads a command line, without the name of the program, and the variables of upstream (agent/P1, agent/E6, agent/E7). */
export function readSettings(argv: readonly string[], env: Environment): ReadSettings {
  const parsed = parseFlags(AGENT_FLAGS, argv.map(withDashes), NO_ENVIRONMENT);
  const read = new FlagReader(parsed);
  const assisted = assistedSettings(env);
  const settings: AgentSettings = {
    metrics: read.text('metrics-bind-address') || '0',
    isMetricsSecure: read.is('metrics-secure'),
    health: read.text('health-probe-bind-address') || '0',
    isElected: read.is('leader-elect'),
    electionNamespace: read.text('leader-elect-namespace'),
    namespace: read.text('namespace'),
    watchFilter: read.text('watch-filter'),
    webhook: {
      port: read.number('webhook-port'),
      host: read.text('webhook-bind-address'),
      certDir: read.text('webhook-cert-dir'),
    },
    kubeconfig: read.text('kubeconfig'),
    environmentFile: read.text('apiserver-env-file'),
    assisted: assisted.settings,
    ...logSettings(read),
  };
  return {
    isHelp: parsed.isHelp,
    settings,
    problems: [...parsed.problems, ...addressProblems(read), ...placeProblems(settings), ...assisted.problems],
  };
}

/** Whether anything is served over TLS, and how the cluster wants that to be done matters. */
export const speaksTls = ({ webhook, metrics, isMetricsSecure }: AgentSettings): boolean =>
  webhook.port !== 0 || (isMetricsSecure && metrics !== '0');

const addressProblems = (read: FlagReader): readonly string[] =>
  ['metrics-bind-address', 'health-probe-bind-address'].flatMap((name) => {
    try {
      parseBindAddress(read.text(name) || '0', `--${name}`);
      return [];
    } catch (thrown) {
      return [messageOf(thrown)];
    }
  });

function placeProblems({ namespace, webhook }: AgentSettings): readonly string[] {
  const [problem] = namespace === '' ? [] : dnsLabelProblems(namespace);
  return [
    ...(problem === undefined ? [] : [`--namespace: "${namespace}" ${problem}`]),
    ...(webhook.port !== 0 && webhook.certDir === ''
      ? ['--webhook-cert-dir: it must name a folder with tls.crt and tls.key; --webhook-port=0 serves no webhooks']
      : []),
  ];
}

import { ASSISTED_DEFAULTS, assistedSettings } from '../src/agent/infra-env/assisted-settings.ts';
import type { Flag } from '../src/kube/manager/flag-parser.ts';
import { flagTable } from './docs-cloud-flags.ts';
import { table } from './docs-markdown.ts';

const INTRO = `\`slipway run agent-bootstrap\`, \`slipway run agent-control-plane\`, or both in one process with
\`slipway run agent-bootstrap agent-control-plane\`, take the flags of the two upstream programs with the same names and defaults:
\`--name=value\` or \`--name value\`. All problems are printed at once, with exit code 2, and nothing is started.

Ours are \`--namespace\` and \`--watch-filter\`, which clusterctl wants of every provider, \`--leader-elect-namespace\`,
\`--webhook-port\`, \`--webhook-bind-address\`, \`--webhook-cert-dir\` and \`--apiserver-env-file\`. A program outside of a cluster mostly
has no certificate: it needs \`--webhook-port=0\`. In one process, probes, metrics and webhooks are served once, for both.

The exit code is 0 after a signal or when the TLS profile of the cluster has changed, 1 when a part failed or the leadership was
lost, 2 for wrong flags or variables and for webhooks without a certificate, 3 when the objects of the cluster could not be read in
time.`;

const ENVIRONMENT_INTRO = `The bootstrap provider asks assisted-service for the ignition of discovery; these say where and whom to trust. A variable
that is set and empty is empty, one that is absent has its default. With both \`ASSISTED_CA_BUNDLE_NAME\` and
\`ASSISTED_CA_BUNDLE_NAMESPACE\` empty, only the authorities of the machine are trusted.`;

const NETWORK_INTRO = `Both providers talk to machines outside: to assisted-service and to registries. For these the usual variables count:`;

/** Of `outsideHttpCall`. */
const NETWORK: readonly (readonly [string, string])[] = [
  ['HTTPS_PROXY, HTTP_PROXY', 'The proxy for addresses with TLS, and without.'],
  ['NO_PROXY', 'Hosts, domains and networks that are reached without a proxy.'],
  [
    'SSL_CERT_FILE',
    'File with certificates in PEM that are trusted besides those of the machine; read anew when it changes.',
  ],
];

const MEANINGS: Readonly<Record<string, string>> = {
  USE_INTERNAL_IMAGE_URL:
    'Ask the Service of assisted-service in this cluster, over HTTP on port 8090, instead of the address that it tells hosts.',
  IMAGE_SERVICE_NAME: 'Accepted; changes nothing, as upstream.',
  IMAGE_SERVICE_NAMESPACE: 'Accepted; changes nothing, as upstream.',
  ASSISTED_SERVICE_NAME: 'Name of that Service.',
  ASSISTED_INSTALLER_NAMESPACE: 'Its namespace; that of the InfraEnv when empty.',
  ASSISTED_CA_BUNDLE_NAMESPACE: 'Namespace of the Secret or ConfigMap with the authorities of assisted-service.',
  ASSISTED_CA_BUNDLE_NAME: 'Its name. It is needed only for addresses with TLS, and read again when trust fails.',
  ASSISTED_CA_BUNDLE_RESOURCE: '`secret` or `configmap`.',
  ASSISTED_CA_BUNDLE_KEY: 'The key with the certificates in PEM.',
};

/** Every variable that the code asks for. */
function assistedVariables(): readonly string[] {
  const asked = new Set<string>();
  assistedSettings(
    new Proxy<Record<string, string>>(
      {},
      {
        get: (_target, name) => {
          asked.add(String(name));
          return undefined;
        },
      },
    ),
  );
  return [...asked].sort();
}

/** What a setting is where its variable is absent: found by what changes when it is there. */
function defaultOf(variable: string): string {
  const changed: Readonly<Record<string, unknown>> = { ...assistedSettings({ [variable]: 'true' }).settings };
  const standard = Object.entries(ASSISTED_DEFAULTS).find(([name, value]) => changed[name] !== value);
  if (standard === undefined) throw new Error(`${variable} changes nothing`);
  return String(standard[1]);
}

function environmentTable(): string {
  const rows = assistedVariables().map((variable) => {
    const meaning = MEANINGS[variable];
    if (meaning === undefined) throw new Error(`${variable} has no description in scripts/docs-agent-flags.ts`);
    const standard = defaultOf(variable);
    return [`\`${variable}\``, standard === '' ? '–' : `\`${standard}\``, meaning];
  });
  const gone = Object.keys(MEANINGS).filter((name) => !assistedVariables().includes(name));
  if (gone.length > 0) throw new Error(`nobody asks for ${gone.join(', ')}`);
  return table(['variable', 'default', 'meaning'], rows);
}

/** docs/reference/agent-flags.md, from the table that the flags are parsed with and the variables that are asked for. */
export const agentFlagsPage = (flags: readonly Flag[]): string =>
  [
    '# Flags of the Agent providers',
    INTRO,
    '## Flags',
    flagTable(flags),
    '## Environment',
    ENVIRONMENT_INTRO,
    environmentTable(),
    NETWORK_INTRO,
    table(
      ['variable', 'meaning'],
      NETWORK.map(([name, meaning]) => [
        name
          .split(', ')
          .map((one) => `\`${one}\``)
          .join(', '),
        meaning,
      ]),
    ),
  ].join('\n\n');

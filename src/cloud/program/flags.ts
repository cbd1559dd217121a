import type { Flag } from '../../kube/manager/flag-parser.ts';

/** Flags that belong together, for the help and the reference. */
export interface FlagSection {
  readonly title: string;
  readonly flags: readonly Flag[];
}

const flag = (type: Flag['type']) => (name: string, standard: string, description: string) => ({
  name,
  type,
  default: standard,
  description,
});
const text = flag('text');
const on = flag('switch');
const list = flag('list');
const time = flag('duration');
const port = (name: string, standard: string, description: string): Flag => ({
  ...flag('number')(name, standard, description),
  range: [0, 65_535],
});
/** Any whole number: what it must not be is told with the words that users know from upstream (P5). */
const count = (name: string, standard: string, description: string): Flag => ({
  ...flag('number')(name, standard, description),
  range: [-2_147_483_648, 2_147_483_647],
});
const choice = (
  [name, standard]: readonly [string, string],
  choices: readonly string[],
  description: string,
): Flag => ({
  ...flag('choice')(name, standard, description),
  choices,
});

const PROVIDER: FlagSection = {
  title: 'Cloud',
  flags: [
    text('cloud-provider', '', 'Name of the provider; must be said.'),
    text('provider', '', 'Definition of the provider: a file or a folder. Without it, one that is built in.'),
    text('cloud-config', '', 'File that the provider reads its configuration from.'),
    text(
      'credentials-dir',
      '',
      'Folder with a file for each secret of the provider; a file wins over the variable of its name.',
    ),
    time('provider-call-timeout', '30s', 'A call of the provider that takes longer fails.'),
    text('cluster-name', 'kubernetes', 'Name that load balancers and routes of this cluster are found by.'),
    on('allow-untagged-cloud', 'false', 'Deprecated: run although the provider knows no id of the cluster.'),
    text('external-cloud-volume-plugin', '', 'Deprecated: has no effect.'),
  ],
};

const CONTROLLERS: FlagSection = {
  title: 'Controllers',
  flags: [
    list(
      'controllers',
      '*',
      'Controllers that run: `*` for all, `name` for one, `-name` for all but one; the first entry of a name wins. Names: cloud-node, cloud-node-lifecycle, service, route.',
    ),
    time('controller-start-interval', '0s', 'Pause between the starts of two controllers; one to two times this.'),
    count('concurrent-node-syncs', '100', 'Nodes that are initialised at a time.'),
    count(
      'concurrent-node-status-updates',
      '0',
      'Nodes whose addresses are refreshed at a time; 0 for as many as --concurrent-node-syncs.',
    ),
    time('node-status-update-frequency', '5m', 'Time between two refreshes of the addresses of nodes.'),
    on('refresh-node-labels', 'false', 'Refresh type, zone, region and additional labels with the addresses.'),
    choice(
      ['node-label-source', 'deprecated'],
      ['deprecated', 'stable'],
      'Which of two labels with the same meaning is copied to the other on initialised nodes.',
    ),
    count('concurrent-node-lifecycle-syncs', '1', 'Nodes that are compared with the cloud at a time.'),
    time('node-monitor-period', '5s', 'Time between two looks at nodes that are not ready.'),
    count(
      'node-deletion-confirmations',
      '1',
      'Looks in a row that must find a machine gone before its Node is deleted.',
    ),
    time('node-deletion-min-age', '0s', 'Younger Nodes are not deleted.'),
    time('node-sync-period', '0s', 'Deprecated: has no effect.'),
    count('concurrent-service-syncs', '30', 'Load balancers that are worked on at a time.'),
    time(
      'service-resync-period',
      '0s',
      'How often every load balancer is compared with the cloud again; 0 for never.',
    ),
    on('hold-back-uninitialized-nodes', 'true', 'Nodes are no backends before they are initialised.'),
    on('configure-cloud-routes', 'true', 'Configure routes to the pods of each node.'),
    on(
      'watch-routes',
      'true',
      'Follow the nodes, with a full pass every twelve hours; else a full pass per period.',
    ),
    time('route-reconciliation-period', '10s', 'Time between two passes over all routes, without --watch-routes.'),
    count('concurrent-route-calls', '200', 'Calls that create or delete routes at a time.'),
    text('cluster-cidr', '', 'Address ranges of pods, separated by commas; routes outside are not touched.'),
    on('allocate-node-cidrs', 'false', 'Pods get addresses from ranges that are assigned to nodes.'),
    text('cidr-allocator-type', 'RangeAllocator', 'Accepted; nothing here assigns address ranges.'),
  ],
};

const API_SERVER: FlagSection = {
  title: 'API server',
  flags: [
    text('kubeconfig', '', 'Kubeconfig file; else KUBECONFIG, the pod, ~/.kube/config.'),
    text('master', '', 'Address of the API server, instead of that of the kubeconfig.'),
    text(
      'apiserver-env-file',
      '',
      'File whose KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT win over those of the pod; ignored when missing.',
    ),
    {
      ...count('kube-api-qps', '0', 'Requests per second of each controller; 0 for no limit of our own.'),
      isFraction: true,
    },
    count('kube-api-burst', '0', 'Requests at once after a pause, with --kube-api-qps; 0 for 30.'),
    text('kube-api-content-type', 'application/vnd.kubernetes.protobuf', 'Accepted; JSON is spoken.'),
    time('min-resync-period', '12h', 'Every object is looked at again after one to two times this.'),
    on(
      'use-service-account-credentials',
      'false',
      'Each controller acts as its own ServiceAccount in kube-system.',
    ),
  ],
};

const ELECTION: FlagSection = {
  title: 'Leader election',
  flags: [
    on('leader-elect', 'true', 'Work only while leading; false: no Lease is read or written.'),
    text('leader-elect-resource-lock', 'leases', 'Kind of the lock; only leases.'),
    text('leader-elect-resource-name', 'cloud-controller-manager', 'Name of the Lease.'),
    text('leader-elect-resource-namespace', 'kube-system', 'Namespace of the Lease.'),
    time('leader-elect-lease-duration', '15s', 'When others take over.'),
    time('leader-elect-renew-deadline', '10s', 'When the leader gives up.'),
    time('leader-elect-retry-period', '2s', 'Time between tries.'),
    on('enable-leader-migration', 'false', 'Only false: there is nobody to migrate controllers from.'),
    text('leader-migration-config', '', 'Only with --enable-leader-migration.'),
  ],
};

const SERVING: FlagSection = {
  title: 'Secure port',
  flags: [
    port('secure-port', '10258', 'Port for health, metrics and configuration over TLS; 0 for none.'),
    text('bind-address', '0.0.0.0', 'Address of the secure port.'),
    text('tls-cert-file', '', 'Certificate of the secure port; else one of its own. Read again when it changes.'),
    text('tls-private-key-file', '', 'Key of --tls-cert-file.'),
    text('cert-dir', '', 'Folder with cloud-controller-manager.crt and .key, without --tls-cert-file.'),
    choice(
      ['tls-min-version', ''],
      ['', 'VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'],
      'Least version of TLS; never below 1.2.',
    ),
    list('tls-cipher-suites', '', 'Cipher suites up to TLS 1.2, by the names of Go.'),
    flag('items')(
      'tls-sni-cert-key',
      '',
      '`cert,key` or `cert,key:name,…`: files, for clients who ask for these names.',
    ),
    text('authentication-kubeconfig', '', 'Who asks the API server about tokens; else the program itself.'),
    text('authorization-kubeconfig', '', 'Who asks the API server about permissions; else the program itself.'),
    list('authorization-always-allow-paths', '/healthz,/readyz,/livez', 'Paths that anybody may read.'),
    on('profiling', 'true', 'Serve /debug/pprof/.'),
    on('contention-profiling', 'false', 'Accepted; there are no locks to profile.'),
    port('port', '0', 'Deprecated: port for /healthz without TLS; 0 for none.'),
    text('address', '0.0.0.0', 'Deprecated: address of --port.'),
    list('webhooks', '', 'Admission webhooks that are served; there are none.'),
    text('webhook-bind-address', '0.0.0.0', 'Accepted; there are no webhooks.'),
    port('webhook-secure-port', '10260', 'Accepted; there are no webhooks. Must not be --secure-port.'),
  ],
};

const PROGRAM: FlagSection = {
  title: 'Program',
  flags: [
    list('feature-gates', '', '`name=true` or `name=false`, separated by commas.'),
    {
      name: 'v',
      type: 'number',
      default: '0',
      range: [0, 10],
      description: 'How much is logged: 4 or more for everything.',
    },
    text('vmodule', '', 'Accepted; -v holds for all files.'),
    choice(['logging-format', 'text'], ['text', 'json'], 'How it is logged.'),
    choice(['version', 'false'], ['false', 'true', 'raw'], 'Print the version and exit.'),
  ],
};

/** Everything that the cloud controller manager can be told: the flags of upstream (ccm §2.2), and some of our own. */
export const CLOUD_FLAG_SECTIONS: readonly FlagSection[] = [
  PROVIDER,
  CONTROLLERS,
  API_SERVER,
  ELECTION,
  SERVING,
  PROGRAM,
];

export const CLOUD_FLAGS: readonly Flag[] = CLOUD_FLAG_SECTIONS.flatMap(({ flags }) => flags);

/** What `--help` prints. */
export function cloudFlagHelp(usage: string): string {
  const shown = ({ name, type, choices = [] }: Flag) =>
    `  --${name}${type === 'switch' ? '' : ` <${choices.filter((word) => word !== '').join('|') || type}>`}`;
  const width = Math.min(46, Math.max(...CLOUD_FLAGS.map((one) => shown(one).length)));
  const line = (one: Flag) =>
    `${shown(one).padEnd(width)}  ${one.description}${one.default === '' ? '' : ` Default ${one.default}.`}`;
  const sections = CLOUD_FLAG_SECTIONS.flatMap(({ title, flags }) => ['', `${title}:`, ...flags.map(line)]);
  return [`Usage: ${usage} [flags]`, ...sections, ''].join('\n');
}

import {
  API_PLACE_FLAGS,
  choiceFlag,
  durationFlag,
  itemsFlag,
  LOG_FLAGS,
  listFlag,
  portFlag,
  switchFlag,
  textFlag,
  wholeFlag,
} from '../../kube/manager/flag-makers.ts';
import type { Flag } from '../../kube/manager/flag-parser.ts';

/** Flags that belong together, for the help and the reference. */
export interface FlagSection {
  readonly title: string;
  readonly flags: readonly Flag[];
}

const PROVIDER: FlagSection = {
  title: 'Cloud',
  flags: [
    textFlag('cloud-provider', '', 'Name of the provider; must be said.'),
    textFlag('provider', '', 'Definition of the provider: a file or a folder. Without it, one that is built in.'),
    textFlag('cloud-config', '', 'File that the provider reads its configuration from.'),
    textFlag(
      'credentials-dir',
      '',
      'Folder with a file for each secret of the provider; a file wins over the variable of its name.',
    ),
    durationFlag('provider-call-timeout', '30s', 'A call of the provider that takes longer fails.'),
    textFlag('cluster-name', 'kubernetes', 'Name that load balancers and routes of this cluster are found by.'),
    switchFlag(
      'allow-untagged-cloud',
      'false',
      'Deprecated: run although the provider knows no id of the cluster.',
    ),
    textFlag('external-cloud-volume-plugin', '', 'Deprecated: has no effect.'),
  ],
};

const CONTROLLERS: FlagSection = {
  title: 'Controllers',
  flags: [
    listFlag(
      'controllers',
      '*',
      'Controllers that run: `*` for all, `name` for one, `-name` for all but one; the first entry of a name wins. Names: cloud-node, cloud-node-lifecycle, service, route.',
    ),
    durationFlag(
      'controller-start-interval',
      '0s',
      'Pause between the starts of two controllers; one to two times this.',
    ),
    wholeFlag('concurrent-node-syncs', '100', 'Nodes that are initialised at a time.'),
    wholeFlag(
      'concurrent-node-status-updates',
      '0',
      'Nodes whose addresses are refreshed at a time; 0 for as many as --concurrent-node-syncs.',
    ),
    durationFlag('node-status-update-frequency', '5m', 'Time between two refreshes of the addresses of nodes.'),
    switchFlag(
      'refresh-node-labels',
      'false',
      'Refresh type, zone, region and additional labels with the addresses.',
    ),
    choiceFlag(
      ['node-label-source', 'deprecated'],
      ['deprecated', 'stable'],
      'Which of two labels with the same meaning is copied to the other on initialised nodes.',
    ),
    wholeFlag('concurrent-node-lifecycle-syncs', '1', 'Nodes that are compared with the cloud at a time.'),
    durationFlag('node-monitor-period', '5s', 'Time between two looks at nodes that are not ready.'),
    wholeFlag(
      'node-deletion-confirmations',
      '1',
      'Looks in a row that must find a machine gone before its Node is deleted.',
    ),
    durationFlag('node-deletion-min-age', '0s', 'Younger Nodes are not deleted.'),
    durationFlag('node-sync-period', '0s', 'Deprecated: has no effect.'),
    wholeFlag('concurrent-service-syncs', '30', 'Load balancers that are worked on at a time.'),
    durationFlag(
      'service-resync-period',
      '0s',
      'How often every load balancer is compared with the cloud again; 0 for never.',
    ),
    switchFlag('hold-back-uninitialized-nodes', 'true', 'Nodes are no backends before they are initialised.'),
    switchFlag('configure-cloud-routes', 'true', 'Configure routes to the pods of each node.'),
    switchFlag(
      'watch-routes',
      'true',
      'Follow the nodes, with a full pass every twelve hours; else a full pass per period.',
    ),
    durationFlag(
      'route-reconciliation-period',
      '10s',
      'Time between two passes over all routes, without --watch-routes.',
    ),
    wholeFlag('concurrent-route-calls', '200', 'Calls that create or delete routes at a time.'),
    textFlag('cluster-cidr', '', 'Address ranges of pods, separated by commas; routes outside are not touched.'),
    switchFlag('allocate-node-cidrs', 'false', 'Pods get addresses from ranges that are assigned to nodes.'),
    textFlag('cidr-allocator-type', 'RangeAllocator', 'Accepted; nothing here assigns address ranges.'),
  ],
};

const API_SERVER: FlagSection = {
  title: 'API server',
  flags: [
    ...API_PLACE_FLAGS,
    textFlag('master', '', 'Address of the API server, instead of that of the kubeconfig.'),
    {
      ...wholeFlag('kube-api-qps', '0', 'Requests per second of each controller; 0 for no limit of our own.'),
      isFraction: true,
    },
    wholeFlag('kube-api-burst', '0', 'Requests at once after a pause, with --kube-api-qps; 0 for 30.'),
    textFlag('kube-api-content-type', 'application/vnd.kubernetes.protobuf', 'Accepted; JSON is spoken.'),
    durationFlag('min-resync-period', '12h', 'Every object is looked at again after one to two times this.'),
    switchFlag(
      'use-service-account-credentials',
      'false',
      'Each controller acts as its own ServiceAccount in kube-system.',
    ),
  ],
};

const ELECTION: FlagSection = {
  title: 'Leader election',
  flags: [
    switchFlag('leader-elect', 'true', 'Work only while leading; false: no Lease is read or written.'),
    textFlag('leader-elect-resource-lock', 'leases', 'Kind of the lock; only leases.'),
    textFlag('leader-elect-resource-name', 'cloud-controller-manager', 'Name of the Lease.'),
    textFlag('leader-elect-resource-namespace', 'kube-system', 'Namespace of the Lease.'),
    durationFlag('leader-elect-lease-duration', '15s', 'When others take over.'),
    durationFlag('leader-elect-renew-deadline', '10s', 'When the leader gives up.'),
    durationFlag('leader-elect-retry-period', '2s', 'Time between tries.'),
    switchFlag('enable-leader-migration', 'false', 'Only false: there is nobody to migrate controllers from.'),
    textFlag('leader-migration-config', '', 'Only with --enable-leader-migration.'),
  ],
};

const SERVING: FlagSection = {
  title: 'Secure port',
  flags: [
    portFlag('secure-port', '10258', 'Port for health, metrics and configuration over TLS; 0 for none.'),
    textFlag('bind-address', '0.0.0.0', 'Address of the secure port.'),
    textFlag(
      'tls-cert-file',
      '',
      'Certificate of the secure port; else one of its own. Read again when it changes.',
    ),
    textFlag('tls-private-key-file', '', 'Key of --tls-cert-file.'),
    textFlag('cert-dir', '', 'Folder with cloud-controller-manager.crt and .key, without --tls-cert-file.'),
    choiceFlag(
      ['tls-min-version', ''],
      ['', 'VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'],
      'Least version of TLS; never below 1.2.',
    ),
    listFlag('tls-cipher-suites', '', 'Cipher suites up to TLS 1.2, by the names of Go.'),
    itemsFlag(
      'tls-sni-cert-key',
      '',
      '`cert,key` or `cert,key:name,…`: files, for clients who ask for these names.',
    ),
    textFlag('authentication-kubeconfig', '', 'Who asks the API server about tokens; else the program itself.'),
    textFlag(
      'authorization-kubeconfig',
      '',
      'Who asks the API server about permissions; else the program itself.',
    ),
    listFlag('authorization-always-allow-paths', '/healthz,/readyz,/livez', 'Paths that anybody may read.'),
    switchFlag('profiling', 'true', 'Serve /debug/pprof/.'),
    switchFlag('contention-profiling', 'false', 'Accepted; there are no locks to profile.'),
    portFlag('port', '0', 'Deprecated: port for /healthz without TLS; 0 for none.'),
    textFlag('address', '0.0.0.0', 'Deprecated: address of --port.'),
    listFlag('webhooks', '', 'Admission webhooks that are served; there are none.'),
    textFlag('webhook-bind-address', '0.0.0.0', 'Accepted; there are no webhooks.'),
    portFlag('webhook-secure-port', '10260', 'Accepted; there are no webhooks. Must not be --secure-port.'),
  ],
};

const PROGRAM: FlagSection = {
  title: 'Program',
  flags: [
    listFlag('feature-gates', '', '`name=true` or `name=false`, separated by commas.'),
    ...LOG_FLAGS,
    textFlag('vmodule', '', 'Accepted; -v holds for all files.'),
    choiceFlag(['version', 'false'], ['false', 'true', 'raw'], 'Print the version and exit.'),
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

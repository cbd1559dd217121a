import { isIP } from 'node:net';
import { timingProblems } from '../../kube/election/election-timing.ts';
import type { FlagReader } from '../../kube/manager/flag-reader.ts';
import { controllerProblems } from './controller-list.ts';

/** Everything that is wrong with values that could be read, in the words of upstream where it has some (P4, P5). Pure. */
export const settingProblems = (read: FlagReader): readonly string[] => [
  ...(read.text('cloud-provider') === '' ? ['--cloud-provider cannot be empty'] : []),
  ...controllerProblems(read.list('controllers')),
  ...countProblems(read),
  ...periodProblems(read),
  ...electionProblems(read),
  ...servingProblems(read),
  ...webhookProblems(read),
];

const POSITIVE_COUNTS = [
  'concurrent-node-syncs',
  'concurrent-node-lifecycle-syncs',
  'concurrent-service-syncs',
  'concurrent-route-calls',
  'node-deletion-confirmations',
];
const COUNTS = ['concurrent-node-status-updates', 'kube-api-burst'];

const countProblems = (read: FlagReader): readonly string[] => [
  ...POSITIVE_COUNTS.filter((name) => read.number(name) <= 0).map((name) => `${name} must be a positive number`),
  ...COUNTS.filter((name) => read.number(name) < 0).map((name) => `${name} cannot be a negative number`),
];

const POSITIVE_PERIODS = [
  'node-status-update-frequency',
  'node-monitor-period',
  'route-reconciliation-period',
  'min-resync-period',
  'provider-call-timeout',
];
const PERIODS = ['controller-start-interval', 'node-deletion-min-age', 'service-resync-period'];

const periodProblems = (read: FlagReader): readonly string[] => [
  ...POSITIVE_PERIODS.filter((name) => read.number(name) <= 0).map((name) => `--${name} must be more than 0`),
  ...PERIODS.filter((name) => read.number(name) < 0).map((name) => `--${name} cannot be negative`),
];

function electionProblems(read: FlagReader): readonly string[] {
  if (read.is('enable-leader-migration')) {
    return ['--enable-leader-migration is not supported: no other program runs these controllers any more'];
  }
  if (!read.is('leader-elect')) return [];
  const lock = read.text('leader-elect-resource-lock') === 'leases' ? [] : ['resourceLock value must be "leases"'];
  const unnamed = ['leader-elect-resource-name', 'leader-elect-resource-namespace']
    .filter((name) => read.text(name) === '')
    .map((name) => `--${name} cannot be empty`);
  const timing = timingProblems({
    leaseMs: read.number('leader-elect-lease-duration'),
    renewMs: read.number('leader-elect-renew-deadline'),
    retryMs: read.number('leader-elect-retry-period'),
  });
  return [...lock, ...unnamed, ...timing.map(withOurNames)];
}

/** The same times have other names in programs that are not upstream's. */
const withOurNames = (problem: string): string =>
  problem.replaceAll(/--(lease-duration|renew-deadline|retry-period)/g, '--leader-elect-$1');

function servingProblems(read: FlagReader): readonly string[] {
  const hosts = ['bind-address', 'address', 'webhook-bind-address']
    .filter((name) => isIP(read.text(name)) === 0)
    .map((name) => `--${name}: "${read.text(name)}" is not an IP address`);
  const isHalf = (read.text('tls-cert-file') === '') !== (read.text('tls-private-key-file') === '');
  const paths = read
    .list('authorization-always-allow-paths')
    .filter((path) => !/^\/[^*]*\*?$/.test(path))
    .map((path) => `--authorization-always-allow-paths: "${path}" must begin with / and may end with *`);
  return [
    ...hosts,
    ...(isHalf ? ['--tls-cert-file and --tls-private-key-file must be given together'] : []),
    ...paths,
  ];
}

/** The same lists as for controllers; there are no webhooks that one could name (W1). */
function webhookProblems(read: FlagReader): readonly string[] {
  const unknown = read
    .list('webhooks')
    .filter((entry) => entry !== '*')
    .map((entry) => `"${entry.replace(/^-/, '')}" is not in the list of known webhooks`);
  const isSame =
    read.number('secure-port') > 0 && read.number('secure-port') === read.number('webhook-secure-port');
  return [...unknown, ...(isSame ? ['--webhook-secure-port must not be the same as --secure-port'] : [])];
}

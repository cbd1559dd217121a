import {
  API_PLACE_FLAGS,
  choiceFlag,
  durationFlag,
  LOG_FLAGS,
  listFlag,
  portFlag,
  switchFlag,
  textFlag,
} from '../../kube/manager/flag-makers.ts';
import type { Flag } from '../../kube/manager/flag-parser.ts';
import { MANAGED_NAMESPACE } from '../definition.ts';

/** Of the library that upstream logs with: manifests may have them, and they change nothing here. */
const IGNORED: readonly Flag[] = [
  ...[
    'vmodule',
    'log-backtrace-at',
    'log-dir',
    'log-file',
    'log-file-max-size',
    'stderrthreshold',
    'legacy-stderr-threshold-behavior',
    'leader-elect-resource-lock',
  ].map((name) => textFlag(name, '', 'Accepted; changes nothing.')),
  ...['logtostderr', 'alsologtostderr', 'add-dir-header', 'skip-headers', 'skip-log-headers', 'one-output'].map(
    (name) => switchFlag(name, 'false', 'Accepted; changes nothing.'),
  ),
];

/** What both programs can be told: the flags of upstream with its defaults (section 1), and some of our own. */
export const PROGRAM_FLAGS: readonly Flag[] = [
  textFlag(
    'namespace',
    MANAGED_NAMESPACE,
    'Where cloud controller managers run; with --mode=sidecar one of its own.',
  ),
  textFlag('provider', '', 'Cloud provider by its id, for platform External; else the cluster decides.'),
  choiceFlag(
    ['mode', ''],
    ['', 'replace', 'sidecar'],
    'Instead of the operator of the payload, or beside it; sidecar for an External provider.',
  ),
  textFlag('health-addr', ':9440', 'Address of /healthz and /readyz; 0 for none.'),
  switchFlag('leader-elect', 'true', 'Work only while leading; false: no Lease is written.'),
  durationFlag(
    'leader-elect-lease-duration',
    '0s',
    'When others take over; 0: as the topology of the cluster asks for.',
  ),
  durationFlag('leader-elect-renew-deadline', '0s', 'When the leader gives up; 0: as the topology asks for.'),
  durationFlag('leader-elect-retry-period', '0s', 'Time between tries; 0: as the topology asks for.'),
  textFlag('leader-elect-resource-name', '', 'Name of the Lease; else that of the mode.'),
  textFlag('leader-elect-resource-namespace', '', 'Namespace of the Lease; else that of the pod.'),
  ...API_PLACE_FLAGS,
  ...LOG_FLAGS,
  ...IGNORED,
];

/** Of the program that deploys. */
export const OPERATOR_FLAGS: readonly Flag[] = [
  textFlag(
    'images-json',
    '/etc/cloud-controller-manager-config/images.json',
    'Images by key; read at each reconcile.',
  ),
  textFlag(
    'metrics-bind-address',
    ':9258',
    'Address of /metrics over TLS, for those who may read it; 0 for none.',
  ),
  portFlag('webhook-port', '9443', 'Accepted; there are no webhooks.'),
  textFlag('tls-cert-dir', '', 'Folder with tls.crt and tls.key; one of its own until they are there.'),
  textFlag('tls-min-version', '', 'Least version of TLS, such as VersionTLS12; else the profile of the cluster.'),
  listFlag('tls-cipher-suites', '', 'Cipher suites by the names of Go; else the profile of the cluster.'),
  switchFlag(
    'prune',
    'false',
    'Delete operands that are not rendered any more; always with --mode=sidecar, unless this says false.',
  ),
];

/** Of the program that keeps cloud config and authorities in step. */
export const CONFIG_SYNC_FLAGS: readonly Flag[] = [
  textFlag(
    'system-trust-bundle',
    '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
    'File with the authorities that the node trusts.',
  ),
];

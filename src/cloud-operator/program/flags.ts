import type { Flag, FlagType } from '../../kube/manager/flag-parser.ts';
import { MANAGED_NAMESPACE } from '../definition.ts';

type Told = readonly [name: string, fallback: string, description: string];

const flag =
  (type: FlagType) =>
  (...[name, fallback, description]: Told): Flag => ({ name, type, default: fallback, description });
const [text, on, time, list] = [flag('text'), flag('switch'), flag('duration'), flag('list')];

const choice = (...[name, fallback, description]: Told) => ({
  among: (...choices: readonly string[]): Flag => ({
    name,
    type: 'choice',
    default: fallback,
    choices,
    description,
  }),
});

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
  ].map((name) => text(name, '', 'Accepted; changes nothing.')),
  ...['logtostderr', 'alsologtostderr', 'add-dir-header', 'skip-headers', 'skip-log-headers', 'one-output'].map(
    (name) => on(name, 'false', 'Accepted; changes nothing.'),
  ),
];

/** What both programs can be told: the flags of upstream with its defaults (section 1), and some of our own. */
export const PROGRAM_FLAGS: readonly Flag[] = [
  text('namespace', MANAGED_NAMESPACE, 'Where cloud controller managers run; with --mode=sidecar one of its own.'),
  text('provider', '', 'Cloud provider by its id, for platform External; else the cluster decides.'),
  choice(
    'mode',
    '',
    'Instead of the operator of the payload, or beside it; sidecar for an External provider.',
  ).among('', 'replace', 'sidecar'),
  text('health-addr', ':9440', 'Address of /healthz and /readyz; 0 for none.'),
  on('leader-elect', 'true', 'Work only while leading; false: no Lease is written.'),
  time('leader-elect-lease-duration', '0s', 'When others take over; 0: as the topology of the cluster asks for.'),
  time('leader-elect-renew-deadline', '0s', 'When the leader gives up; 0: as the topology asks for.'),
  time('leader-elect-retry-period', '0s', 'Time between tries; 0: as the topology asks for.'),
  text('leader-elect-resource-name', '', 'Name of the Lease; else that of the mode.'),
  text('leader-elect-resource-namespace', '', 'Namespace of the Lease; else that of the pod.'),
  text('kubeconfig', '', 'Kubeconfig file; else KUBECONFIG, the pod, ~/.kube/config.'),
  text(
    'apiserver-env-file',
    '',
    'File whose KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT win over those of the pod; ignored when missing.',
  ),
  {
    name: 'v',
    type: 'number',
    default: '0',
    range: [0, 10],
    description: 'How much is logged: 4 or more for everything.',
  },
  choice('logging-format', 'text', 'How it is logged.').among('text', 'json'),
  ...IGNORED,
];

/** Of the program that deploys. */
export const OPERATOR_FLAGS: readonly Flag[] = [
  text(
    'images-json',
    '/etc/cloud-controller-manager-config/images.json',
    'Images by key; read at each reconcile.',
  ),
  text('metrics-bind-address', ':9258', 'Address of /metrics over TLS, for those who may read it; 0 for none.'),
  {
    name: 'webhook-port',
    type: 'number',
    default: '9443',
    range: [0, 65_535],
    description: 'Accepted; there are no webhooks.',
  },
  text('tls-cert-dir', '', 'Folder with tls.crt and tls.key; one of its own until they are there.'),
  text('tls-min-version', '', 'Least version of TLS, such as VersionTLS12; else the profile of the cluster.'),
  list('tls-cipher-suites', '', 'Cipher suites by the names of Go; else the profile of the cluster.'),
  on(
    'prune',
    'false',
    'Delete operands that are not rendered any more; always with --mode=sidecar, unless this says false.',
  ),
];

/** Of the program that keeps cloud config and authorities in step. */
export const CONFIG_SYNC_FLAGS: readonly Flag[] = [
  text(
    'system-trust-bundle',
    '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
    'File with the authorities that the node trusts.',
  ),
];

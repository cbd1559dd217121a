import { API_PLACE_FLAGS, LOG_FLAGS, portFlag, switchFlag, textFlag } from '../../kube/manager/flag-makers.ts';
import type { Flag } from '../../kube/manager/flag-parser.ts';

/** Where controller-runtime looks for the certificate of a webhook server, and so where manifests mount it. */
export const WEBHOOK_CERT_DIR = '/tmp/k8s-webhook-server/serving-certs';

/** Of the library that upstream logs with: manifests may have them, and they change nothing here. */
const IGNORED: readonly Flag[] = [
  ...['vmodule', 'log-flush-frequency', 'log-text-info-buffer-size', 'log-json-info-buffer-size'].map((name) =>
    textFlag(name, '', 'Accepted; changes nothing.'),
  ),
  ...['log-text-split-stream', 'log-json-split-stream'].map((name) =>
    switchFlag(name, 'false', 'Accepted; changes nothing.'),
  ),
  switchFlag('enable-http2', 'false', 'Accepted; metrics and webhooks are served over HTTP/1.1.'),
];

/** What both providers can be told: the flags of upstream with its defaults (agent/P1), and some of our own. */
export const AGENT_FLAGS: readonly Flag[] = [
  textFlag('metrics-bind-address', ':8080', 'Address of /metrics; 0 for none.'),
  switchFlag('metrics-secure', 'false', 'Metrics over TLS, and only for those who may read them.'),
  textFlag('health-probe-bind-address', ':8081', 'Address of /healthz and /readyz; 0 for none.'),
  switchFlag('leader-elect', 'false', 'Work only while leading; false: no Lease is written.'),
  textFlag('leader-elect-namespace', '', 'Namespace of the Lease; else that of the pod.'),
  textFlag('namespace', '', 'The only namespace that is looked at; all unless given.'),
  textFlag(
    'watch-filter',
    '',
    'Only objects whose label cluster.x-k8s.io/watch-filter has this value are looked at; all unless given.',
  ),
  portFlag('webhook-port', '9443', 'Port of the webhooks; 0: they are served elsewhere, or nowhere.'),
  textFlag('webhook-bind-address', '', 'Address of the webhooks; all addresses unless given.'),
  textFlag('webhook-cert-dir', WEBHOOK_CERT_DIR, 'Folder with tls.crt and tls.key of the webhooks.'),
  ...API_PLACE_FLAGS,
  ...LOG_FLAGS.map((flag) => (flag.name === 'v' ? { ...flag, default: '3' } : flag)),
  ...IGNORED,
];

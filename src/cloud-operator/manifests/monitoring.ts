import type { KubeObject } from '../../api/object.ts';
import { grant } from '../../kube/rbac/grants.ts';
import type { Installation } from './installation.ts';
import { METRICS_SERVICE } from './operator-deployment.ts';

const API_VERSION = 'monitoring.coreos.com/v1';
/** Who scrapes in OpenShift, and the name of what lets it find Services in a namespace. */
const PROMETHEUS = { name: 'prometheus-k8s', namespace: 'openshift-monitoring' } as const;
/** In its pods: whom it trusts for certificates of Services. */
const SERVICE_CA = '/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt';
const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** One of its kinds, none of which we read. */
interface Monitoring extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}

/** What the monitoring of a cluster reads the metrics by (R94): over TLS, and as an account that may read them. */
export function scrapedService({ names }: Installation): readonly KubeObject[] {
  const { operatorNamespace: namespace } = names;
  const rules = [
    { apiGroups: [''], resources: ['services', 'endpoints', 'pods'], verbs: ['get', 'list', 'watch'] },
  ];
  const monitor: Monitoring = {
    apiVersion: API_VERSION,
    kind: 'ServiceMonitor',
    metadata: { name: METRICS_SERVICE.name, namespace },
    spec: {
      endpoints: [
        {
          port: 'metrics',
          scheme: 'https',
          interval: '30s',
          bearerTokenFile: TOKEN,
          tlsConfig: { caFile: SERVICE_CA, serverName: `${METRICS_SERVICE.name}.${namespace}.svc` },
        },
      ],
      namespaceSelector: { matchNames: [namespace] },
      selector: { matchLabels: METRICS_SERVICE.labels },
    },
  };
  return [...grant({ name: PROMETHEUS.name, namespace, rules, subject: PROMETHEUS }), monitor];
}

interface Alert {
  readonly name: string;
  readonly expression: string;
  readonly since: string;
  readonly summary: string;
  readonly description: string;
}

/** What somebody has to look at: the conditions say the rest. */
export function alertRules({ names }: Installation): Monitoring {
  const { operatorNamespace: namespace, clusterOperator } = names;
  return {
    apiVersion: API_VERSION,
    kind: 'PrometheusRule',
    metadata: { name: METRICS_SERVICE.name, namespace },
    spec: {
      groups: [
        {
          name: clusterOperator,
          rules: alertsOf(clusterOperator, namespace).map(({ name, expression, since, ...annotations }) => ({
            alert: name,
            expr: expression,
            for: since,
            labels: { severity: 'warning', namespace },
            annotations,
          })),
        },
      ],
    },
  };
}

const alertsOf = (operator: string, namespace: string): readonly Alert[] => [
  {
    name: 'CloudOperatorDegraded',
    expression: `max(slipway_cloud_operator_condition{namespace="${namespace}",type="Degraded"}) == 1`,
    since: '15m',
    summary: `ClusterOperator ${operator} is degraded.`,
    description: `The cloud operator cannot do its work. Its condition Degraded says why: oc describe clusteroperator ${operator}`,
  },
  {
    name: 'CloudControllerManagerNotRolledOut',
    expression: `min by (kind, name) (slipway_cloud_operator_operand_converged{namespace="${namespace}"}) == 0`,
    since: '30m',
    summary: '{{ $labels.kind }} {{ $labels.name }} has not been rolled out.',
    description:
      'Nodes that join may stay uninitialised, and load balancers may not follow their Services. Its pods and their events say why.',
  },
  {
    name: 'CloudOperatorSilent',
    expression: `absent(up{namespace="${namespace}",job="${METRICS_SERVICE.name}"} == 1)`,
    since: '15m',
    summary: 'Nobody can read the metrics of the cloud operator.',
    description: `It does not run, or its certificate is not signed yet: oc get pods --namespace ${namespace}`,
  },
];

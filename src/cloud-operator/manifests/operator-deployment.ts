import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { Container, PodSpec, Service, Toleration } from '../../api/generated/core-v1.ts';
import { type Installation, OPERATOR_ACCOUNT } from './installation.ts';

/** Of the Deployment in replace mode, and of the label its pods are found by. */
const APP = 'cloud-manager-operator';
/**
 * Of the host. Beside the operator of the payload, which is on the same machines, they have to be others than its ports:
 * no machine would be left where there is only one. These are in OpenShift's range and not in its registry of host ports.
 */
export const OPERATOR_PORTS = {
  replace: { metrics: 9258, operatorHealth: 9259, configSyncHealth: 9260 },
  sidecar: { metrics: 9268, operatorHealth: 9269, configSyncHealth: 9270 },
} as const;
/** Upstream's Service has it, although nothing listens there. */
const WEBHOOK = { name: 'webhook', port: 9443, targetPort: 9443 } as const;
const SERVING_SECRET = 'cloud-controller-manager-operator-tls';
const SERVING_FOLDER = '/etc/slipway/serving-cert';
const IMAGES_FOLDER = '/etc/cloud-controller-manager-config';
const HOST_FOLDER = '/etc/kubernetes';
const TRUST_FOLDER = '/etc/pki/ca-trust/extracted/pem';

/** As upstream calls them: people and tools look for these names. */
const CONTAINERS = {
  'cloud-operator': 'cluster-cloud-controller-manager',
  'cloud-config-sync': 'config-sync-controllers',
} as const;

export const IMAGES_CONFIG_MAP = 'cloud-controller-manager-images';

/** Of the host's bundle where OpenShift keeps it: the image has one of its own there. */
const SYSTEM_TRUST_FOLDER = '/etc/slipway/system-trust';

/**
 * The pod with both programs (section 16): on the network of the host and tolerant of nearly everything, because the
 * nodes that it could wait for wait for what it deploys.
 */
export function operatorDeployment(installation: Installation): Deployment {
  const { operatorNamespace: namespace } = installation.names;
  const labels = { 'k8s-app': APP };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: deploymentName(installation), namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      strategy: { type: 'Recreate' },
      template: {
        metadata: {
          annotations: {
            'target.workload.openshift.io/management': '{"effect": "PreferredDuringScheduling"}',
            'kubectl.kubernetes.io/default-container': CONTAINERS['cloud-operator'],
            'openshift.io/required-scc': 'hostaccess',
          },
          labels,
        },
        spec: podSpec(installation),
      },
    },
  };
}

const deploymentName = ({ mode, names }: Installation): string =>
  mode === 'replace' ? 'cluster-cloud-controller-manager-operator' : `${names.clusterOperator}-operator`;

const TOLERATIONS: readonly Toleration[] = [
  { key: 'node-role.kubernetes.io/master', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 120 },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 120 },
];

function podSpec(installation: Installation): PodSpec {
  return {
    priorityClassName: 'system-node-critical',
    serviceAccountName: OPERATOR_ACCOUNT,
    hostNetwork: true,
    // The DNS of the cluster needs nodes that are initialised.
    dnsPolicy: 'Default',
    nodeSelector: { 'node-role.kubernetes.io/master': '' },
    restartPolicy: 'Always',
    tolerations: TOLERATIONS,
    terminationGracePeriodSeconds: 40,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [operatorContainer(installation), configSyncContainer(installation)],
    volumes: [
      { name: 'images', configMap: { name: IMAGES_CONFIG_MAP } },
      { name: 'host-etc-kube', hostPath: { path: HOST_FOLDER, type: 'Directory' } },
      // It is there once the operator that signs certificates works; until then the program signs one itself.
      { name: 'serving-cert', secret: { secretName: SERVING_SECRET, optional: true } },
      { name: 'system-trust', hostPath: { path: TRUST_FOLDER, type: 'DirectoryOrCreate' } },
    ],
  };
}

const operatorContainer = (installation: Installation): Container => ({
  ...containerOf(installation, 'cloud-operator', [
    `--images-json=${IMAGES_FOLDER}/images.json`,
    `--metrics-bind-address=:${OPERATOR_PORTS[installation.mode].metrics}`,
    `--health-addr=127.0.0.1:${OPERATOR_PORTS[installation.mode].operatorHealth}`,
    `--tls-cert-dir=${SERVING_FOLDER}`,
  ]),
  ports: [
    { name: 'metrics', containerPort: OPERATOR_PORTS[installation.mode].metrics, protocol: 'TCP' },
    { name: 'healthz', containerPort: OPERATOR_PORTS[installation.mode].operatorHealth, protocol: 'TCP' },
  ],
  resources: { requests: { cpu: '10m', memory: '50Mi' } },
  volumeMounts: [
    { name: 'images', mountPath: IMAGES_FOLDER, readOnly: true },
    { name: 'host-etc-kube', mountPath: HOST_FOLDER, readOnly: true },
    { name: 'serving-cert', mountPath: SERVING_FOLDER, readOnly: true },
  ],
});

const configSyncContainer = (installation: Installation): Container => ({
  ...containerOf(installation, 'cloud-config-sync', [
    `--health-addr=127.0.0.1:${OPERATOR_PORTS[installation.mode].configSyncHealth}`,
    `--system-trust-bundle=${SYSTEM_TRUST_FOLDER}/tls-ca-bundle.pem`,
  ]),
  ports: [
    { name: 'healthz-sync', containerPort: OPERATOR_PORTS[installation.mode].configSyncHealth, protocol: 'TCP' },
  ],
  resources: { requests: { cpu: '10m', memory: '25Mi' } },
  volumeMounts: [
    { name: 'host-etc-kube', mountPath: HOST_FOLDER, readOnly: true },
    { name: 'system-trust', mountPath: SYSTEM_TRUST_FOLDER, readOnly: true },
  ],
});

/** What both programs are told. */
export const deployedFlags = ({
  names,
  mode,
  provider,
}: Pick<Installation, 'names' | 'mode' | 'provider'>): readonly string[] => [
  ...(provider === undefined ? [] : [`--provider=${provider}`]),
  `--mode=${mode}`,
  `--namespace=${names.managedNamespace}`,
  '--leader-elect=true',
  `--leader-elect-resource-namespace=${names.operatorNamespace}`,
  `--apiserver-env-file=${HOST_FOLDER}/apiserver-url.env`,
];

function containerOf(
  installation: Installation,
  component: keyof typeof CONTAINERS,
  flags: readonly string[],
): Container {
  return {
    name: CONTAINERS[component],
    image: installation.image,
    imagePullPolicy: 'IfNotPresent',
    args: ['run', component, ...deployedFlags(installation), ...flags],
    env: [{ name: 'RELEASE_VERSION', value: installation.releaseVersion }],
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

/** What monitoring finds it by. */
export const METRICS_SERVICE = { name: 'cloud-controller-manager-operator', labels: { app: APP } } as const;

/** Headless: whoever scrapes asks each pod. */
export const metricsService = ({ mode, names }: Installation): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: METRICS_SERVICE.name,
    namespace: names.operatorNamespace,
    annotations: { 'service.alpha.openshift.io/serving-cert-secret-name': SERVING_SECRET },
    labels: METRICS_SERVICE.labels,
  },
  spec: {
    type: 'ClusterIP',
    clusterIP: 'None',
    ports: [
      { name: 'metrics', port: OPERATOR_PORTS[mode].metrics, targetPort: 'metrics' },
      ...(mode === 'replace' ? [WEBHOOK] : []),
    ],
    selector: { 'k8s-app': APP },
  },
});

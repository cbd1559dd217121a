import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { EnvVar, PodSpec, Volume } from '../../api/generated/core-v1.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { deployedControllers, type InstallNames, type InstallOptions, PROGRAM } from './install-options.ts';
import { TRUSTED_CA_KEY, trustedCaName } from './namespace.ts';
import { CLOUD_CONFIG_FILE, commonFlags, containerOf, hostFolder, type Mount, TOLERATIONS } from './pod.ts';

/** Of the Secret with a key for each of the variables that the definition lists. */
export const CREDENTIALS_SECRET = 'cloud-credentials';
/** Of the ConfigMap or Secret with the cloud configuration. */
const CLOUD_CONFIG = 'cloud-config';

const HOST_FOLDER = '/etc/kubernetes';
/** Says where the API server is before Services work; written by OpenShift on every machine (O9). */
const API_SERVER_ENV_FILE = `${HOST_FOLDER}/apiserver-url.env`;
const TRUSTED_CA_FOLDER = '/etc/slipway/trusted-ca';
/** Of the cloud operator: its names of ConfigMaps, where it wants them, and what it calls the cluster (operator R25, W27). */
const OPERATED = {
  cloudConfig: 'cloud-conf',
  trustedCa: 'ccm-trusted-ca',
  trustedCaFolder: '/etc/pki/ca-trust/extracted/pem',
  trustedCaFile: 'tls-ca-bundle.pem',
  clusterName: 'OCP_INFRASTRUCTURE_NAME',
} as const;
const CLOUD_CONFIG_FOLDER = '/etc/cloud/config';

/** One leads and one waits, or a single one where there is one machine (O7, C30). */
export function deploymentOf(
  names: InstallNames,
  definition: ProviderDefinition,
  options: InstallOptions,
): Deployment {
  const { name, namespace, labels } = names;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: options.topology === 'sno' ? 1 : 2,
      selector: { matchLabels: labels },
      // The port is that of the host: the old one has to be gone before the new one can have it.
      strategy: { type: 'Recreate' },
      template: {
        metadata: {
          annotations: { 'target.workload.openshift.io/management': '{"effect": "PreferredDuringScheduling"}' },
          labels,
        },
        spec: podSpec(names, definition, options),
      },
    },
  };
}

function podSpec(names: InstallNames, definition: ProviderDefinition, options: InstallOptions): PodSpec {
  const mounts = mountsOf(names, options);
  const container = containerOf({
    options,
    flags: deployedFlags(names, definition, options),
    env: environmentOf(definition, options),
    mounts,
  });
  return {
    serviceAccountName: PROGRAM,
    priorityClassName: 'system-cluster-critical',
    // Neither the pod network nor the DNS of the cluster is there yet: both wait for nodes that this program initialises.
    hostNetwork: true,
    dnsPolicy: 'Default',
    nodeSelector: { 'node-role.kubernetes.io/master': '' },
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: names.labels } },
        ],
      },
    },
    tolerations: TOLERATIONS,
    // Ten seconds more than the 30 s in which a manager stops.
    terminationGracePeriodSeconds: 40,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
    volumes: mounts.map(({ volume }) => volume),
  };
}

/**
 * What the program is told. The times are those of OpenShift: the lease outlives the restart of an API server where there
 * is only one.
 */
export const deployedFlags = (
  { namespace }: InstallNames,
  definition: ProviderDefinition,
  options: InstallOptions,
): readonly string[] => [
  ...commonFlags(definition, options),
  `--apiserver-env-file=${API_SERVER_ENV_FILE}`,
  ...(hasCloudConfig(options) ? [`--cloud-config=${CLOUD_CONFIG_FOLDER}/${CLOUD_CONFIG_FILE}`] : []),
  `--controllers=${deployedControllers(definition).join(',')}`,
  ...clusterNameFlag(options),
  `--use-service-account-credentials=${options.usesAccounts ?? false}`,
  // The network of OpenShift brings the packets of pods to their nodes by itself.
  '--configure-cloud-routes=false',
  '--leader-elect=true',
  '--leader-elect-lease-duration=137s',
  '--leader-elect-renew-deadline=107s',
  '--leader-elect-retry-period=26s',
  `--leader-elect-resource-namespace=${namespace}`,
];

/** Whether there is a file with it. */
export const hasCloudConfig = ({ cloudConfig, operated }: InstallOptions): boolean =>
  operated === true || cloudConfig !== undefined;

function clusterNameFlag({ clusterName, operated }: InstallOptions): readonly string[] {
  const name = operated === true ? `$(${OPERATED.clusterName})` : clusterName;
  return name === undefined ? [] : [`--cluster-name=${name}`];
}

/** Credentials may be missing: the provider says what it lacks, which a pod that waits for a Secret would not. */
const environmentOf = ({ secrets }: ProviderDefinition, { operated }: InstallOptions): readonly EnvVar[] => [
  ...(operated === true
    ? [
        // The operator fills it in.
        { name: OPERATED.clusterName, value: '' },
        { name: 'NODE_EXTRA_CA_CERTS', value: `${OPERATED.trustedCaFolder}/${OPERATED.trustedCaFile}` },
      ]
    : [{ name: 'NODE_EXTRA_CA_CERTS', value: `${TRUSTED_CA_FOLDER}/${TRUSTED_CA_KEY}` }]),
  ...secrets.map((name) => ({
    name,
    valueFrom: { secretKeyRef: { name: CREDENTIALS_SECRET, key: name, optional: true } },
  })),
];

function mountsOf(names: InstallNames, options: InstallOptions): readonly Mount[] {
  const { cloudConfig, operated } = options;
  const host = hostFolder('host-etc-kube', HOST_FOLDER);
  if (operated === true) return [host, ...OPERATED_MOUNTS];
  const trusted = { name: 'trusted-ca', configMap: { name: trustedCaName(names), optional: true } };
  return [
    host,
    { volume: trusted, path: TRUSTED_CA_FOLDER },
    ...(cloudConfig === undefined ? [] : [{ volume: cloudConfigVolume(cloudConfig), path: CLOUD_CONFIG_FOLDER }]),
  ];
}

/** Not optional: the operator deploys nothing before both are there. */
const OPERATED_MOUNTS: readonly Mount[] = [
  {
    volume: {
      name: 'trusted-ca',
      configMap: {
        name: OPERATED.trustedCa,
        items: [{ key: TRUSTED_CA_KEY, path: OPERATED.trustedCaFile }],
      },
    },
    path: OPERATED.trustedCaFolder,
  },
  { volume: { name: CLOUD_CONFIG, configMap: { name: OPERATED.cloudConfig } }, path: CLOUD_CONFIG_FOLDER },
];

const cloudConfigVolume = (kind: 'ConfigMap' | 'Secret'): Volume =>
  kind === 'Secret'
    ? { name: CLOUD_CONFIG, secret: { secretName: CLOUD_CONFIG, optional: true } }
    : { name: CLOUD_CONFIG, configMap: { name: CLOUD_CONFIG, optional: true } };

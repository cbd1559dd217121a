import { BOOTSTRAP_GROUP } from '../../api/agent/bootstrap-v1alpha2.ts';
import {
  CONTROL_PLANE_GROUP,
  PLATFORM,
  PLATFORM_CLOUD_CONTROLLER_MANAGER,
  PLATFORM_NAME,
  RELEASE_REPOSITORY_OVERRIDE,
} from '../../api/agent/controlplane-v1alpha3.ts';
import { CLUSTER_GROUP, CLUSTER_NAME_LABEL } from '../../api/cluster-api/core-v1beta2.ts';
import type { JsonObject } from '../../api/json.ts';
import { INFRASTRUCTURE_GROUP } from '../../api/metal3/infrastructure-v1beta2.ts';
import type { KubeObject } from '../../api/object.ts';

/** The cluster that a journey installs. */
export const JOURNEY_CLUSTER = { namespace: 'acme-lab', name: 'acme-lab' } as const;
export const JOURNEY_RELEASE = '4.20.4';

export const CONTROL_PLANE_HOSTS = ['cp-0', 'cp-1', 'cp-2'];
export const WORKER_HOSTS = ['w-0', 'w-1'];

export interface JourneyClusterOptions {
  /** Of the definition. */
  readonly platformName: string;
  /** Where release images are. */
  readonly releaseRepository: string;
}

/** Which hosts a Machine may have. */
const ROLE_LABEL = 'slipway.dev/role';
const PULL_SECRET = 'pull-secret';

const { namespace, name } = JOURNEY_CLUSTER;
const CONTROL_PLANE = `${name}-control-plane`;
/** Of the MachineDeployment, and of the templates of its machines. */
export const WORKERS = `${name}-workers`;

const object = (
  apiVersion: string,
  kind: string,
  more: JsonObject & { readonly metadata?: JsonObject },
): KubeObject => {
  const { metadata = {}, ...rest } = more;
  return { apiVersion, kind, metadata: { name, namespace, ...metadata }, ...rest } as unknown as KubeObject;
};

const infrastructure = (kind: string, more: JsonObject & { readonly metadata?: JsonObject }): KubeObject =>
  object(`${INFRASTRUCTURE_GROUP}/v1beta1`, kind, more);

/** What the machines of the cluster are told; their nodes are found by the label. */
const MACHINE_CONFIG: JsonObject = {
  pullSecretRef: { name: PULL_SECRET },
  nodeRegistration: { name: '$METADATA_NAME', kubeletExtraLabels: ['metal3.io/uuid=$METADATA_UUID'] },
};

/**
 * What a user of the Agent providers applies: three control-plane hosts and two workers become a cluster on platform
 * External, whose nodes wait for the cloud controller manager of the definition.
 */
export const journeyClusterManifests = (options: JourneyClusterOptions): readonly KubeObject[] => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  object('v1', 'Secret', {
    metadata: { name: PULL_SECRET },
    type: 'kubernetes.io/dockerconfigjson',
    // The registry of the lab asks nobody who he is.
    stringData: { '.dockerconfigjson': '{"auths":{}}' },
  }),
  ...hostManifests(CONTROL_PLANE_HOSTS, 'control-plane', 1),
  ...hostManifests(WORKER_HOSTS, 'worker', 1 + CONTROL_PLANE_HOSTS.length),
  object(`${CLUSTER_GROUP}/v1beta2`, 'Cluster', {
    spec: {
      clusterNetwork: { pods: { cidrBlocks: ['10.128.0.0/14'] }, services: { cidrBlocks: ['172.30.0.0/16'] } },
      controlPlaneRef: { apiGroup: CONTROL_PLANE_GROUP, kind: 'OpenshiftAssistedControlPlane', name },
      infrastructureRef: { apiGroup: INFRASTRUCTURE_GROUP, kind: 'Metal3Cluster', name },
    },
  }),
  infrastructure('Metal3Cluster', {
    // Provider IDs come from the cloud controller manager, and Metal3 waits for them.
    spec: { controlPlaneEndpoint: { host: `api.${name}.lab.test`, port: 6443 }, cloudProviderEnabled: true },
  }),
  controlPlane(options),
  ...[
    { template: CONTROL_PLANE, role: 'control-plane' },
    { template: WORKERS, role: 'worker' },
  ].flatMap(({ template, role }) => machineTemplate(template, role)),
  workers(),
  object(`${BOOTSTRAP_GROUP}/v1alpha2`, 'OpenshiftAssistedConfigTemplate', {
    metadata: { name: WORKERS, labels: { [CLUSTER_NAME_LABEL]: name } },
    spec: { template: { spec: MACHINE_CONFIG } },
  }),
];

const hostManifests = (names: readonly string[], role: string, first: number): readonly KubeObject[] =>
  names.map((host, at) =>
    object('metal3.io/v1alpha1', 'BareMetalHost', {
      metadata: { name: host, labels: { [ROLE_LABEL]: role } },
      spec: {
        online: false,
        bootMACAddress: `52:54:00:ac:3e:${(first + at).toString(16).padStart(2, '0')}`,
        bmc: { address: `redfish://192.0.2.1/${host}`, credentialsName: `${host}-bmc` },
      },
    }),
  );

const controlPlane = ({ platformName, releaseRepository }: JourneyClusterOptions): KubeObject =>
  object(`${CONTROL_PLANE_GROUP}/v1alpha3`, 'OpenshiftAssistedControlPlane', {
    metadata: {
      annotations: {
        [PLATFORM]: 'External',
        [PLATFORM_NAME]: platformName,
        [PLATFORM_CLOUD_CONTROLLER_MANAGER]: 'External',
        [RELEASE_REPOSITORY_OVERRIDE]: releaseRepository,
      },
    },
    spec: {
      distributionVersion: JOURNEY_RELEASE,
      replicas: CONTROL_PLANE_HOSTS.length,
      config: { baseDomain: 'lab.test', pullSecretRef: { name: PULL_SECRET } },
      machineTemplate: {
        infrastructureRef: { apiGroup: INFRASTRUCTURE_GROUP, kind: 'Metal3MachineTemplate', name: CONTROL_PLANE },
      },
      openshiftAssistedConfigSpec: MACHINE_CONFIG,
    },
  });

const machineTemplate = (template: string, role: string): readonly KubeObject[] => [
  infrastructure('Metal3MachineTemplate', {
    metadata: { name: template },
    spec: {
      template: {
        spec: {
          image: {
            url: 'http://images.lab.test/rhcos.qcow2',
            checksum: 'http://images.lab.test/rhcos.qcow2.sha256sum',
            checksumType: 'sha256',
            format: 'qcow2',
          },
          dataTemplate: { name: template },
          hostSelector: { matchLabels: { [ROLE_LABEL]: role } },
        },
      },
    },
  }),
  infrastructure('Metal3DataTemplate', { metadata: { name: template }, spec: { clusterName: name } }),
];

const workers = (): KubeObject =>
  object(`${CLUSTER_GROUP}/v1beta2`, 'MachineDeployment', {
    metadata: { name: WORKERS, labels: { [CLUSTER_NAME_LABEL]: name } },
    spec: {
      clusterName: name,
      replicas: WORKER_HOSTS.length,
      selector: { matchLabels: { [CLUSTER_NAME_LABEL]: name } },
      template: {
        metadata: { labels: { [CLUSTER_NAME_LABEL]: name } },
        spec: {
          clusterName: name,
          bootstrap: {
            configRef: { apiGroup: BOOTSTRAP_GROUP, kind: 'OpenshiftAssistedConfigTemplate', name: WORKERS },
          },
          infrastructureRef: { apiGroup: INFRASTRUCTURE_GROUP, kind: 'Metal3MachineTemplate', name: WORKERS },
        },
      },
    },
  });

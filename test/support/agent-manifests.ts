import type { JsonObject } from '../../src/api/json.ts';
import type { KubeObject } from '../../src/api/object.ts';

/** A cluster as users of the Agent providers write it: names and shapes of the examples of upstream. */
export interface ClusterSetup {
  readonly name?: string;
  readonly namespace?: string;
  readonly controlPlane?: number;
  readonly workers?: number;
  readonly version?: string;
  /** Of the control plane. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly bootMethod?: 'ignition' | 'live-iso';
  /** None: platform None, or what annotations say. */
  readonly vips?: boolean;
  readonly config?: JsonObject;
  /** Of Metal3Cluster: nodes get their provider IDs from a cloud. */
  readonly cloudProviderEnabled?: boolean;
  /** Over what every Machine is told. */
  readonly configSpec?: JsonObject;
  /** Whose machines these are: Metal3's unless told otherwise, or those of the lab cloud. */
  readonly infrastructure?: 'Metal3' | 'Lab';
  /** In the place of a good pull secret; none at all with null, as the examples of OKD have it. */
  readonly pullSecret?: string | null;
  /** A cluster of one node has neither a MachineDeployment nor templates for it. True unless told otherwise. */
  readonly hasWorkers?: boolean;
  /** The kinds of the providers in the versions that are deprecated. */
  readonly isOld?: boolean;
}

const PULL_SECRET = JSON.stringify({ auths: { 'registry.example.com': { auth: 'dXNlcjpwYXNz' } } });
const INFRASTRUCTURE = 'infrastructure.cluster.x-k8s.io';
const BOOT_METHOD = 'openshiftassistedconfig.cluster.x-k8s.io/boot-method';

const object = (fields: JsonObject & { readonly kind: string }): KubeObject => fields as unknown as KubeObject;

const machineTemplate = (namespace: string, name: string): KubeObject =>
  object({
    apiVersion: `${INFRASTRUCTURE}/v1beta1`,
    kind: 'Metal3MachineTemplate',
    metadata: { name, namespace },
    spec: {
      nodeReuse: false,
      template: {
        spec: {
          automatedCleaningMode: 'disabled',
          dataTemplate: { name: `${name}-data` },
          image: {
            url: 'http://images.example.com/rhcos.qcow2',
            checksum: 'http://images.example.com/rhcos.qcow2.sha256',
            checksumType: 'sha256',
            format: 'qcow2',
          },
        },
      },
    },
  });

const labMachineTemplate = (namespace: string, name: string): KubeObject =>
  object({
    apiVersion: `${INFRASTRUCTURE}/v1beta2`,
    kind: 'LabMachineTemplate',
    metadata: { name, namespace },
    spec: { template: { spec: { instanceType: 'lab.large', imageId: 'rhcos' } } },
  });

const labCluster = (namespace: string, name: string): KubeObject =>
  object({
    apiVersion: `${INFRASTRUCTURE}/v1beta2`,
    kind: 'LabCluster',
    metadata: { name, namespace },
    spec: { controlPlaneEndpoint: { host: `${name}.lab.home`, port: 6443 } },
  });

const dataTemplate = (namespace: string, name: string, clusterName: string): KubeObject =>
  object({
    apiVersion: `${INFRASTRUCTURE}/v1beta1`,
    kind: 'Metal3DataTemplate',
    metadata: { name: `${name}-data`, namespace },
    spec: { clusterName },
  });

const metal3Cluster = (namespace: string, name: string, { cloudProviderEnabled }: ClusterSetup): KubeObject =>
  object({
    apiVersion: `${INFRASTRUCTURE}/v1beta1`,
    kind: 'Metal3Cluster',
    metadata: { name, namespace },
    spec: {
      controlPlaneEndpoint: { host: `${name}.lab.home`, port: 6443 },
      ...(cloudProviderEnabled === true ? { cloudProviderEnabled: true } : { noCloudProvider: true }),
    },
  });

interface Names {
  readonly name: string;
  readonly namespace: string;
  /** Of the templates of infrastructure machines. */
  readonly masters: string;
  readonly nodes: string;
}

const pullSecretRef = ({ pullSecret }: ClusterSetup): JsonObject =>
  pullSecret === null ? {} : { pullSecretRef: { name: 'pull-secret' } };

const machineConfig = (setup: ClusterSetup): JsonObject => ({
  ...pullSecretRef(setup),
  sshAuthorizedKey: 'ssh-ed25519 AAAA test',
  nodeRegistration: { name: '$METADATA_NAME', kubeletExtraLabels: ['metal3.io/uuid=$METADATA_UUID'] },
  ...setup.configSpec,
});

const bootAnnotations = ({ bootMethod }: ClusterSetup): Readonly<Record<string, string>> =>
  bootMethod === undefined ? {} : { [BOOT_METHOD]: bootMethod };

const templateKindOf = ({ infrastructure = 'Metal3' }: ClusterSetup): string => `${infrastructure}MachineTemplate`;

function controlPlane({ name, namespace, masters }: Names, setup: ClusterSetup): KubeObject {
  const vips = setup.vips === false ? {} : { apiVIPs: ['192.168.222.40'], ingressVIPs: ['192.168.222.41'] };
  const reference = { kind: templateKindOf(setup), name: masters };
  const infrastructureRef = setup.isOld
    ? { apiVersion: `${INFRASTRUCTURE}/v1beta1`, ...reference }
    : { apiGroup: INFRASTRUCTURE, ...reference };
  return object({
    apiVersion: `controlplane.cluster.x-k8s.io/${setup.isOld ? 'v1alpha2' : 'v1alpha3'}`,
    kind: 'OpenshiftAssistedControlPlane',
    metadata: { name, namespace, annotations: { ...bootAnnotations(setup), ...setup.annotations } },
    spec: {
      openshiftAssistedConfigSpec: machineConfig(setup),
      distributionVersion: setup.version ?? '4.20.1',
      config: { ...vips, baseDomain: 'lab.home', ...pullSecretRef(setup), ...setup.config },
      machineTemplate: { infrastructureRef },
      replicas: setup.controlPlane ?? 3,
    },
  });
}

function workers({ name, namespace, nodes }: Names, setup: ClusterSetup): readonly KubeObject[] {
  const labels = { 'cluster.x-k8s.io/cluster-name': name };
  const configRef = {
    apiGroup: 'bootstrap.cluster.x-k8s.io',
    kind: 'OpenshiftAssistedConfigTemplate',
    name: `${name}-worker`,
  };
  return [
    object({
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { name: `${name}-worker`, namespace, labels },
      spec: {
        clusterName: name,
        replicas: setup.workers ?? 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            clusterName: name,
            bootstrap: { configRef },
            infrastructureRef: { apiGroup: INFRASTRUCTURE, kind: templateKindOf(setup), name: nodes },
          },
        },
      },
    }),
    object({
      apiVersion: `bootstrap.cluster.x-k8s.io/${setup.isOld ? 'v1alpha1' : 'v1alpha2'}`,
      kind: 'OpenshiftAssistedConfigTemplate',
      metadata: { name: `${name}-worker`, namespace, labels },
      spec: {
        template: {
          ...(setup.bootMethod !== undefined && { metadata: { annotations: bootAnnotations(setup) } }),
          spec: machineConfig(setup),
        },
      },
    }),
  ];
}

function cluster({ name, namespace }: Names, { infrastructure = 'Metal3' }: ClusterSetup): KubeObject {
  return object({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name, namespace },
    spec: {
      clusterNetwork: { pods: { cidrBlocks: ['172.18.0.0/20'] }, services: { cidrBlocks: ['10.96.0.0/12'] } },
      controlPlaneRef: {
        apiGroup: 'controlplane.cluster.x-k8s.io',
        kind: 'OpenshiftAssistedControlPlane',
        name,
      },
      infrastructureRef: { apiGroup: INFRASTRUCTURE, kind: `${infrastructure}Cluster`, name },
    },
  });
}

export const pullSecrets = (
  namespace: string,
  { pullSecret = PULL_SECRET }: ClusterSetup = {},
): readonly KubeObject[] =>
  pullSecret === null
    ? []
    : [
        object({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'pull-secret', namespace },
          type: 'kubernetes.io/dockerconfigjson',
          stringData: { '.dockerconfigjson': pullSecret },
        }),
      ];

/** Everything but hosts, in the order in which the examples have it. */
export function clusterManifests(setup: ClusterSetup = {}): readonly KubeObject[] {
  const { name = 'test-multinode', namespace = 'test-capi', hasWorkers = true } = setup;
  const names = { name, namespace, masters: `${name}-controlplane`, nodes: `${name}-workers` };
  const isLab = setup.infrastructure === 'Lab';
  return [
    ...pullSecrets(namespace, setup),
    cluster(names, setup),
    isLab ? labCluster(namespace, name) : metal3Cluster(namespace, name, setup),
    controlPlane(names, setup),
    ...templatesOf(names, names.masters, isLab),
    ...(hasWorkers ? [...templatesOf(names, names.nodes, isLab), ...workers(names, setup)] : []),
  ];
}

const templatesOf = ({ namespace, name }: Names, template: string, isLab: boolean): readonly KubeObject[] =>
  isLab
    ? [labMachineTemplate(namespace, template)]
    : [machineTemplate(namespace, template), dataTemplate(namespace, template, name)];

/** Of the host with this number; more than 255 hosts have different ones, too. */
const macAddress = (number: number): string => {
  const digits = number.toString(16).padStart(6, '0');
  return `00:60:2f:${digits.slice(0, 2)}:${digits.slice(2, 4)}:${digits.slice(4)}`;
};

/** Hosts that nobody uses yet, with a name, a MAC address and a BMC each. */
export const hostManifests = (count: number, namespace = 'test-capi'): readonly KubeObject[] =>
  Array.from({ length: count }, (_, at) =>
    object({
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: { name: `host-${at + 1}`, namespace },
      spec: {
        online: false,
        bootMACAddress: macAddress(at + 1),
        bmc: { address: `redfish://192.168.111.1/host-${at + 1}`, credentialsName: `host-${at + 1}-bmc` },
      },
    }),
  );

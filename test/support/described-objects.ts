import type { KubeObject, OwnerReference } from '../../src/api/object.ts';

/** The moment at which clusters of tests are described. */
export const AT = new Date('2026-05-04T12:00:00Z');
const NAMESPACE = 'acme';
export const NAME = 'acme-lab';

type Fields = Readonly<Record<string, unknown>>;

/** A time so many minutes before. */
export const ago = (minutes: number): string =>
  `${new Date(AT.getTime() - minutes * 60_000).toISOString().slice(0, 19)}Z`;

/** An object as a server has it. */
export function object(apiVersion: string, kind: string, name: string, fields: Fields = {}): KubeObject {
  const { metadata, ...rest } = fields;
  return {
    apiVersion,
    kind,
    ...rest,
    metadata: {
      name,
      namespace: NAMESPACE,
      uid: `${kind}-${name}`,
      creationTimestamp: ago(14),
      ...(metadata as Partial<KubeObject['metadata']>),
    },
  };
}

export const condition = (type: string, status: string, minutes: number, more: Fields = {}) => ({
  type,
  status,
  reason: status === 'True' ? type : `Not${type}`,
  message: '',
  lastTransitionTime: ago(minutes),
  ...more,
});

const owner = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? '',
});

const CORE = 'cluster.x-k8s.io/v1beta2';
const METAL = 'infrastructure.cluster.x-k8s.io/v1beta2';
export const LABELS = { 'cluster.x-k8s.io/cluster-name': NAME };

export interface ClusterShape {
  readonly spec?: Fields;
  readonly status?: Fields;
  readonly metadata?: Fields;
}

/** A Cluster on bare metal, made by the Agent providers. */
export const cluster = ({ spec = {}, status = {}, metadata = {} }: ClusterShape = {}): KubeObject =>
  object(CORE, 'Cluster', NAME, {
    metadata,
    spec: {
      controlPlaneEndpoint: { host: '127.0.0.1', port: 41877 },
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'Metal3Cluster', name: NAME },
      controlPlaneRef: {
        apiGroup: 'controlplane.cluster.x-k8s.io',
        kind: 'OpenshiftAssistedControlPlane',
        name: NAME,
      },
      ...spec,
    },
    status: {
      initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
      phase: 'Provisioned',
      conditions: [condition('Available', 'True', 5)],
      ...status,
    },
  });

export const metal3Cluster = (status: Fields = {}): KubeObject =>
  object(METAL, 'Metal3Cluster', NAME, {
    spec: { controlPlaneEndpoint: { host: '127.0.0.1', port: 41877 } },
    status: { initialization: { provisioned: true }, conditions: [condition('Ready', 'True', 14)], ...status },
  });

export const controlPlane = (status: Fields = {}, metadata: Fields = {}): KubeObject =>
  object('controlplane.cluster.x-k8s.io/v1alpha3', 'OpenshiftAssistedControlPlane', NAME, {
    metadata,
    spec: {
      distributionVersion: '4.20.3',
      replicas: 3,
      config: { baseDomain: 'example.com', pullSecretRef: { name: 'pull-secret' } },
      machineTemplate: {
        infrastructureRef: {
          apiGroup: 'infrastructure.cluster.x-k8s.io',
          kind: 'Metal3MachineTemplate',
          name: 'cp',
        },
      },
    },
    status: {
      initialization: { controlPlaneInitialized: true },
      replicas: 3,
      readyReplicas: 3,
      distributionVersion: '4.20.3',
      conditions: [condition('Available', 'True', 6)],
      ...status,
    },
  });

export const install = (state: string, more: Fields = {}, spec: Fields = {}): KubeObject =>
  object('extensions.hive.openshift.io/v1beta1', 'AgentClusterInstall', NAME, {
    metadata: { labels: LABELS },
    spec: {
      clusterDeploymentRef: { name: NAME },
      imageSetRef: { name: NAME },
      provisionRequirements: { controlPlaneAgents: 3, workerAgents: 0 },
      networking: { networkType: 'OVNKubernetes' },
      ...spec,
    },
    status: {
      debugInfo: { state, stateInfo: '' },
      conditions: [condition('Completed', state === 'adding-hosts' ? 'True' : 'False', 6)],
      ...more,
    },
  });

export const clusterDeployment = (metadata: Fields = {}, spec: Fields = {}): KubeObject =>
  object('hive.openshift.io/v1', 'ClusterDeployment', NAME, {
    metadata: { labels: LABELS, ...metadata },
    spec: {
      clusterName: NAME,
      baseDomain: 'example.com',
      platform: { agentBareMetal: { agentSelector: {} } },
      installed: true,
      clusterInstallRef: {
        group: 'extensions.hive.openshift.io',
        version: 'v1beta1',
        kind: 'AgentClusterInstall',
        name: NAME,
      },
      ...spec,
    },
  });

export const deployment = (replicas: number, available: number, more: Fields = {}): KubeObject =>
  object(CORE, 'MachineDeployment', 'workers', {
    metadata: { labels: LABELS },
    spec: { clusterName: NAME, replicas, selector: {}, template: { spec: MACHINE_SPEC }, ...more },
    status: { replicas, availableReplicas: available, conditions: [condition('Available', 'True', 2)] },
  });

const MACHINE_SPEC = {
  clusterName: NAME,
  bootstrap: {
    configRef: {
      apiGroup: 'bootstrap.cluster.x-k8s.io',
      kind: 'OpenshiftAssistedConfigTemplate',
      name: 'workers',
    },
  },
  infrastructureRef: {
    apiGroup: 'infrastructure.cluster.x-k8s.io',
    kind: 'Metal3MachineTemplate',
    name: 'workers',
  },
};

/** One Machine and what it is made of. Anything can be left out or changed. */
export interface MachineShape {
  readonly isMaster?: boolean;
  readonly minutes?: number;
  readonly phase?: string;
  /** Of the Machine. */
  readonly status?: Fields;
  readonly metadata?: Fields;
  readonly hasNode?: boolean;
  readonly config?: Fields | 'missing';
  readonly infraEnv?: Fields | 'none';
  readonly agent?: Fields | 'none';
  readonly infrastructure?: Fields | 'missing';
  readonly host?: Fields | 'none';
  readonly hostName?: string;
  readonly secret?: 'none';
}

/** What is made for a Machine that runs; `shape` says what is different. */
export function machineObjects(name: string, shape: MachineShape = {}): readonly KubeObject[] {
  const machine = machineObject(name, shape);
  return [
    machine,
    ...configObjects(name, shape, machine),
    ...infraEnvObjects(name, shape),
    ...agentObjects(name, shape),
    ...hostObjects(name, shape),
  ];
}

const RUNNING = { minutes: 6, phase: 'Running', status: {}, metadata: {}, hasNode: true, isMaster: false };

function machineObject(name: string, shape: MachineShape): KubeObject {
  const { isMaster, minutes, phase, status, metadata, hasNode } = { ...RUNNING, ...shape };
  const role = isMaster
    ? { 'cluster.x-k8s.io/control-plane': '' }
    : { 'cluster.x-k8s.io/deployment-name': 'workers', 'cluster.x-k8s.io/set-name': 'workers-x7k2p' };
  return object(CORE, 'Machine', name, {
    metadata: { labels: { ...LABELS, ...role }, creationTimestamp: ago(minutes), ...metadata },
    spec: {
      clusterName: NAME,
      bootstrap: {
        configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'OpenshiftAssistedConfig', name },
        ...(shape.config === undefined && { dataSecretName: name }),
      },
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'Metal3Machine', name },
    },
    status: {
      phase,
      ...(hasNode && { nodeRef: { name } }),
      conditions: [
        condition('Available', hasNode ? 'True' : 'False', minutes),
        condition('Ready', 'True', minutes),
      ],
      ...status,
    },
  });
}

function configObjects(name: string, { config, minutes = 6, secret }: MachineShape, machine: KubeObject) {
  if (config === 'missing') return [];
  const status = {
    initialization: { dataSecretCreated: true },
    dataSecretName: name,
    conditions: [condition('Ready', 'True', minutes), condition('DataSecretAvailable', 'True', minutes)],
  };
  const own = object('bootstrap.cluster.x-k8s.io/v1alpha2', 'OpenshiftAssistedConfig', name, {
    metadata: { labels: LABELS, ownerReferences: [owner(machine)] },
    spec: {},
    status: config ?? status,
  });
  const data = object('v1', 'Secret', name, {
    metadata: { labels: LABELS, creationTimestamp: ago(minutes) },
    type: 'cluster.x-k8s.io/secret',
    data: { value: 'Y2FuYXJ5LXNlY3JldA==' },
  });
  return config === undefined && secret === undefined ? [own, data] : [own];
}

function infraEnvObjects(name: string, { infraEnv = {}, minutes = 6 }: MachineShape): readonly KubeObject[] {
  if (infraEnv === 'none') return [];
  return [
    object('agent-install.openshift.io/v1beta1', 'InfraEnv', name, {
      metadata: { labels: { ...LABELS, 'bootstrap.cluster.x-k8s.io/openshiftAssistedConfig': name } },
      spec: { clusterRef: { name: NAME, namespace: NAMESPACE }, pullSecretRef: { name: 'pull-secret' } },
      status: { conditions: [condition('ImageCreated', 'True', minutes)], ...infraEnv },
    }),
  ];
}

function agentObjects(name: string, { agent = {}, minutes = 6, isMaster }: MachineShape): readonly KubeObject[] {
  if (agent === 'none') return [];
  const { spec = {}, metadata = {}, ...status } = agent;
  return [
    object('agent-install.openshift.io/v1beta1', 'Agent', `agent-${name}`, {
      metadata: { labels: { 'infraenvs.agent-install.openshift.io': name }, ...(metadata as Fields) },
      spec: {
        approved: true,
        role: isMaster === true ? 'master' : 'worker',
        clusterDeploymentName: { name: NAME, namespace: NAMESPACE },
        ...(spec as Fields),
      },
      status: {
        debugInfo: { state: 'added-to-existing-cluster', stateInfo: 'Done' },
        conditions: [condition('Installed', 'True', minutes)],
        ...status,
      },
    }),
  ];
}

const hostObjects = (name: string, shape: MachineShape): readonly KubeObject[] => {
  const { infrastructure, host = {}, hostName = `host-${name}`, minutes = 6 } = shape;
  return [
    ...(infrastructure === 'missing' ? [] : [infrastructureObject(name, shape, hostName)]),
    ...(host === 'none' ? [] : [hostObject(name, hostName, host, minutes)]),
  ];
};

function infrastructureObject(
  name: string,
  { infrastructure, host, minutes = 6 }: MachineShape,
  hostName: string,
) {
  const done = { initialization: { provisioned: true }, conditions: [condition('Ready', 'True', minutes)] };
  return object(METAL, 'Metal3Machine', name, {
    metadata: {
      annotations: host === 'none' ? {} : { 'metal3.io/BareMetalHost': `${NAMESPACE}/${hostName}` },
    },
    spec: {},
    status: infrastructure ?? done,
  });
}

function hostObject(name: string, hostName: string, given: Fields, minutes: number): KubeObject {
  const { spec = {}, provisioning, ...status } = given;
  return object('metal3.io/v1alpha1', 'BareMetalHost', hostName, {
    spec: {
      online: true,
      bmc: { address: 'redfish://10.0.0.7', credentialsName: `bmc-${hostName}` },
      consumerRef: { kind: 'Metal3Machine', name, namespace: NAMESPACE },
      ...(spec as Fields),
    },
    status: {
      provisioning: { ID: `id-${hostName}`, state: 'provisioned', ...(provisioning as Fields) },
      poweredOn: true,
      operationalStatus: 'OK',
      errorMessage: '',
      lastUpdated: ago(minutes),
      ...status,
    },
  });
}

/** A Node of the cluster itself. */
export const node = (name: string, ready = 'True', more: Fields = {}): KubeObject =>
  object('v1', 'Node', name, {
    metadata: { namespace: undefined },
    ...more,
    status: {
      conditions: [
        condition(
          'Ready',
          ready,
          5,
          ready === 'True' ? {} : { reason: 'KubeletNotReady', message: 'the network is not ready' },
        ),
      ],
    },
  });

import type { Node } from '../../src/api/generated/core-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterFacts, NodeFacts } from '../../src/app/describe/facts.ts';
import type { Listing } from '../../src/app/describe/hub.ts';
import { groupKindOf, kindText } from '../../src/app/describe/known-kinds.ts';
import {
  AT,
  ago,
  cluster,
  clusterDeployment,
  condition,
  controlPlane,
  deployment,
  install,
  LABELS,
  machineObjects,
  metal3Cluster,
  NAME,
  node,
  object,
} from './described-objects.ts';

/** A cluster in some state, as the objects that a management cluster has of it. */
export interface DescribedCluster {
  readonly objects: readonly KubeObject[];
  /** Undefined: its control plane is not there. */
  readonly nodes?: readonly KubeObject[];
}

const MASTERS = ['cp-0', 'cp-1', 'cp-2'];
const masters = () => MASTERS.flatMap((name) => machineObjects(name, { isMaster: true }));

/** Everything is there. */
export const healthy = (): DescribedCluster => ({
  objects: [
    cluster(),
    metal3Cluster(),
    controlPlane(),
    clusterDeployment(),
    install('adding-hosts'),
    deployment(2, 2),
    ...masters(),
    ...machineObjects('w-0', { minutes: 5 }),
    ...machineObjects('w-1', { minutes: 5 }),
  ],
  nodes: [...MASTERS, 'w-0', 'w-1'].map((name) => node(name)),
});

/** The example of experience 5.4: the BMC of the host of a new worker refuses its credentials. */
export const hostRefused = (): DescribedCluster => {
  const good = healthy();
  return {
    ...good,
    objects: [
      ...good.objects.filter(({ kind }) => kind !== 'Cluster' && kind !== 'MachineDeployment'),
      cluster({
        status: {
          conditions: [condition('Available', 'False', 2, { message: '* WorkersAvailable: 1 not available' })],
        },
      }),
      deployment(3, 2),
      ...machineObjects('w-2', {
        minutes: 2,
        phase: 'Provisioning',
        hasNode: false,
        agent: 'none',
        infrastructure: { conditions: [condition('Ready', 'False', 2, { reason: 'WaitingForNode' })] },
        hostName: 'rack1-07',
        host: {
          provisioning: { state: 'provisioning' },
          poweredOn: false,
          operationalStatus: 'error',
          errorType: 'power management error',
          errorMessage: 'BMC answered 401',
          lastUpdated: ago(1),
        },
      }),
    ],
  };
};

const installing = (stage: string, percent: number) => ({
  debugInfo: { state: 'installing-in-progress', stateInfo: stage },
  progress: { currentStage: stage, installationPercentage: percent, stageStartTime: ago(1) },
  conditions: [condition('Installed', 'False', 3)],
});

const NOT_UP = {
  initialization: { infrastructureProvisioned: true },
  conditions: [condition('Available', 'False', 10), condition('ControlPlaneInitialized', 'False', 10)],
};

/** Three hosts of the control plane are being installed, a worker is held until that is over. */
export const duringInstallation = (): DescribedCluster => {
  const at = (stage: string, percent: number) => ({
    isMaster: true,
    phase: 'Provisioned',
    hasNode: false,
    agent: installing(stage, percent),
  });
  return {
    objects: [
      cluster({ status: NOT_UP }),
      metal3Cluster(),
      controlPlane({
        initialization: undefined,
        readyReplicas: 0,
        conditions: [
          condition('Available', 'False', 6, {
            reason: 'ControlPlaneInstalling',
            message: 'Controlplane installing, status: installing',
          }),
          condition('KubeconfigAvailable', 'False', 6, { reason: 'KubeconfigUnavailable' }),
          condition('MachinesCreated', 'True', 6),
        ],
      }),
      clusterDeployment({}, { installed: false }),
      install('installing', { progress: { totalPercentage: 41 } }),
      deployment(1, 0),
      ...machineObjects('cp-0', at('Writing image to disk', 58)),
      ...machineObjects('cp-1', at('Writing image to disk', 58)),
      ...machineObjects('cp-2', at('Waiting for bootkube', 33)),
      ...heldWorker('w-0'),
    ],
  };
};

/** A worker that came while an installation is in progress. */
const heldWorker = (name: string) =>
  machineObjects(name, {
    minutes: 4,
    phase: 'Pending',
    hasNode: false,
    config: {
      conditions: [
        condition('Ready', 'False', 4, { reason: 'WaitingForInstallComplete' }),
        condition('DataSecretAvailable', 'False', 4, {
          reason: 'WaitingForInstallComplete',
          message: 'the installation of the cluster is in progress (installing)',
        }),
      ],
    },
    infraEnv: 'none',
    agent: 'none',
    infrastructure: { conditions: [condition('Ready', 'False', 4, { reason: 'WaitingForBootstrapReady' })] },
    host: 'none',
  });

/** Somebody has stopped everything before the first Machine was made. */
const pausedCluster = (): DescribedCluster => ({
  objects: [
    cluster({
      spec: { paused: true },
      status: { ...NOT_UP, conditions: [...NOT_UP.conditions, condition('Paused', 'True', 3)] },
    }),
    metal3Cluster(),
    controlPlane({ initialization: undefined, readyReplicas: 0, conditions: [condition('Paused', 'True', 3)] }),
    install('insufficient', {
      conditions: [
        condition('Validated', 'False', 9, {
          reason: 'ValidationsFailing',
          message: 'There are not enough hosts',
        }),
      ],
    }),
  ],
});

/** Half taken apart; the Machine that is left waits for its host to be cleaned. */
const deletedCluster = (): DescribedCluster => {
  const leaving = (minutes: number, finalizers: readonly string[]) => ({
    deletionTimestamp: ago(minutes),
    finalizers,
  });
  return {
    objects: [
      cluster({ metadata: leaving(4, ['cluster.cluster.x-k8s.io']) }),
      metal3Cluster(),
      controlPlane(
        {
          conditions: [
            condition('Deleting', 'True', 4, {
              reason: 'WaitingForMachineDeletion',
              message: 'Machines that are not gone yet: cp-0',
            }),
          ],
        },
        leaving(4, ['openshiftassistedcontrolplane.controlplane.cluster.x-k8s.io/deprovision']),
      ),
      clusterDeployment(),
      install('adding-hosts'),
      ...machineObjects('cp-0', {
        isMaster: true,
        phase: 'Deleting',
        metadata: {
          labels: { ...LABELS, 'cluster.x-k8s.io/control-plane': '' },
          ...leaving(4, ['machine.cluster.x-k8s.io']),
        },
        status: { phase: 'Deleting', conditions: [] },
        host: { provisioning: { state: 'deprovisioning' }, poweredOn: false, lastUpdated: ago(3) },
      }),
    ],
  };
};

/** References that lead nowhere: the infrastructure, a config, and a machine of the infrastructure. */
export const brokenReferences = (): DescribedCluster => ({
  objects: [
    cluster({ status: { ...NOT_UP, initialization: undefined } }),
    controlPlane({ initialization: undefined, readyReplicas: 0, conditions: [] }),
    install('insufficient', { conditions: [] }),
    ...machineObjects('cp-0', {
      isMaster: true,
      phase: 'Pending',
      hasNode: false,
      config: 'missing',
      infraEnv: 'none',
      agent: 'none',
      infrastructure: 'missing',
      host: 'none',
    }),
  ],
});

const DOCKER = 'infrastructure.cluster.x-k8s.io/v1beta1';

/** Kinds that this program has no words for, in the spelling of the contract before this one. */
function kubeadmOnDocker(): DescribedCluster {
  const ref = (part: string, kind: string, name: string) => ({ apiGroup: `${part}.cluster.x-k8s.io`, kind, name });
  const machine = (name: string, isMaster: boolean, phase: string) => [
    object('cluster.x-k8s.io/v1beta2', 'Machine', name, {
      metadata: {
        labels: {
          ...LABELS,
          ...(isMaster
            ? { 'cluster.x-k8s.io/control-plane': '' }
            : { 'cluster.x-k8s.io/deployment-name': 'workers' }),
        },
      },
      spec: {
        clusterName: NAME,
        bootstrap: {
          configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfig', name },
          dataSecretName: name,
        },
        infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'DockerMachine', name },
      },
      status: {
        phase,
        ...(phase === 'Running' && { nodeRef: { name } }),
        conditions: [condition('Available', phase === 'Running' ? 'True' : 'False', 5)],
      },
    }),
    object('bootstrap.cluster.x-k8s.io/v1beta1', 'KubeadmConfig', name, {
      spec: {},
      status: {
        ready: true,
        dataSecretName: name,
        conditions: [{ ...condition('Ready', 'True', 5), reason: '' }],
      },
    }),
    object('v1', 'Secret', name, { metadata: { labels: LABELS }, data: { value: 'eA==' } }),
    object(DOCKER, 'DockerMachine', name, {
      spec: {},
      status:
        phase === 'Running'
          ? { ready: true, conditions: [condition('Ready', 'True', 5)] }
          : {
              conditions: [
                condition('Ready', 'False', 3, {
                  severity: 'Warning',
                  reason: 'ContainerProvisioningFailed',
                  message: 'the image kindest/node:v1.33.1 cannot be pulled',
                }),
              ],
            },
    }),
  ];
  return {
    objects: [
      cluster({
        spec: {
          infrastructureRef: ref('infrastructure', 'DockerCluster', NAME),
          controlPlaneRef: ref('controlplane', 'KubeadmControlPlane', `${NAME}-cp`),
        },
      }),
      object(DOCKER, 'DockerCluster', NAME, {
        spec: {},
        status: { ready: true, conditions: [condition('Ready', 'True', 9)] },
      }),
      object('controlplane.cluster.x-k8s.io/v1beta1', 'KubeadmControlPlane', `${NAME}-cp`, {
        spec: { replicas: 1, version: 'v1.33.1' },
        status: {
          initialized: true,
          ready: true,
          readyReplicas: 1,
          version: 'v1.33.1',
          conditions: [condition('Available', 'True', 7)],
        },
      }),
      deployment(1, 0),
      ...machine('kcp-0', true, 'Running'),
      ...machine('md-0', false, 'Provisioning'),
    ],
  };
}

export const SCENES: Readonly<Record<string, () => DescribedCluster>> = {
  healthy,
  'host-refused': hostRefused,
  installing: duringInstallation,
  paused: pausedCluster,
  deleting: deletedCluster,
  'broken-references': brokenReferences,
  'kubeadm-on-docker': kubeadmOnDocker,
};

/** What would have been read of a cluster, without a server. */
export function factsOf({ objects, nodes }: DescribedCluster): ClusterFacts {
  const groups = Map.groupBy(objects, (one) => kindText(groupKindOf(one)));
  const listings = new Map<string, Listing>(
    [...groups].map(([kind, found]) => [kind, { objects: found, isServed: true }]),
  );
  for (const kind of READ_ANYWAY) if (!listings.has(kind)) listings.set(kind, { objects: [], isServed: true });
  const [found] = objects.filter(({ kind }) => kind === 'Cluster');
  const read: NodeFacts =
    nodes === undefined ? { type: 'none' } : { type: 'read', nodes: nodes as unknown as readonly Node[] };
  return { at: AT, cluster: found ?? cluster(), listings, nodes: read };
}

const READ_ANYWAY = [
  'Machine.cluster.x-k8s.io',
  'MachineDeployment.cluster.x-k8s.io',
  'Metal3Cluster.infrastructure.cluster.x-k8s.io',
  'Metal3Machine.infrastructure.cluster.x-k8s.io',
  'OpenshiftAssistedConfig.bootstrap.cluster.x-k8s.io',
  'OpenshiftAssistedControlPlane.controlplane.cluster.x-k8s.io',
  'AgentClusterInstall.extensions.hive.openshift.io',
  'InfraEnv.agent-install.openshift.io',
  'Agent.agent-install.openshift.io',
  'BareMetalHost.metal3.io',
  'Secret.',
];

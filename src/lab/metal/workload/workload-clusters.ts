import type { ObjectKey } from '../../../api/object.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { VersionOfImage } from './cluster-version-controller.ts';

/** A machine as a node of the cluster that was installed on it. */
export interface WorkloadNode {
  /** What the node is called in its cluster, and what a cloud controller manager looks for: its hostname. */
  readonly name: string;
  readonly role: 'control-plane' | 'worker';
  /** Besides those of its role. */
  readonly labels: Readonly<Record<string, string>>;
  /** What the kubelet was told with `--provider-id`. */
  readonly providerId?: string;
  /** The machine: `BootedHost.id`; of an instance of the cloud, the `hardwareId` of its identifier. */
  readonly hostId: string;
  readonly architecture: string;
}

/** What an installed cluster is to be. */
export interface WorkloadWish {
  /** Of OpenShift, such as 4.20.1. */
  readonly version: string;
  /** What it was installed from; one that nobody can pull unless given. */
  readonly releaseImage?: string;
  readonly platform: 'None' | 'BareMetal' | 'External';
  readonly platformName?: string;
  /** Nodes wait for a cloud controller manager: they register with the uninitialized taint. */
  readonly hasExternalCloudProvider: boolean;
  /** One control-plane node: no taint keeps pods away from it. */
  readonly isSingleNode?: boolean;
  readonly baseDomain: string;
  readonly clusterName: string;
  readonly infraId: string;
}

/** A cluster that was installed: an API server of its own, and nodes. */
export interface WorkloadCluster {
  readonly key: ObjectKey;
  /** Of an administrator, as text: it works for whoever has it. */
  readonly kubeconfig: string;
  /** Of an administrator; reads ask the server. */
  readonly client: KubeClient;
  /** The node registers and gets ready. The same node again changes nothing. */
  join(node: WorkloadNode): Promise<void>;
  /** The machine is off for good. Its Node object stays for whoever removes it. Succeeds for unknown ones. */
  leave(hostId: string): Promise<void>;
  /** ClusterVersion says that the installation is completed, and updates may begin (S24). Again, it changes nothing. */
  installCompleted(): Promise<void>;
}

/** The clusters that were installed on machines of the lab, by the key of their ClusterDeployment. */
export interface WorkloadClusters {
  /** Started when it is not there yet, with a ClusterVersion that is being installed (S24). */
  ensure(key: ObjectKey, wish: WorkloadWish): Promise<WorkloadCluster>;
  find(key: ObjectKey): WorkloadCluster | undefined;
  /** The one whose API server this kubeconfig names. */
  byKubeconfig(kubeconfig: string): WorkloadCluster | undefined;
  /** For controllers that are given the kubeconfig of a Secret. Rejects when there is no such server, or it is away. */
  connect(kubeconfig: string): Promise<KubeClient>;
  /** Its API server ends and its data is gone. Succeeds for unknown ones. */
  remove(key: ObjectKey): Promise<void>;
  /** Updates to images are to the version that this finds, until disposed; that of their tag otherwise (S25). */
  useReleases(versionOfImage: VersionOfImage): Disposable;
  /** A machine was wiped: whatever cluster it was in loses it. */
  leave(hostId: string): Promise<void>;
}

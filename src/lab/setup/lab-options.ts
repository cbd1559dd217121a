import type { NetworkMode } from '../address/address-plan.ts';
import type { ClockMode } from '../clock/lab-clock.ts';
import type { ImageCatalogue } from '../node/runtime/image-catalogue.ts';
import type { Isolation } from '../process/process-host.ts';

/** Parts of Kubernetes that the lab stands in for; each can be left to the real program (A4). */
export const STAND_INS = [
  'deployment',
  'replicaset',
  'daemonset',
  'job',
  'scheduler',
  'endpoints',
  'disruption',
  'nodeLifecycle',
  'accounts',
  'csrSigner',
  'proxy',
  'node',
] as const;
export type StandInName = (typeof STAND_INS)[number];

/** One cluster: an API server of the lab with some nodes, or an API server that runs elsewhere. */
export interface ClusterSetup {
  readonly name: string;
  /** Workers without a name for their role; `w-1`, `w-2` … 0 unless told otherwise. */
  readonly nodes?: number;
  /** Nodes with the control-plane role and taint: `cp-1` … */
  readonly controlPlane?: number;
  /** Nodes with the worker role: `w-1` … */
  readonly workers?: number;
  /** `external`: nodes wait for a cloud controller manager to initialise them (N2). */
  readonly cloudProvider?: 'external';
  /** What each node has; 4 processors, 16 GiB and room for 110 pods unless told otherwise. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** File of an administrator of an API server that runs already; the lab starts none then. */
  readonly kubeconfig?: string;
}

export interface CloudSetup {
  readonly zones?: readonly string[];
  /** How long reads may lag behind writes (C7). */
  readonly consistencyMs?: number;
  readonly quotas?: Readonly<Record<string, number>>;
}

export interface MetalSetup {
  /** How long an update of an installed cluster takes, in lab time; 10 min unless told otherwise. */
  readonly updateMs?: number;
}

/** What a lab consists of and how it behaves; the same as YAML with `slipway up --scenario` (B4). */
export interface LabOptions {
  /** One cluster `lab` with so many nodes: the short form of `clusters`. */
  readonly nodes?: number;
  readonly clusters?: readonly ClusterSetup[];
  readonly cloud?: boolean | CloudSetup;
  /**
   * Clusters can be installed on machines while the lab runs. Each has addresses for 254 Services then, as if there were
   * several from the start: say so at the first start of a lab that keeps its data.
   */
  readonly metal?: boolean | MetalSetup;
  /** Programs that stand for images: containers of these run as processes (N11). */
  readonly images?: ImageCatalogue;
  /** Images whose `run` is called in this process, on the clock of the lab, instead of a process being started (P12). */
  readonly inProcess?: readonly string[];
  /** Containers of other images: simulated (the default), or refused like an image that cannot be pulled (N12). */
  readonly unknownImages?: 'simulate' | 'fail';
  readonly isolation?: 'auto' | Isolation;
  readonly network?: 'auto' | NetworkMode;
  /**
   * L of all addresses `10.L.a.b`, 16–250; any that is free unless told otherwise. For a cluster that somebody else runs
   * with `10.L.96.0/19` as its range for services, so that its ClusterIPs are reachable.
   */
  readonly octet?: number;
  /** `real` unless told otherwise. */
  readonly clock?: ClockMode;
  /** Same seed, same names, identifiers and accidents. */
  readonly seed?: number;
  readonly replace?: Readonly<Partial<Record<StandInName, 'off'>>>;
  /** Where everything is kept, and found again at the next start; a temporary directory unless told otherwise. */
  readonly data?: string;
  /** Longest wait before a crashing container is started again (N13); 5 min unless told otherwise. */
  readonly crashLoopMaxMs?: number;
  /** No container gets more real time than this to end (T6); what its pod says unless told otherwise. */
  readonly maxGraceMs?: number;
  /** Live processes at most (P12); 64 unless told otherwise. */
  readonly maxChildren?: number;
}

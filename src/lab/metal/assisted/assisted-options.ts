import type { InstalledHosts } from '../host/installed-hosts.ts';
import type { WorkloadClusters } from '../workload/workload-clusters.ts';
import type { AssistedFaults } from './assisted-faults.ts';
import type { ServiceAddress } from './service-urls.ts';

/** What is known of a release image. */
export interface ReleaseFacts {
  /** Of OpenShift, such as 4.20.1. */
  readonly version: string;
  readonly kubernetesVersion?: string;
}

/** Undefined when nobody has the image. Rejects when nobody can tell now. */
export type ReleaseOfImage = (image: string) => Promise<ReleaseFacts | undefined>;

export interface AssistedOptions {
  /** What is written into URLs of InfraEnvs: where `assistedRest` is served. */
  readonly address: ServiceAddress;
  readonly clusters: WorkloadClusters;
  readonly hosts: InstalledHosts;
  readonly versionOfImage: ReleaseOfImage;
  /** Multiplies all delays: 1 for minutes as on real machines, 0.02 for seconds. 1 unless told otherwise. */
  readonly pace?: number;
  readonly faults?: AssistedFaults;
  /** Without it InfraEnvs have no ISO, but still ignition. True unless told otherwise. */
  readonly hasImageService?: boolean;
}

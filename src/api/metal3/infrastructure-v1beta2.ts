import type {
  ApiEndpoint,
  DeprecatedStatus,
  FailureDomain,
  MachineAddress,
  TemplateMeta,
} from '../cluster-api/core-v1beta2.ts';
import type { Condition, Kind, KubeObject } from '../object.ts';
import type { HostImage, SecretReference } from './metal3-v1alpha1.ts';

/**
 * The part of `infrastructure.cluster.x-k8s.io/v1beta2` of Metal3 that we read and write; what a type does not name is
 * kept. Fields marked *v1beta1* have that name, or exist, only there: a real API server converts them, a lab keeps them
 * as they were written.
 */

export const INFRASTRUCTURE_GROUP = 'infrastructure.cluster.x-k8s.io';
/** On Metal3Machines: `<namespace>/<name>` of the host. */
export const HOST_ANNOTATION = 'metal3.io/BareMetalHost';
export const METAL3_MACHINE_FINALIZER = 'metal3machine.infrastructure.cluster.x-k8s.io';
/** On Nodes: the uid of the host. */
export const HOST_UUID_LABEL = 'metal3.io/uuid';

export interface Metal3Cluster extends KubeObject {
  readonly spec?: {
    readonly controlPlaneEndpoint?: ApiEndpoint;
    readonly cloudProviderEnabled?: boolean;
    /** *v1beta1*. */
    readonly noCloudProvider?: boolean;
  };
  readonly status?: {
    /** *v1beta1*. */
    readonly ready?: boolean;
    readonly initialization?: { readonly provisioned?: boolean };
    readonly failureDomains?: readonly FailureDomain[];
    readonly conditions?: readonly Condition[];
    readonly deprecated?: DeprecatedStatus;
  };
}

/** What the topology of a Cluster makes Metal3Clusters from. */
export interface Metal3ClusterTemplate extends KubeObject {
  readonly spec: {
    readonly template: { readonly metadata?: TemplateMeta; readonly spec: NonNullable<Metal3Cluster['spec']> };
  };
}

export interface MachineImage {
  readonly url?: string;
  readonly checksum?: string;
  readonly checksumType?: 'md5' | 'sha256' | 'sha512';
  readonly diskFormat?: NonNullable<HostImage['format']>;
  /** *v1beta1*, there for `diskFormat`. */
  readonly format?: NonNullable<HostImage['format']>;
}

/** The format of an image, whichever version its author wrote. */
export const diskFormatOf = ({ diskFormat, format }: MachineImage): HostImage['format'] => diskFormat ?? format;

export interface Metal3MachineSpec {
  readonly providerID?: string;
  readonly image?: MachineImage;
  readonly customDeploy?: { readonly method: string };
  readonly userData?: SecretReference;
  readonly dataTemplate?: { readonly name?: string; readonly namespace?: string };
  readonly hostSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly automatedCleaningMode?: 'metadata' | 'disabled';
  readonly failureDomain?: string;
}

export interface Metal3Machine extends KubeObject {
  readonly spec?: Metal3MachineSpec;
  readonly status?: {
    /** *v1beta1*. */
    readonly ready?: boolean;
    readonly initialization?: { readonly provisioned?: boolean };
    readonly userData?: SecretReference;
    readonly addresses?: readonly MachineAddress[];
    /** *v1beta1*. */
    readonly phase?: string;
    readonly conditions?: readonly Condition[];
    readonly deprecated?: DeprecatedStatus;
  };
}

export interface Metal3MachineTemplate extends KubeObject {
  readonly spec: {
    readonly nodeReuse?: boolean;
    readonly template: { readonly metadata?: TemplateMeta; readonly spec: Metal3MachineSpec };
  };
}

/** What hosts read from their config drive; the lab takes what it needs of it. */
export interface Metal3DataTemplate extends KubeObject {
  readonly spec?: {
    readonly clusterName?: string;
    readonly metaData?: Readonly<Record<string, unknown>>;
    readonly networkData?: Readonly<Record<string, unknown>>;
  };
}

const infrastructureKind = <T extends KubeObject>(kind: string, plural: string): Kind<T> => ({
  group: INFRASTRUCTURE_GROUP,
  version: 'v1beta2',
  kind,
  plural,
  scope: 'Namespaced',
});

export const Metal3Cluster = infrastructureKind<Metal3Cluster>('Metal3Cluster', 'metal3clusters');
export const Metal3ClusterTemplate = infrastructureKind<Metal3ClusterTemplate>(
  'Metal3ClusterTemplate',
  'metal3clustertemplates',
);
export const Metal3Machine = infrastructureKind<Metal3Machine>('Metal3Machine', 'metal3machines');
export const Metal3MachineTemplate = infrastructureKind<Metal3MachineTemplate>(
  'Metal3MachineTemplate',
  'metal3machinetemplates',
);
export const Metal3DataTemplate = infrastructureKind<Metal3DataTemplate>(
  'Metal3DataTemplate',
  'metal3datatemplates',
);

import type { Kind, KubeObject } from '../object.ts';

/** The part of `metal3.io/v1alpha1` that we read and write; what a type does not name is kept (DESIGN §5). */

const METAL3_GROUP = 'metal3.io';

export interface HostImage {
  readonly url: string;
  readonly checksum?: string;
  readonly checksumType?: string;
  readonly format?: 'raw' | 'qcow2' | 'vdi' | 'vmdk' | 'live-iso';
}

export interface SecretReference {
  readonly name?: string;
  readonly namespace?: string;
}

export interface BareMetalHost extends KubeObject {
  readonly spec?: {
    readonly online: boolean;
    readonly bootMACAddress?: string;
    readonly bmc?: { readonly address: string; readonly credentialsName: string };
    readonly image?: HostImage;
    readonly userData?: SecretReference;
    readonly metaData?: SecretReference;
    readonly networkData?: SecretReference;
    readonly customDeploy?: { readonly method: string };
    readonly consumerRef?: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly name?: string;
      readonly namespace?: string;
    };
    readonly automatedCleaningMode?: 'metadata' | 'disabled';
    readonly hardwareProfile?: string;
  };
  readonly status?: {
    readonly provisioning?: { readonly state?: string; readonly ID?: string; readonly image?: HostImage };
    readonly poweredOn?: boolean;
    readonly hardware?: {
      readonly hostname?: string;
      readonly nics?: readonly { readonly name?: string; readonly mac?: string; readonly ip?: string }[];
      readonly systemVendor?: {
        readonly manufacturer?: string;
        readonly productName?: string;
        readonly serialNumber?: string;
      };
      readonly cpu?: { readonly arch?: string; readonly count?: number };
      readonly ramMebibytes?: number;
    };
    readonly errorMessage?: string;
    readonly errorType?: string;
    readonly operationalStatus?: string;
  };
}

export const BareMetalHost: Kind<BareMetalHost> = {
  group: METAL3_GROUP,
  version: 'v1alpha1',
  kind: 'BareMetalHost',
  plural: 'baremetalhosts',
  scope: 'Namespaced',
};

import type { KindName } from '../resources/resource-record.ts';

export interface InstanceFields {
  readonly type: string;
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly gpus: number;
  readonly zone: string;
  readonly imageId?: string | undefined;
  readonly networkId: string;
  readonly sshKeys?: readonly string[] | undefined;
  readonly placement?: { readonly group?: string | undefined } | undefined;
  readonly privateAddress: string;
  readonly publicAddress: string;
  readonly hostname: string;
  readonly providerID: string;
  readonly mac: string;
}

export const INSTANCES: KindName<InstanceFields> = { plural: 'instances' };

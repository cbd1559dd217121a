import type { CloudProviderDefinition } from '../definition.ts';
import { ALIBABACLOUD } from './alibabacloud.ts';
import { AWS } from './aws/definition.ts';
import { AZURE } from './azure/definition.ts';
import { AZURE_STACK } from './azurestack/definition.ts';
import { GCP } from './gcp/definition.ts';
import { IBM } from './ibm/definition.ts';
import { KUBEVIRT } from './kubevirt.ts';
import { NUTANIX } from './nutanix/definition.ts';
import { OPENSTACK } from './openstack/definition.ts';
import { POWERVS } from './powervs/definition.ts';
import { VSPHERE } from './vsphere/definition.ts';

/** Everything that OpenShift can be installed on with a cloud controller manager of its own (R98). */
export const PLATFORMS: readonly CloudProviderDefinition[] = [
  AWS,
  AZURE,
  AZURE_STACK,
  GCP,
  IBM,
  POWERVS,
  OPENSTACK,
  VSPHERE,
  NUTANIX,
  ALIBABACLOUD,
  KUBEVIRT,
];

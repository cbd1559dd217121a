import type { PlatformStatus } from '../../../api/openshift/config-v1.ts';
import type { CloudProviderDefinition } from '../../definition.ts';
import { azureStackCloudConfig } from '../../transform/azure-stack.ts';
import { AZURE_CREDENTIALS } from '../azure/credentials.ts';

const DEPLOYMENT = 'Deployment/azure-cloud-controller-manager';

/** Azure in one's own data centre: the same programs and names, other settings, and no bootstrap pod. */
export const AZURE_STACK: CloudProviderDefinition = {
  id: 'azurestack',
  match: { type: 'Azure', when: ({ azure }: PlatformStatus) => azure?.cloudName === 'AzureStackCloud' },
  images: {
    cloudControllerManagerAzure: {
      field: 'CloudControllerManager',
      payloadTag: 'azure-cloud-controller-manager',
      isPublished: true,
    },
    // Another field than that of Azure: error messages name it (R20).
    cloudControllerManagerOperator: {
      field: 'Operator',
      payloadTag: 'cluster-cloud-controller-manager-operator',
      isPublished: true,
    },
    cloudNodeManagerAzure: {
      field: 'CloudNodeManager',
      payloadTag: 'azure-cloud-node-manager',
      isPublished: true,
    },
  },
  assets: {
    folder: new URL('./assets/', import.meta.url),
    files: ['deployment.yaml', 'node-manager.yaml', 'role.yaml', 'role-binding.yaml'],
  },
  requiredValues: ['infrastructureName', 'cloudproviderName'],
  cloudConfig: {
    sources: ['managed', 'user'],
    transform: azureStackCloudConfig,
    // Both programs mount it, and no pod starts without a key that it mounts.
    requiredKeys: ['endpoints'],
  },
  credentials: [AZURE_CREDENTIALS],
  lint: {
    ignore: [
      {
        rule: 'CCM-W03',
        object: DEPLOYMENT,
        reason: 'The init container requests nothing today; a request would restart the pods on take-over.',
      },
      {
        rule: 'CCM-W03',
        object: 'DaemonSet/azure-cloud-node-manager',
        reason: 'The init container requests nothing today; a request would restart the pods on take-over.',
      },
      {
        rule: 'CCM-W33',
        object: DEPLOYMENT,
        reason: 'Runs without a port today; opening it would restart the pods on take-over.',
      },
    ],
  },
};

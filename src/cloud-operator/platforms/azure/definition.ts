import type { PlatformStatus } from '../../../api/openshift/config-v1.ts';
import type { CloudProviderDefinition } from '../../definition.ts';
import { azureCloudConfig } from '../../transform/azure.ts';
import { AZURE_CREDENTIALS } from './credentials.ts';

const DEPLOYMENT = 'Deployment/azure-cloud-controller-manager';
const NODE_MANAGER = 'DaemonSet/azure-cloud-node-manager';

/** Every cloud of Azure but Azure Stack Hub, which has a definition of its own. */
export const AZURE: CloudProviderDefinition = {
  id: 'azure',
  match: { type: 'Azure', when: ({ azure }: PlatformStatus) => azure?.cloudName !== 'AzureStackCloud' },
  images: {
    cloudControllerManagerAzure: {
      field: 'CloudControllerManager',
      payloadTag: 'azure-cloud-controller-manager',
      isPublished: true,
    },
    cloudControllerManagerOperator: {
      field: 'CloudControllerManagerOperator',
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
    files: [
      'deployment.yaml',
      'node-manager.yaml',
      'role.yaml',
      'role-binding.yaml',
      'cluster-role.yaml',
      'cluster-role-binding.yaml',
      'node-policy.yaml',
      'node-policy-binding.yaml',
      'idle-timeout-policy-binding.yaml',
      'idle-timeout-policy.yaml',
    ],
  },
  bootstrapAssets: { folder: new URL('./bootstrap/', import.meta.url), files: ['pod.yaml'] },
  requiredValues: ['infrastructureName', 'cloudproviderName'],
  cloudConfig: { sources: ['managed', 'user'], transform: azureCloudConfig },
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
        object: NODE_MANAGER,
        reason: 'The init container requests nothing today; a request would restart the pods on take-over.',
      },
      {
        rule: 'CCM-W20',
        object: NODE_MANAGER,
        reason:
          'Its /etc/kubernetes is the merged folder, into which the init container copies apiserver-url.env.',
      },
      {
        rule: 'CCM-W33',
        object: DEPLOYMENT,
        reason: 'Runs without a port today; opening it would restart the pods on take-over.',
      },
    ],
  },
};

import type { CloudProviderDefinition } from '../../definition.ts';
import { awsCloudConfig } from '../../transform/aws.ts';

/** No credentials: the program acts with the role of the machine on which it runs. */
export const AWS: CloudProviderDefinition = {
  id: 'aws',
  match: { type: 'AWS' },
  images: {
    cloudControllerManagerAWS: {
      field: 'CloudControllerManager',
      payloadTag: 'aws-cloud-controller-manager',
      isPublished: true,
    },
  },
  assets: {
    folder: new URL('./assets/', import.meta.url),
    files: ['deployment.yaml', 'load-balancer-type-policy.yaml', 'load-balancer-type-policy-binding.yaml'],
  },
  bootstrapAssets: { folder: new URL('./bootstrap/', import.meta.url), files: ['pod.yaml'] },
  requiredValues: ['cloudproviderName'],
  cloudConfig: { sources: ['managed', 'user'], transform: awsCloudConfig },
  lint: {
    ignore: [
      {
        rule: 'CCM-W33',
        object: 'Deployment/aws-cloud-controller-manager',
        reason: 'Runs without a port today; opening it would restart the pods on take-over.',
      },
    ],
  },
};

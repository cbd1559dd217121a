import type { CloudProviderDefinition } from '../../definition.ts';
import { NETWORK_POLICIES } from './access-policies.ts';

/** Platform IBMCloud. Its folder and Deployment are called `ibm`, what every provider has is called `ibmcloud`. */
export const IBM: CloudProviderDefinition = {
  id: 'ibm',
  match: { type: 'IBMCloud' },
  images: {
    cloudControllerManagerIBM: {
      field: 'CloudControllerManager',
      payloadTag: 'ibm-cloud-controller-manager',
      isPublished: true,
    },
  },
  assets: { folder: new URL('./assets/', import.meta.url), files: ['deployment.yaml'] },
  // Machines of this platform are inside the network, where the private endpoints are.
  values: () => ({ enablePublicEndpoint: 'false' }),
  requiredValues: ['enablePublicEndpoint', 'cloudproviderName'],
  cloudConfig: { sources: ['user'] },
  credentials: [
    {
      name: 'openshift-ibm-cloud-controller-manager',
      secretName: 'ibm-cloud-credentials',
      providerSpec: {
        apiVersion: 'cloudcredential.openshift.io/v1',
        kind: 'IBMCloudProviderSpec',
        policies: NETWORK_POLICIES,
      },
    },
  ],
};

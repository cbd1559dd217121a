import type { CloudProviderDefinition } from '../../definition.ts';
import { NETWORK_POLICIES, POWER_POLICY } from '../ibm/access-policies.ts';

export const POWERVS: CloudProviderDefinition = {
  id: 'powervs',
  match: { type: 'PowerVS' },
  images: {
    cloudControllerManagerPowerVS: {
      field: 'CloudControllerManager',
      payloadTag: 'powervs-cloud-controller-manager',
      isPublished: true,
    },
  },
  assets: { folder: new URL('./assets/', import.meta.url), files: ['deployment.yaml'] },
  requiredValues: ['cloudproviderName'],
  cloudConfig: { sources: ['user'] },
  credentials: [
    {
      name: 'openshift-powervs-cloud-controller-manager',
      secretName: 'ibm-cloud-credentials',
      providerSpec: {
        apiVersion: 'cloudcredential.openshift.io/v1',
        kind: 'IBMCloudPowerVSProviderSpec',
        policies: [...NETWORK_POLICIES, POWER_POLICY],
      },
    },
  ],
};

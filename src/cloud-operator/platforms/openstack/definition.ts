import type { CloudProviderDefinition } from '../../definition.ts';
import { openStackCloudConfig } from '../../transform/openstack.ts';

const DEPLOYMENT = 'Deployment/openstack-cloud-controller-manager';

export const OPENSTACK: CloudProviderDefinition = {
  id: 'openstack',
  match: { type: 'OpenStack' },
  images: {
    cloudControllerManagerOpenStack: {
      field: 'CloudControllerManager',
      payloadTag: 'openstack-cloud-controller-manager',
      isPublished: true,
    },
  },
  assets: { folder: new URL('./assets/', import.meta.url), files: ['deployment.yaml'] },
  requiredValues: ['infrastructureName', 'cloudproviderName'],
  cloudConfig: { sources: ['user'], transform: openStackCloudConfig },
  credentials: [
    {
      name: 'openshift-openstack-cloud-controller-manager',
      secretName: 'openstack-cloud-credentials',
      providerSpec: { apiVersion: 'cloudcredential.openshift.io/v1', kind: 'OpenStackProviderSpec' },
    },
  ],
  lint: {
    ignore: [
      {
        rule: 'CCM-W10',
        object: DEPLOYMENT,
        reason: 'Runs without them today; adding them would restart the pods on take-over.',
      },
      {
        rule: 'CCM-W13',
        object: DEPLOYMENT,
        reason: 'Named so by what runs today; the API server makes both names the same.',
      },
      {
        rule: 'CCM-W33',
        object: DEPLOYMENT,
        reason: 'Runs without a port today; opening it would restart the pods on take-over.',
      },
    ],
  },
};

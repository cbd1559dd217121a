import type { CloudProviderDefinition, RenderContext } from '../../definition.ts';

const SECRET = 'nutanix-credentials';

export const NUTANIX: CloudProviderDefinition = {
  id: 'nutanix',
  match: { type: 'Nutanix' },
  images: {
    cloudControllerManagerNutanix: {
      field: 'CloudControllerManager',
      payloadTag: 'nutanix-cloud-controller-manager',
      isPublished: true,
    },
  },
  assets: {
    folder: new URL('./assets/', import.meta.url),
    files: ['deployment.yaml', 'role.yaml', 'role-binding.yaml', 'cluster-role.yaml', 'cluster-role-binding.yaml'],
  },
  values: ({ managedNamespace }: RenderContext) => ({
    globalCredsSecretNamespace: managedNamespace,
    globalCredsSecretName: SECRET,
  }),
  requiredValues: [
    'infrastructureName',
    'globalCredsSecretNamespace',
    'globalCredsSecretName',
    'cloudproviderName',
  ],
  cloudConfig: { sources: ['user'] },
  credentials: [
    {
      name: 'openshift-nutanix-cloud-controller-manager',
      secretName: SECRET,
      providerSpec: { apiVersion: 'cloudcredential.openshift.io/v1', kind: 'NutanixProviderSpec' },
    },
  ],
  lint: {
    ignore: [
      {
        rule: 'CCM-W33',
        object: 'Deployment/nutanix-cloud-controller-manager',
        reason: 'Runs without a port today; opening it would restart the pods on take-over.',
      },
    ],
  },
};

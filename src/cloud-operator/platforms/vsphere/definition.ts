import type { FeatureGates } from '../../config/feature-gates.ts';
import type { CloudProviderDefinition, RenderContext } from '../../definition.ts';
import { vSphereCloudConfig } from '../../transform/vsphere.ts';

const SECRET = 'vsphere-cloud-credentials';

export const VSPHERE: CloudProviderDefinition = {
  id: 'vsphere',
  match: { type: 'VSphere' },
  images: {
    cloudControllerManagerVSphere: {
      field: 'CloudControllerManager',
      payloadTag: 'vsphere-cloud-controller-manager',
      isPublished: true,
    },
  },
  assets: {
    folder: new URL('./assets/', import.meta.url),
    files: [
      'deployment.yaml',
      'role.yaml',
      'role-binding.yaml',
      'role-binding-common.yaml',
      'cluster-role.yaml',
      'cluster-role-binding.yaml',
      'cluster-role-binding-common.yaml',
    ],
  },
  values: ({ managedNamespace, gates }: RenderContext) => ({
    globalCredsSecretNamespace: managedNamespace,
    globalCredsSecretName: SECRET,
    // Nodes that are no machines of vSphere may join; the label says which ones are (R22).
    additionalLabels: gates.isEnabled('VSphereMixedNodeEnv') ? 'node.openshift.io/platform-type=vsphere' : '',
  }),
  requiredValues: [
    'infrastructureName',
    'globalCredsSecretNamespace',
    'globalCredsSecretName',
    'cloudproviderName',
  ],
  cloudConfig: {
    sources: ['user'],
    transform: vSphereCloudConfig,
    // Enough for the transformation, which takes the vCenters from the infrastructure object.
    minimal: (gates) => (vCentersMayChange(gates) ? 'global: {}\nvcenter: {}\n' : undefined),
    publishManaged: vCentersMayChange,
  },
  credentials: [
    {
      name: 'openshift-vsphere-cloud-controller-manager',
      secretName: SECRET,
      providerSpec: { apiVersion: 'cloudcredential.openshift.io/v1', kind: 'VSphereProviderSpec' },
    },
  ],
  lint: {
    ignore: [
      {
        rule: 'CCM-W33',
        object: 'Deployment/vsphere-cloud-controller-manager',
        reason: 'Runs without a port today; opening it would restart the pods on take-over.',
      },
    ],
  },
};

/** After the installation: then the operator is the one who keeps the configuration of the whole cluster (R67). */
function vCentersMayChange(gates: FeatureGates): boolean {
  return gates.isEnabled('VSphereMultiVCenterDay2');
}

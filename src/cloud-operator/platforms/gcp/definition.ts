import type { CloudProviderDefinition } from '../../definition.ts';

export const GCP: CloudProviderDefinition = {
  id: 'gcp',
  match: { type: 'GCP' },
  images: {
    cloudControllerManagerGCP: {
      field: 'CloudControllerManager',
      payloadTag: 'gcp-cloud-controller-manager',
      isPublished: true,
    },
  },
  assets: {
    folder: new URL('./assets/', import.meta.url),
    files: [
      'deployment.yaml',
      'cluster-role.yaml',
      'cluster-role-binding.yaml',
      'network-tier-policy-binding.yaml',
      'network-tier-policy.yaml',
    ],
  },
  requiredValues: ['infrastructureName', 'cloudproviderName'],
  cloudConfig: { sources: ['user'] },
  credentials: [
    {
      name: 'openshift-gcp-ccm',
      secretName: 'gcp-ccm-cloud-credentials',
      serviceAccountNames: ['cloud-controller-manager'],
      providerSpec: {
        apiVersion: 'cloudcredential.openshift.io/v1',
        kind: 'GCPProviderSpec',
        permissions: permissions({
          addresses: 'create createInternal delete deleteInternal get list use useInternal',
          firewalls: 'create delete get update',
          forwardingRules: 'create delete get',
          healthChecks: 'create delete get update useReadOnly',
          httpHealthChecks: 'create delete get update useReadOnly',
          instanceGroups: 'create delete get list update use',
          instances: 'get list use',
          networks: 'updatePolicy',
          regionBackendServices: 'create delete get update use',
          subnetworks: 'use',
          targetPools: 'addInstance create delete get removeInstance use',
          zones: 'list',
        }),
        // Asked for whether or not their services are enabled yet.
        skipServiceCheck: true,
      },
    },
  ],
  lint: {
    ignore: [
      {
        rule: 'CCM-W33',
        object: 'Deployment/gcp-cloud-controller-manager',
        reason: 'Runs without a port today; opening it would restart the pods on take-over.',
      },
    ],
  },
};

/** What is asked of the credentials operator is one list of `compute.<resource>.<verb>`. */
function permissions(verbs: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(verbs).flatMap(([resource, names]) =>
    names.split(' ').map((name) => `compute.${resource}.${name}`),
  );
}

import type { Pod } from '../../api/generated/core-v1.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { CREDENTIALS_SECRET, hasCloudConfig } from './deployment.ts';
import { type InstallOptions, installNames } from './install-options.ts';
import { CLOUD_CONFIG_FILE, commonFlags, containerOf, hostFolder } from './pod.ts';

const SECRETS = '/etc/kubernetes/secrets';
const CONFIGS = '/etc/kubernetes/configs';

/**
 * A pod for the bootstrap machine (O17): it initialises the control plane and goes away with the machine. Nothing in it
 * refers to an object, because the kubelet of that machine starts it without an API server: credentials are files in a
 * folder of the machine, named after the Secret that they are from (ADR 16). By default the Deployment does this, since it tolerates what it removes (O18).
 */
export function bootstrapPod(definition: ProviderDefinition, options: InstallOptions): Pod {
  const { name, labels } = installNames(definition);
  const mounts = [
    hostFolder('secrets', '/etc/kubernetes/bootstrap-secrets', SECRETS),
    hostFolder('configs', '/etc/kubernetes/bootstrap-configs', CONFIGS),
  ];
  const flags = [
    ...commonFlags(definition, options),
    '--controllers=cloud-node',
    '--leader-elect=false',
    '--use-service-account-credentials=false',
    `--kubeconfig=${SECRETS}/kubeconfig`,
    ...(hasCloudConfig(options) ? [`--cloud-config=${CONFIGS}/${CLOUD_CONFIG_FILE}`] : []),
    ...(definition.secrets.length === 0 ? [] : [`--credentials-dir=${SECRETS}/${CREDENTIALS_SECRET}`]),
  ];
  const container = containerOf({ options, flags, env: [], mounts });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system', labels },
    spec: {
      priorityClassName: 'system-node-critical',
      hostNetwork: true,
      dnsPolicy: 'Default',
      // Of the machine, whose secrets are for root only.
      securityContext: { runAsUser: 0 },
      tolerations: [{ operator: 'Exists' }],
      containers: [container],
      volumes: mounts.map(({ volume }) => volume),
    },
  };
}

// `spec.config` of an OpenshiftAssistedControlPlane, which both versions have.
import * as z from 'zod';
import { diskEncryption, localReference, proxySettings } from '../assisted/shapes.schema.ts';

const addresses = (of: string) =>
  z.array(z.string()).max(2).optional().describe(`Virtual addresses of ${of}: one, or one of each IP family.`);

export const controlPlaneConfig = () =>
  z.object({
    apiVIPs: addresses('the API; with those of the ingress the platform is BareMetal'),
    ingressVIPs: addresses('the ingress; with those of the API the platform is BareMetal'),
    manifestsConfigMapRefs: z
      .array(z.object({ name: z.string().describe('Name of the ConfigMap.') }))
      .optional()
      .describe('ConfigMaps with manifests that the installation applies.'),
    diskEncryption: diskEncryption().optional().describe('Encryption of the disks that nodes are installed on.'),
    proxy: proxySettings().optional().describe('The way of the cluster to the internet.'),
    mastersSchedulable: z.boolean().optional().describe('Nodes of the control plane take workloads, too.'),
    sshAuthorizedKey: z
      .string()
      .optional()
      .describe('Public key that may log in to the nodes after the installation.'),
    clusterName: z
      .string()
      .optional()
      .describe('Name of the OpenShift cluster; that of the Cluster when missing.'),
    baseDomain: z.string().describe('DNS domain below which the cluster has its names.'),
    pullSecretRef: localReference()
      .optional()
      .describe('Secret with the pull secret; without it a placeholder is used.'),
    imageRegistryRef: localReference()
      .optional()
      .describe('ConfigMap with `registries.conf` and certificates of mirror registries.'),
    capabilities: z
      .object({
        baselineCapability: z.string().describe('`None`, `vCurrent` or `v4.x`: the capabilities to begin with.'),
        additionalEnabledCapabilities: z.array(z.string()).describe('Capabilities besides those.'),
      })
      .partial()
      .optional()
      .describe('Optional parts of OpenShift.'),
  });

/** What both versions say about counts in `kubectl get`. */
export const SCALE = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};

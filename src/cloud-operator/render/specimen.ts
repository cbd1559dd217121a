import { featureGates } from '../config/feature-gates.ts';
import type { CloudProviderDefinition, RenderContext } from '../definition.ts';
import { MANAGED_NAMESPACE } from '../definition.ts';

/** What stands for an image until a release is made; nobody can own a host below `invalid`. */
export const placeholderImage = (payloadTag: string): string => `payload.invalid/openshift/${payloadTag}`;

/**
 * A cluster in which everything that a provider may ask for is there, to see what its manifests are without having one: for the
 * rules of the operator, for tables and for checks.
 */
export function specimenContext({ match, images }: CloudProviderDefinition): RenderContext {
  const platformName = match.type === 'External' ? (match.platformName ?? 'specimen') : match.type;
  return {
    infra: {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Infrastructure',
      metadata: { name: 'cluster' },
      spec: {
        cloudConfig: { name: 'cloud-provider-config', key: 'config' },
        platformSpec: { type: match.type, external: { platformName } },
      },
      status: {
        infrastructureName: 'specimen-x7k2p',
        platformStatus: { type: match.type, external: { cloudControllerManager: { state: 'External' } } },
        controlPlaneTopology: 'HighlyAvailable',
      },
    },
    platformType: match.type,
    platformName,
    managedNamespace: MANAGED_NAMESPACE,
    singleReplica: false,
    images: new Map(Object.entries(images).map(([key, { payloadTag }]) => [key, placeholderImage(payloadTag)])),
    gates: featureGates([]),
    ccmFeatureGates: '',
    tls: { minVersion: 'VersionTLS12', cipherSuites: 'TLS_AES_128_GCM_SHA256' },
  };
}

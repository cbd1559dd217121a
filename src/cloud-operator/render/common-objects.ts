import type { Service } from '../../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { CloudProviderDefinition, RenderContext } from '../definition.ts';

/** On pods of a cloud controller manager; its value says of which platform. */
const PLATFORM_LABEL = 'infrastructure.openshift.io/cloud-controller-manager';
/** Where cloud controller managers of OpenShift serve, as the registry of host ports has it. */
const SECURE_PORT = 10258;

/**
 * What the platform is called on labels and in templates, as `cloudproviderName`. All clouds that are not built in are the
 * platform `External`, so these go by their id.
 */
export const cloudNameOf = (
  { id, match }: CloudProviderDefinition,
  { platformType }: Pick<RenderContext, 'platformType'>,
): string => (match.type === 'External' ? id : platformType);

/** What every cloud controller manager gets besides its own objects, in this order (section 4.2 of the specification). */
export function commonObjects(definition: CloudProviderDefinition, context: RenderContext): readonly KubeObject[] {
  const cloud = cloudNameOf(definition, context);
  const metadata = {
    name: `${cloud.toLowerCase()}-cloud-controller-manager`,
    namespace: context.managedNamespace,
  };
  const selector = { [PLATFORM_LABEL]: cloud };
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, labels: { 'k8s-app': metadata.name } },
    spec: {
      type: 'ClusterIP',
      ports: [{ name: 'https', port: SECURE_PORT }],
      selector,
      sessionAffinity: 'None',
    },
  };
  // One replica could never be evicted.
  return context.singleReplica ? [service] : [budget(metadata, { ...selector }), service];
}

const budget = (
  metadata: { readonly name: string; readonly namespace: string },
  matchLabels: Readonly<Record<string, string>>,
): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata,
  spec: { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels } },
});

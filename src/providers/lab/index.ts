import { defineProvider } from '../../sdk/provider/define-provider.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { PROVIDER_ID } from './instance-choice.ts';
import { instances } from './instances.ts';
import { clusterKey, LabClient } from './lab-client.ts';
import { LAB_SECRETS, labConfig } from './lab-config.ts';
import { loadBalancers } from './load-balancers.ts';
import { metadata } from './metadata.ts';
import { routes } from './routes.ts';
import { zones } from './zones.ts';

/** The cloud of the lab, over its HTTP API: what any other provider looks like, too. */
export const labProvider: ProviderDefinition<LabClient> = defineProvider<LabClient>({
  name: 'lab',
  displayName: 'Slipway lab',
  architectures: ['amd64', 'arm64'],
  providerID: {
    scheme: 'lab',
    format: '{zone}/{id}',
    pattern: PROVIDER_ID,
    example: 'lab://a/i-0123456789ab',
  },
  tags: { clusterKey, maxKey: 128, maxValue: 256 },
  ingress: { strategy: 'LoadBalancerService' },
  secrets: Object.values(LAB_SECRETS),
  connect(context) {
    const config = labConfig(context);
    const client = new LabClient({ config, clock: context.clock });
    return { client, clusterId: config.clusterId, close: async () => client.close() };
  },
  capabilities: { instances, zones, loadBalancers, routes, metadata },
});

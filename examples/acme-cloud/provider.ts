import { type Call, type Capabilities, defineProvider } from 'slipway/sdk';
import { AcmeCloudClient } from './src/client.ts';
import { instances } from './src/instances.ts';
import { loadBalancers } from './src/load-balancers.ts';
import { SCHEME } from './src/provider-id.ts';
import { readSettings } from './src/settings.ts';
import { zones } from './src/zones.ts';

const capabilities: Capabilities<Call<AcmeCloudClient>> = {
  instances,
  zones,
  loadBalancers,
  metadata: {
    declare: () => ({
      addresses: ['169.254.169.254'],
      paths: { instanceId: '/v1/instance/id', zone: '/v1/instance/zone', hostname: '/v1/instance/hostname' },
    }),
  },
};

export default defineProvider<AcmeCloudClient>({
  name: 'acme-cloud',
  displayName: 'Acme Cloud',
  architectures: ['amd64', 'arm64'],
  providerID: {
    scheme: SCHEME,
    format: '{zone}/{id}',
    pattern: new RegExp(`^${SCHEME}://[a-z0-9-]+/i-[0-9a-f]{12}$`),
    example: `${SCHEME}://a/i-0123456789ab`,
  },
  ccm: { external: true, controllers: ['cloud-node', 'cloud-node-lifecycle', 'service'] },
  secrets: ['ACME_CLOUD_CLIENT_ID', 'ACME_CLOUD_CLIENT_SECRET'],
  connect: (context) => {
    const settings = readSettings(context);
    return { client: new AcmeCloudClient(settings, context.clock), clusterId: settings.clusterId };
  },
  capabilities,
});

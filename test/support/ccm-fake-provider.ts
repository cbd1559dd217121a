import type { InstanceObservation, InstanceRef } from '../../src/sdk/capabilities/instances.ts';
import type { Backend, BalancerOutcome, BalancerRef } from '../../src/sdk/capabilities/load-balancers.ts';
import type { CloudRoute } from '../../src/sdk/capabilities/routes.ts';
import { defineProvider } from '../../src/sdk/provider/define-provider.ts';
import { ProviderError } from '../../src/sdk/provider/provider-error.ts';
import type { AskedBalancer, FoundBalancer } from './ccm-cloud.ts';

/** Asks a SharedCloud, in the same words as the oracle `cloud-provider` does. */
class CloudClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async ask<Answer>(method: string, question: object, signal: AbortSignal): Promise<Answer> {
    const body = JSON.stringify(question);
    const response = await fetch(`${this.#url}/${method}`, { method: 'POST', body, signal });
    const text = await response.text();
    // The text is what the cloud says, and all of it: events show it.
    if (!response.ok) throw new ProviderError('unavailable', text);
    return JSON.parse(text);
  }
}

const machineOf = ({ nodeName, providerID }: InstanceRef | Backend) => ({ nodeName, providerID });

const asked = ({ name, service }: BalancerRef, backends: readonly Backend[]): AskedBalancer => ({
  name,
  service: `${service.namespace}/${service.name}`,
  backends: backends.map(({ nodeName, providerID }) => ({
    nodeName,
    ...(providerID !== undefined && { providerID }),
  })),
});

/** The cloud that tests keep in their own process, as a provider of ours. `--cloud-config`: `{ "url": … }`. */
// oxlint-disable-next-line import/no-default-export -- where a definition is looked for
export default defineProvider({
  name: 'fake',
  displayName: 'Fake',
  architectures: ['amd64'],
  providerID: { scheme: 'fake', format: '{id}', pattern: /^fake:\/\/.+$/, example: 'fake://one' },
  connect: ({ config = '{}' }) => {
    const { url }: { readonly url: string } = JSON.parse(config);
    return { client: new CloudClient(url), clusterId: 'differential' };
  },
  capabilities: {
    instances: {
      declare: () => ({}),
      describe: (ref, { client, signal }) =>
        client.ask<InstanceObservation>('instances.describe', machineOf(ref), signal),
      describeMany: async (refs, { client, signal }) => {
        const nodeNames = refs.map(({ nodeName }) => nodeName);
        return new Map(
          Object.entries(
            await client.ask<Readonly<Record<string, InstanceObservation>>>(
              'instances.describeMany',
              { nodeNames },
              signal,
            ),
          ),
        );
      },
    },
    loadBalancers: {
      declare: () => ({
        protocols: ['TCP', 'UDP'],
        healthChecks: ['tcp'],
        sourceRanges: true,
        preservesClientAddress: false,
        sessionAffinity: true,
        scopes: ['public'],
      }),
      find: async ({ name }, { client, signal }) => {
        const { exists, ingress = [] } = await client.ask<FoundBalancer>('loadBalancers.find', { name }, signal);
        return exists ? ingress : undefined;
      },
      ensure: (plan, { client, signal }) => {
        const ports = plan.ports.map(({ name, protocol, port, nodePort }) => ({ name, protocol, port, nodePort }));
        return client.ask<BalancerOutcome>(
          'loadBalancers.ensure',
          { ...asked(plan, plan.backends), ports },
          signal,
        );
      },
      setBackends: (ref, backends, { client, signal }) =>
        client.ask<'updated' | 'gone'>('loadBalancers.setBackends', asked(ref, backends), signal),
      remove: async ({ name }, { client, signal }) => {
        await client.ask('loadBalancers.remove', { name }, signal);
      },
    },
    routes: {
      declare: () => ({ tracksNodeAddresses: false }),
      list: (_query, { client, signal }) => client.ask<readonly CloudRoute[]>('routes.list', {}, signal),
      create: async ({ targetNode, destinationCIDR }, { nameHint }, { client, signal }) => {
        await client.ask('routes.create', { targetNode, destinationCIDR, nameHint }, signal);
      },
      remove: async ({ name }, _query, { client, signal }) => {
        await client.ask('routes.remove', { name }, signal);
      },
    },
  },
});

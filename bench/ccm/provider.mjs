// The cloud of the benchmark as a provider of ours: always well, in this process, and as slow as it is told to be. It knows
// the same and nothing else as the one in oracles/cloud-provider; machines are described one by one there, so here too.
import { defineProvider } from 'slipway/sdk';

const INGRESS = [{ ip: '203.0.113.1' }];

const begin = ({ client, signal }) => client.wait(signal);

// oxlint-disable-next-line import/no-default-export -- where a definition is looked for
export default defineProvider({
  name: 'fake',
  displayName: 'Fake',
  architectures: ['amd64', 'arm64'],
  providerID: { scheme: 'fake', format: '{id}', pattern: /^fake:\/\/.+$/, example: 'fake://one' },
  connect: ({ config = '{}', clock }) => {
    const { delayMs = 0 } = JSON.parse(config);
    const wait = (signal) => (delayMs === 0 ? undefined : clock.sleep(delayMs, signal));
    return { client: { wait, balancers: new Set() }, clusterId: 'bench' };
  },
  capabilities: {
    instances: {
      declare: () => ({}),
      describe: async ({ nodeName }, call) => {
        await begin(call);
        return {
          state: 'present',
          power: 'on',
          providerID: `fake://${nodeName}`,
          instanceType: 'fake.large',
          zone: 'fake-1a',
          region: 'fake-1',
          addresses: [
            { type: 'InternalIP', address: '10.0.0.1' },
            { type: 'Hostname', address: nodeName },
          ],
        };
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
      find: async ({ name }, call) => {
        await begin(call);
        return call.client.balancers.has(name) ? INGRESS : undefined;
      },
      ensure: async ({ name }, call) => {
        await begin(call);
        call.client.balancers.add(name);
        return { kind: 'ready', ingress: INGRESS };
      },
      setBackends: async ({ name }, _backends, call) => {
        await begin(call);
        return call.client.balancers.has(name) ? 'updated' : 'gone';
      },
      remove: async ({ name }, call) => {
        await begin(call);
        call.client.balancers.delete(name);
      },
    },
  },
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SILENT_LOG } from '../../src/base/log.ts';
import { labProvider } from '../../src/providers/lab/index.ts';
import { runContract } from '../../src/sdk/conformance/contract.ts';
import { loadBalancersSuite } from '../../src/sdk/conformance/load-balancers-contract.ts';
import type { LoadBalancersSubject } from '../../src/sdk/conformance/planned-balancer.ts';
import { connectProvider } from '../../src/sdk/provider/connect-provider.ts';
import { type Lab, startLab } from '../../src/testing/index.ts';

/** What a partner writes for a cloud of its own: a provider, two machines, and how to look at the cloud. */
async function subjectIn(lab: Lab): Promise<LoadBalancersSubject> {
  const { clientId, clientSecret } = await lab.cloud.createCredential({ clientId: 'conformance' });
  const context = {
    config: JSON.stringify({ endpoint: lab.cloud.url, clusterId: 'c1', clientId, clientSecret }),
    secret: () => undefined,
    clock: lab.clock,
    log: SILENT_LOG,
    signal: new AbortController().signal,
  };
  const provider = await connectProvider(labProvider, { context, callTimeoutMs: 60_000 });
  const { token } = lab.cloud.issueToken('lab-admin');
  const machine = async (name: string) => {
    const body = JSON.stringify({ name, type: 'lab.small', zone: 'a', tags: provider.clusterTags });
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${lab.cloud.url}/v1/instances`, { method: 'POST', headers, body });
    const { providerID } = (await response.json()) as { readonly providerID: string };
    return { nodeName: name, providerID, addresses: [] };
  };
  const { state } = lab.cloud;
  return {
    provider,
    backends: [await machine('w-1'), await machine('w-2')],
    ports: [8080, 8443],
    wait: (ms) => lab.clock.advance(ms),
    settleMs: 60_000,
    count: async () => state.list({ plural: 'load-balancers' }).length,
    breakCloud: async () => lab.cloud.fault({ match: {}, effect: { status: 503 } }),
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

describe('the provider for the lab in a lab that was started', () => {
  it('keeps the promises of load balancers, and says what was skipped', async () => {
    await using lab = await startLab({ cloud: { consistencyMs: 2000 }, clock: 'auto', seed: 7 });
    const results = await runContract(loadBalancersSuite, { make: () => subjectIn(lab) });
    assert.deepEqual(
      results.filter(({ outcome }) => outcome === 'broken'),
      [],
    );
    const skipped = results.filter(({ outcome }) => outcome === 'skipped').map(({ id }) => id);
    assert.deepEqual(skipped, [
      'load-balancers/lost-answer-makes-no-second',
      'load-balancers/ensure-updates',
      'load-balancers/scope-is-obeyed',
      'load-balancers/carries-tags',
      'load-balancers/backends-are-replaced',
      'load-balancers/remove-cleans-up',
      'load-balancers/quota-is-named',
    ]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BalancedCluster, workerNode } from '../../../test/support/balanced-services.ts';
import { fakeProvider, startCloudController } from '../../../test/support/cloud-controllers.ts';
import { Event, Node } from '../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { isLeadershipLost } from '../../kube/client/api-error.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { TestEnv } from '../../testing/test-env.ts';
import { nodeRoute } from '../route/index.ts';
import { fencedProvider } from './fenced-provider.ts';

const ROUTE = { targetNode: 'n1', destinationCIDR: '10.128.0.0/24' };
const CIDR = '10.128.1.0/24';
const MINUTE_MS = 60_000;
const QUERY = { cluster: 'c', tags: {} };

describe('a provider behind the fence', () => {
  const call = { signal: new AbortController().signal, log: SILENT_LOG };
  const ref = { name: 'a1', ...QUERY, service: { namespace: 'default', name: 'web', uid: '1' }, annotations: {} };

  it('reliability/P31, runtime/E7: changes nothing while another process may lead, and may be asked', async () => {
    const cloud = new FakeCloud();
    const fence = { isValid: true };
    const { capabilities } = fencedProvider(fakeProvider(cloud), fence);
    const { routes, loadBalancers, instances } = capabilities;
    assert.ok(routes !== undefined && loadBalancers !== undefined && instances !== undefined);
    await routes.create(ROUTE, { ...QUERY, nameHint: 'n1' }, call);
    fence.isValid = false;
    const node = workerNode('n1');
    await instances.describe({ nodeName: 'n1', node }, call);
    await instances.describeMany?.([{ nodeName: 'n1', node }], call);
    await loadBalancers.find(ref, call);
    assert.equal((await routes.list(QUERY, call)).length, 1);
    const before = cloud.calls.length;
    for (const change of [
      () => routes.create(ROUTE, { ...QUERY, nameHint: 'n1' }, call),
      () => routes.remove(ROUTE, QUERY, call),
      () => loadBalancers.setBackends(ref, [], call),
      () => loadBalancers.remove(ref, call),
    ])
      await assert.rejects(change, (error) => isLeadershipLost(error));
    assert.equal(cloud.calls.length, before);
    fence.isValid = true;
    await loadBalancers.remove(ref, call);
    assert.equal(cloud.calls.length, before + 1);
  });

  it('reliability/P31, runtime/E7: backends that changed meanwhile are set when this process leads after all, and nobody is warned', async () => {
    const fence = { isValid: true };
    await using cluster = await BalancedCluster.start({
      nodes: ['n1'],
      capabilities: (cloud) => fencedProvider(fakeProvider(cloud), fence).capabilities,
    });
    await cluster.create('web');
    fence.isValid = false;
    await cluster.addNode('n2');
    await cluster.env.settle();
    assert.deepEqual(cluster.backendNames, ['n1']);
    fence.isValid = true;
    await cluster.env.advance(MINUTE_MS);
    assert.deepEqual(cluster.backendNames.toSorted(), ['n1', 'n2']);
    assert.deepEqual(
      (await cluster.events('web')).filter((line) => line.startsWith('Warning')),
      [],
    );
  });

  it('reliability/P31, runtime/E7: routes that were due meanwhile are made when this process leads after all', async () => {
    const fence = { isValid: false };
    const cloud = new FakeCloud();
    await using env = await TestEnv.start();
    await env.client.create(Node, workerNode('n1', { spec: { podCIDR: CIDR, podCIDRs: [CIDR] } }));
    const provider = fencedProvider(fakeProvider(cloud), fence);
    await startCloudController(env, nodeRoute, { provider, settings: { clusterCIDRs: ['10.128.0.0/14'] } });
    await env.advance(MINUTE_MS);
    assert.deepEqual(cloud.routes, []);
    fence.isValid = true;
    await env.advance(MINUTE_MS);
    assert.deepEqual(
      cloud.routes.map(({ destinationCIDR }) => destinationCIDR),
      [CIDR],
    );
    const { items } = await env.client.list(Event);
    assert.deepEqual(
      items.filter(({ type }) => type === 'Warning'),
      [],
    );
  });

  it('keeps the facts and the name of the provider', () => {
    const provider = fakeProvider(new FakeCloud());
    const fenced = fencedProvider(provider, { isValid: false });
    assert.equal(fenced.name, provider.name);
    assert.deepEqual(fenced.capabilities.routes?.declare(), provider.capabilities.routes?.declare());
  });
});

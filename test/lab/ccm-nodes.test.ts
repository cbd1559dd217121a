// The cloud controller manager as a pod that is a process, from the Deployment that `slipway render deploy` prints.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Node } from '../../src/api/generated/core-v1.ts';
import { Service, ServiceAccount } from '../../src/api/generated/core-v1.ts';
import { ClusterRoleBinding, RoleBinding } from '../../src/api/generated/rbac-v1.ts';
import { balancedService, CcmLab, hasTaint, type ProviderName, webPod } from '../support/ccm-lab.ts';
import { metricsOf } from '../support/ccm-metrics.ts';

const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const MACHINES = ['m-1', 'm-2', 'm-3'];
const KEY = { namespace: 'default', name: 'web' };

/** What the cloud has told of a node. */
const pictureOf = ({ metadata: { labels = {} }, spec, status }: Node) => ({
  providerID: spec?.providerID,
  zone: labels['topology.kubernetes.io/zone'],
  region: labels['topology.kubernetes.io/region'],
  type: labels['node.kubernetes.io/instance-type'],
  old: ['failure-domain.beta.kubernetes.io/zone', 'beta.kubernetes.io/instance-type'].map((name) => labels[name]),
  addresses: ['InternalIP', 'ExternalIP', 'InternalDNS'].map(
    (type) => status?.addresses?.find((address) => address.type === type)?.address,
  ),
});

/** The same, as the cloud has it. */
function expectedOf(world: CcmLab, provider: ProviderName, name: string): ReturnType<typeof pictureOf> {
  const { id, fields } = world.inCloud('instances').find((one) => one.name === name) ?? assert.fail(name);
  const { zone, type, privateAddress, publicAddress, hostname } = fields as Readonly<Record<string, string>>;
  return {
    providerID: `${provider}://${zone}/${id}`,
    zone,
    region: 'lab',
    type,
    old: [zone, type],
    addresses: [privateAddress, publicAddress, hostname],
  };
}

/** The first faster than outside, which takes one change of the Deployment; the second just as it was rendered. */
const CASES: readonly { readonly provider: ProviderName; readonly scaled?: number }[] = [
  { provider: 'lab', scaled: 4 },
  { provider: 'acme-cloud' },
];

for (const { provider, ...time } of CASES) {
  describe(`a cloud controller manager with provider ${provider} in a lab`, () => {
    let world: CcmLab;
    before(async () => {
      world = await CcmLab.start({ provider, ...time });
      await world.boot(MACHINES, { isHost: true });
    });
    after(() => world[Symbol.asyncDispose]());

    it('ccm/N3, ccm/N7, ccm/N9, ccm/N12, ccm/N13, ccm/O7, ccm/O8: initialises three machines, on two of which it runs itself', async () => {
      for (const name of MACHINES)
        assert.ok(hasTaint((await world.node(name)) ?? assert.fail(name), UNINITIALIZED));
      await world.deploy({ topology: 'ha' });
      await world.untilInitialised(...MACHINES);
      for (const name of MACHINES) {
        await world.untilEvent('Node', name, /^Normal Synced Node synced successfully$/);
        const node = (await world.node(name)) ?? assert.fail(`${name} is gone`);
        assert.deepEqual(pictureOf(node), expectedOf(world, provider, name));
        assert.ok(node.status?.addresses?.some(({ type }) => type === 'Hostname'));
      }
    });

    it('ccm/S13, ccm/S14, ccm/S9, ccm/S10: serves a request through a load balancer, and takes it away with the Service', async () => {
      await world.apply(webPod('web-1'), balancedService('web'));
      const url = await world.untilBalanced('web');
      await world.until('the load balancer answers', async () => (await answer(url)) === 'pod web-1');
      const service = await world.cluster.client.get(Service, KEY);
      assert.deepEqual(service.metadata.finalizers, [FINALIZER]);
      assert.equal(world.inCloud('load-balancers').length, 1);
      await world.untilEvent('Service', 'web', /^Normal EnsuredLoadBalancer Ensured load balancer$/);
      await world.cluster.client.delete(Service, KEY);
      await world.until(
        'the Service is gone',
        async () => (await world.cluster.client.find(Service, KEY)) === undefined,
      );
      assert.deepEqual(world.inCloud('load-balancers'), []);
      assert.equal(await answer(url), undefined);
    });

    it('ccm/O6, ccm/P14, ccm/B10: needs nothing but the roles that were rendered with it', async () => {
      const { namespace } = world;
      const user = `system:serviceaccount:${namespace}:cloud-controller-manager`;
      const written = world.lab.writes().filter((write) => write.user === user);
      assert.ok(
        written.some(({ path }) => path.endsWith('/nodes/m-1')),
        'it has written nodes',
      );
      assert.deepEqual(
        await bindingsOf(world),
        [namespace, `${namespace} ${namespace}`, `kube-system ${namespace}-authentication-reader`].toSorted(),
      );
      const requests = await metricsOf(world, 'rest_client_requests_total');
      assert.ok(
        requests.some(({ labels }) => labels['code'] === '200'),
        JSON.stringify(requests),
      );
      const refused = requests.filter(({ labels }) => /^40[13]$/.test(labels['code'] ?? ''));
      assert.deepEqual(refused, []);
      assert.doesNotMatch(await world.logs(), /forbidden|Permissions are missing/i);
    });
  });
}

/** Undefined when nobody answers. */
async function answer(url: string): Promise<string | undefined> {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(2000) })).text();
  } catch {
    return undefined;
  }
}

/** What gives the account of the program its rights: the name, behind its namespace if it has one. */
async function bindingsOf({ cluster: { client }, namespace }: CcmLab): Promise<readonly string[]> {
  const { metadata } = await client.get(ServiceAccount, { namespace, name: 'cloud-controller-manager' });
  const bindings = [...(await client.list(ClusterRoleBinding)).items, ...(await client.list(RoleBinding)).items];
  return bindings
    .filter(({ subjects = [] }) =>
      subjects.some(
        (one) => one.kind === 'ServiceAccount' && one.name === metadata.name && one.namespace === namespace,
      ),
    )
    .map((binding) => [binding.metadata.namespace ?? '', binding.metadata.name].join(' ').trim())
    .toSorted();
}

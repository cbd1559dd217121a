import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { Cluster, Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { isTrue } from '../../src/object/conditions.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import { AgentWorld, agentCrds } from '../support/agent-world.ts';
import { originals, withoutOriginals } from '../support/original-definitions.ts';

const PROJECTS = ['assisted-service', 'hive', 'metal3', 'cluster-api', 'openshift-assisted'];
const skip = PROJECTS.map(withoutOriginals).find((reason) => reason !== false) ?? false;

/** As their projects publish them; labels, which their installations add, are those of ours. One version has all there is. */
function originalCrds(): readonly JsonObject[] {
  const ours = new Map(agentCrds().map((crd) => [(crd['metadata'] as JsonObject)['name'], crd]));
  return PROJECTS.flatMap((project) =>
    [...originals(project).values()].map((crd) => {
      const own = ours.get(crd.metadata.name)?.['metadata'] as { readonly labels?: object } | undefined;
      const { conversion: _, ...spec } = crd.spec;
      const metadata = { ...crd.metadata, labels: { ...crd.metadata.labels, ...own?.labels } };
      return { ...crd, metadata, spec } as unknown as JsonObject;
    }),
  );
}

/** Nothing converts here: everything is written as it is stored, by the names of the newest version. */
function stored(object: KubeObject): KubeObject {
  if (object.apiVersion !== 'infrastructure.cluster.x-k8s.io/v1beta1') return object;
  const text = JSON.stringify({ ...object, apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2' })
    .replace('"noCloudProvider":true', '"cloudProviderEnabled":false')
    .replace('"format":"qcow2"', '"diskFormat":"qcow2"');
  return JSON.parse(text) as KubeObject;
}

const isOfProvider = (target: string): boolean => target.includes('fieldManager=agent-');

/** Who applies is told of every field that is not known; other writes are asked again, as strictly, and change nothing. */
async function refusedStrictly({ env }: AgentWorld): Promise<readonly string[]> {
  const transport = env.server.client();
  const writes = env.recorder.writes.filter(
    ({ method, target, body }) =>
      isOfProvider(target) && (method === 'POST' || (method === 'PATCH' && !body.includes('"apiVersion"'))),
  );
  assert.ok(writes.length > 0);
  const refused = writes.map(async ({ method, target, body }) => {
    const type = body.startsWith('[') ? 'application/json-patch+json' : 'application/merge-patch+json';
    const headers = { 'content-type': method === 'POST' ? 'application/json' : type };
    const strict = `${target}&dryRun=All&fieldValidation=Strict`;
    const answer = await transport({ method, target: strict, headers, body });
    const text = Buffer.from(await answer.bytes()).toString();
    return answer.status === 400 || answer.status === 422 ? [`${method} ${target}: ${text}`] : [];
  });
  return (await Promise.all(refused)).flat();
}

const KEY = { namespace: 'test-capi', name: 'test-multinode' };

const CASES = [
  { name: 'hosts that boot a disk', setup: {} },
  { name: 'hosts that boot a live ISO', setup: { bootMethod: 'live-iso' } },
  {
    name: 'platform External',
    setup: {
      vips: false,
      annotations: {
        'controlplane.cluster.x-k8s.io/platform': 'External',
        'controlplane.cluster.x-k8s.io/platform-name': 'acme',
        'controlplane.cluster.x-k8s.io/cloud-controller-manager': 'External',
      },
    },
  },
] as const;

describe('the Agent providers with the kinds as their projects define them', { skip }, () => {
  for (const { name, setup } of CASES) {
    it(`write nothing that these do not know, from installation to deletion: ${name}`, async () => {
      await using world = await AgentWorld.start({ crds: originalCrds() });
      const { client } = world;
      await world.apply([...hostManifests(5), ...clusterManifests(setup)].map(stored));
      await world.until('the cluster is installed', async () => {
        const found = await client.find(AgentClusterInstall, KEY);
        return found?.status?.debugInfo?.state === 'adding-hosts';
      });
      await world.until('the control plane is available', async () =>
        isTrue(await client.get(OpenshiftAssistedControlPlane, KEY), 'Available'),
      );
      assert.equal((await client.list(Machine)).items.length, 5);
      assert.deepEqual(await refusedStrictly(world), []);
      await client.delete(Cluster, KEY);
      await world.until('it is gone', async () => (await client.find(Cluster, KEY)) === undefined);
      const failed = world.env.recorder.writes.filter(
        ({ status, target }) => isOfProvider(target) && (status === 400 || status === 422),
      );
      assert.deepEqual(
        failed.map(({ method, target }) => `${method} ${target}`),
        [],
      );
    });
  }
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Agent } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { Cluster } from '../../src/api/cluster-api/core-v1beta2.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { isTrue } from '../../src/object/conditions.ts';

import { CORE_HUBS, type CoreStory, startCoreStory } from '../support/agent-core-story.ts';
import { hostManifests, pullSecrets } from '../support/agent-manifests.ts';
import { objectsIn } from '../support/cluster-api-core.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/bare-metal');
const KEY = { namespace: 'clusters', name: 'east' };

const example = (file: string): readonly KubeObject[] =>
  objectsIn(join(EXAMPLES, file)) as unknown as readonly KubeObject[];

const change = ({ client }: CoreStory, ...body: readonly JsonObject[]) =>
  client.patch(Cluster, KEY, { type: 'json', body: [...body] });

const uids = async (story: CoreStory): Promise<ReadonlySet<string | undefined>> =>
  new Set((await story.machines()).map(({ metadata }) => metadata.uid));

for (const { name, needs, start } of CORE_HUBS) {
  describe(`a ClusterClass of the core manager of Cluster API 1.14.2, on ${name}`, needs, () => {
    it('makes a cluster, which is upgraded in place, scaled, and deleted with nothing left', async () => {
      await using parts = new AsyncDisposableStack();
      const { story, stop } = await startCoreStory(await start(parts), KEY, parts);
      const { client } = story;
      await story.install([
        ...hostManifests(7, KEY.namespace),
        ...pullSecrets(KEY.namespace),
        ...example('cluster-class.yaml'),
        ...example('cluster-of-class.yaml'),
      ]);
      await story.checkInstalled();
      const { metadata, spec, status } = await story.controlPlane();
      assert.equal(spec.version, 'v1.33.0');
      assert.equal(spec.machineTemplate.infrastructureRef, undefined);
      assert.match(spec.machineTemplate.spec?.infrastructureRef?.name ?? '', /^east-/);
      assert.deepEqual([status?.version, status?.distributionVersion], ['1.33.5', '4.20.4']);
      const install = await client.live.get(AgentClusterInstall, { ...KEY, name: metadata.name });
      assert.deepEqual(install.spec?.provisionRequirements, { controlPlaneAgents: 3, workerAgents: 2 });
      const kinds = (await client.live.list(Agent)).items.map((agent) => agent.status?.kind);
      assert.deepEqual(
        kinds,
        Array.from({ length: 5 }, () => 'Host'),
        'nobody was late',
      );
      await story.until('core has nothing left to do', async () =>
        isTrue(await client.live.get(Cluster, KEY), 'TopologyReconciled'),
      );

      const before = await uids(story);
      await change(story, { op: 'replace', path: '/spec/topology/variables/0/value', value: '4.20.5' });
      await story.until('the cluster runs the next release', async () => {
        const found = await story.controlPlane();
        return found.status?.distributionVersion === '4.20.5' && isTrue(found, 'UpgradeCompleted');
      });
      const after = await uids(story);
      assert.deepEqual(after, before, 'no Machine was replaced');

      const replicas = '/spec/topology/workers/machineDeployments/0/replicas';
      await change(story, { op: 'replace', path: replicas, value: 3 });
      await story.until('a third worker runs', async () => {
        const machines = await story.machines();
        return machines.length === 6 && machines.every((machine) => machine.status?.phase === 'Running');
      });
      await story.remove();
      assert.equal(await stop(), 0);
    });
  });
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CORE_HUBS, startCoreStory } from '../support/agent-core-story.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';

const KEY = { namespace: 'test-capi', name: 'test-multinode' };

for (const { name, needs, start } of CORE_HUBS) {
  describe(`the Agent providers with the core manager of Cluster API 1.14.2, on ${name}`, needs, () => {
    it('agent/S26: a cluster is installed, loses a worker, and is deleted with nothing left', async (t) => {
      await using parts = new AsyncDisposableStack();
      const { story, stop } = await startCoreStory(await start(parts), KEY, parts);
      const beganMs = performance.now();
      await story.install([...hostManifests(6), ...clusterManifests()]);
      t.diagnostic(`installed after ${Math.round((performance.now() - beganMs) / 1000)} s`);
      await story.checkInstalled();
      await story.loseWorker();
      await story.remove();
      assert.equal(await stop(), 0);
    });
  });
}

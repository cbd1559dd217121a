import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { adminClient } from '../support/admin-client.ts';
import { SharedCloud } from '../support/ccm-cloud.ts';
import { compareStory } from '../support/ccm-comparison.ts';
import { DEVIATIONS } from '../support/ccm-deviations.ts';
import { NETWORK_STORIES } from '../support/ccm-network-stories.ts';
import { NODE_STORIES } from '../support/ccm-node-stories.ts';
import { goProgram, slipwayProgram, startCloudController } from '../support/ccm-programs.ts';
import type { Side } from '../support/ccm-scene.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';

const FLAGS = [
  '--node-monitor-period=1s',
  '--node-status-update-frequency=1s',
  '--route-reconciliation-period=1s',
  '--cluster-cidr=10.244.0.0/16',
];
const PROVIDER = fileURLToPath(import.meta.resolve('../support/ccm-fake-provider.ts'));
const PAGE = 'docs/reference/deviations.md';

async function startSide(parts: AsyncDisposableStack, program: Side['program']): Promise<Side> {
  const { admin } = parts.use(await startKubernetes());
  const cloud = parts.use(await SharedCloud.start());
  const client = await adminClient(parts, admin);
  const cloudConfig = { url: cloud.url };
  const started = program === 'go' ? goProgram() : slipwayProgram(PROVIDER);
  parts.use(await startCloudController(started, { kubeconfig: admin, cloudConfig, flags: FLAGS }));
  return { program, client, cloud };
}

const needs = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), needsOracle('cloud-provider'));

describe('our cloud controller manager and that of k8s.io/cloud-provider', needs, () => {
  const parts = new AsyncDisposableStack();
  const seen = new Set<string>();
  let sides: readonly [go: Side, ours: Side] | undefined;

  before(async () => {
    sides = await Promise.all([startSide(parts, 'go'), startSide(parts, 'slipway')]);
  });
  after(() => parts.disposeAsync());

  for (const story of [...NODE_STORIES, ...NETWORK_STORIES]) {
    it(`${story.rules}: ${story.title}, the same here and there`, async () => {
      assert.ok(sides !== undefined);
      for (const id of await compareStory(story, ...sides)) seen.add(id);
    });
  }

  it('ccm/B1, ccm/B2, ccm/B4, ccm/B7: each listed deviation was to be seen, and is told on the page', () => {
    assert.deepEqual([...seen].toSorted(), DEVIATIONS.map(({ id }) => id).toSorted());
    const page = readFileSync(PAGE, 'utf8');
    const untold = DEVIATIONS.filter(({ row }) => !page.includes(`| ${row} |`));
    assert.deepEqual(untold, []);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { adminClient } from '../support/admin-client.ts';
import { DEPLOYMENT_STORIES, playStory, quiet, type Seen } from '../support/deployment-stories.ts';
import { DeploymentWorld } from '../support/deployment-world.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';

type Story = (typeof DEPLOYMENT_STORIES)[string];

const needs = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), needsOracle('kube-controller-manager'));

/** Longer than the waits of the stories. */
const PATIENCE_MS = 2000;

async function playOurs(story: Story): Promise<readonly Seen[]> {
  await using world = await DeploymentWorld.start();
  const { client, env } = world;
  return await playStory(story, { client, clock: env.clock, rest: (ms = 0) => env.advance(ms + PATIENCE_MS) });
}

async function playTheirs(story: Story, { admin }: ControlPlane): Promise<readonly Seen[]> {
  await using parts = new AsyncDisposableStack();
  const client = await adminClient(parts, admin);
  return await playStory(story, { client, clock: new SystemClock(), rest: (ms) => quiet(client, ms) });
}

// From the tenth of a kind on, client-go tells only of the last one.
const COMBINED = '(combined from similar events): ';

/** What they tell, we tell; and nothing else, as long as they tell everything. */
function assertSameEvents(ours: readonly string[], theirs: readonly string[], step: string): void {
  const texts = theirs.map((text) => text.replace(COMBINED, ''));
  const isWhole = texts.every((text, at) => text === theirs[at]);
  const untold = texts.filter((text) => !ours.includes(text));
  const invented = isWhole ? ours.filter((text) => !texts.includes(text)) : [];
  assert.deepEqual({ step, untold, invented }, { step, untold: [], invented: [] });
}

describe('Deployments of the lab and those of kube-controller-manager', needs, () => {
  let plane: ControlPlane | undefined;
  before(async () => {
    plane = await startKubernetes({ controllerManager: true });
  });
  after(() => plane?.stop());

  for (const [name, story] of Object.entries(DEPLOYMENT_STORIES)) {
    it(`lab/W1: ${name} looks the same`, async () => {
      assert.ok(plane !== undefined);
      const [ours, theirs] = [await playOurs(story), await playTheirs(story, plane)];
      const worlds = (side: readonly Seen[]) => side.map(({ step, world }) => ({ step, world }));
      assert.deepEqual(worlds(ours), worlds(theirs));
      for (const [at, { step, told }] of ours.entries()) assertSameEvents(told, theirs[at]?.told ?? [], step);
    });
  }
});

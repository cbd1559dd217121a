import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { startLab } from '../../src/lab/index.ts';
import { adminClient, replaceAllBut } from '../support/admin-client.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { playScheduling, SCHEDULING_DIFFERENCES, type SeenPods } from '../support/scheduling-journey.ts';
import { SCHEDULING_STORIES } from '../support/scheduling-stories.ts';

const needs = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), needsOracle('kube-scheduler'));

/** A real API server with our scheduler. */
async function startOurs(parts: AsyncDisposableStack): Promise<KubeClient> {
  const { admin } = parts.use(await startKubernetes());
  const setup = { clusters: [{ name: 'real', kubeconfig: admin }], replace: replaceAllBut('scheduler') };
  return parts.use(await startLab(setup)).cluster().client;
}

/** A real API server with its own. */
async function startTheirs(parts: AsyncDisposableStack): Promise<KubeClient> {
  const { admin } = parts.use(await startKubernetes({ scheduler: true }));
  return await adminClient(parts, admin);
}

describe('the scheduler of the lab and kube-scheduler', needs, () => {
  const parts = new AsyncDisposableStack();
  let clients: readonly [KubeClient, KubeClient] | undefined;
  before(async () => {
    clients = await Promise.all([startOurs(parts), startTheirs(parts)]);
  });
  after(() => parts.disposeAsync());

  for (const [name, story] of Object.entries(SCHEDULING_STORIES)) {
    it(`lab/K2: do the same and say the same: ${name}`, async () => {
      assert.ok(clients !== undefined);
      const [ours, theirs] = await Promise.all(clients.map((client) => playScheduling(story, client)));
      assert.ok(ours !== undefined && theirs !== undefined);
      let found = differences(name, ours, theirs);
      // In real time the more important of two pods may be a moment late at the queue of kube-scheduler.
      for (let tries = 1; found.length > 0 && tries < MOST_TRIES; tries++)
        found = differences(name, ours, await playScheduling(story, clients[1]));
      assert.deepEqual(found, []);
    });
  }
});

const MOST_TRIES = 3;

/** What the two do not have in common, one line each, without what is known. */
function differences(name: string, ours: SeenPods, theirs: SeenPods): readonly string[] {
  const known = SCHEDULING_DIFFERENCES.stories.get(name) ?? [];
  const [here, there] = [ours, theirs].map(({ pods, counts }) => [...pods, `counts ${counts.join()}`]);
  const missing = [...theirs.preempted, ...theirs.told.filter((text) => !ours.told.includes(text))];
  // Of failures on the way to the end we may tell more than they do.
  const isInvented = (text: string) => !theirs.told.includes(text) && !text.includes(' FailedScheduling ');
  return [
    ...notIn(here, there).map((text) => `only ours: ${text}`),
    ...notIn(there, here).map((text) => `only theirs: ${text}`),
    ...notIn(missing, known).map((text) => `we do not have: ${text}`),
    ...notIn(known, missing).map((text) => `listed as a difference, but is none: ${text}`),
    ...[...ours.preempted, ...ours.told.filter(isInvented)].map((text) => `they do not have: ${text}`),
  ];
}

const notIn = (texts: readonly string[] = [], others: readonly string[] = []): readonly string[] =>
  texts.filter((text) => !others.includes(text));

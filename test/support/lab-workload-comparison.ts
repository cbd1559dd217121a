import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import { startLab } from '../../src/lab/index.ts';
import { daemonSetController } from '../../src/lab/workloads/daemonset/controller.ts';
import { jobController } from '../../src/lab/workloads/job/controller.ts';
import { finishedJobController } from '../../src/lab/workloads/job/finished-jobs.ts';
import { orphanedPodController } from '../../src/lab/workloads/job/orphaned-pods.ts';
import { TestEnv } from '../../src/testing/test-env.ts';
import { adminClient, replaceAllBut } from './admin-client.ts';
import { startKubernetes } from './kubernetes.ts';
import { Stage, setScene, storyNodes } from './lab-workload-stage.ts';
import { READY, type Story } from './lab-workload-stories.ts';
import { objectsIn, objectsOn, type Seen, seen } from './lab-workload-views.ts';
import { needsAll, needsOracle } from './needs-oracle.ts';
import type { Fate } from './pretend-nodes.ts';

/** Nobody sends heartbeats for the nodes; and many stories at once ask more than the default allows in time. */
const PATIENT = [
  '--node-monitor-grace-period=2h',
  '--node-startup-grace-period=2h',
  '--kube-api-qps=500',
  '--kube-api-burst=500',
];
/** `accounts`: pods need that of their namespace. */
const ONLY_OURS = replaceAllBut('daemonset', 'job', 'accounts');
const STEP_MS = 1000;

/** Ours on our server in virtual time: what is to be seen after each step. */
async function playEmbedded(story: Story, slug: string): Promise<readonly Seen[]> {
  await using env = await TestEnv.start();
  const parts = [jobController(), orphanedPodController(), finishedJobController()];
  await env.startManager({ add: [daemonSetController(), ...parts] });
  const fates = new Map<string, (pod: Pod) => Fate>();
  const nodes = storyNodes(fates);
  const settle = async () => {
    do await env.advance(STEP_MS);
    while (await nodes.step(env));
  };
  const { client } = env;
  await setScene({ client, slug });
  await settle();
  const found: Seen[] = [];
  for (const step of story) {
    fates.set(slug, (step.fate ?? READY)());
    await step.act?.({ client, slug });
    await settle();
    await env.advance(step.lastsMs ?? 0);
    await settle();
    found.push(seen(objectsIn(slug, await objectsOn(client)), step));
  }
  return found;
}

/** A real API server with our controllers. */
async function startOurs(parts: AsyncDisposableStack): Promise<Stage> {
  const { admin } = parts.use(await startKubernetes());
  const setup = { clusters: [{ name: 'real', kubeconfig: admin }], replace: ONLY_OURS };
  return parts.use(new Stage(parts.use(await startLab(setup)).cluster().client));
}

/** A real API server with its own. */
async function startTheirs(parts: AsyncDisposableStack): Promise<Stage> {
  const extraArguments = { kubeControllerManager: PATIENT };
  const { admin } = parts.use(await startKubernetes({ controllerManager: true, extraArguments }));
  return parts.use(new Stage(await adminClient(parts, admin)));
}

/** Stories mostly wait. */
const AT_ONCE = 16;

/** A suite that plays every story here and there. One per file: files run beside each other. */
export function compareStories(what: string, rules: string, stories: Readonly<Record<string, Story>>): void {
  const needs = needsAll(
    needsOracle('etcd'),
    needsOracle('kube-apiserver'),
    needsOracle('kube-controller-manager'),
  );
  describe(`${what} of the lab and those of kube-controller-manager`, { ...needs, concurrency: AT_ONCE }, () => {
    const parts = new AsyncDisposableStack();
    let stages: readonly [Stage, Stage] | undefined;
    before(async () => {
      stages = await Promise.all([startTheirs(parts), startOurs(parts)]);
    });
    after(() => parts.disposeAsync());

    for (const [name, story] of Object.entries(stories)) {
      const slug = `${what} ${name}`.replaceAll(' ', '-');
      let played: Promise<readonly Seen[]> | undefined;
      const embedded = () => (played ??= playEmbedded(story, slug));
      it(`${rules}: ${name} look the same`, async () => {
        assert.ok(stages !== undefined);
        await stages[0].play(story, slug, await embedded());
      });
      it(`${rules}: ${name} look the same with our controllers on a real server`, async () => {
        assert.ok(stages !== undefined);
        await stages[1].play(story, slug, await embedded());
      });
    }
  });
}

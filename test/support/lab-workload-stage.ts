import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Namespace, type Pod, ServiceAccount } from '../../src/api/generated/core-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { addStoryNode, nodeNameOf, READY, type Scene, type Step, type Story } from './lab-workload-stories.ts';
import { type Objects, objectsIn, objectsOn, type Seen, seen, versionOf } from './lab-workload-views.ts';
import { type Fate, PretendNodes } from './pretend-nodes.ts';

const TURN_MS = 200;
// Turns and not time, so that a slow machine waits longer. kube-controller-manager looks at jobs a second after their
// pods changed.
const QUIET_TURNS = 9;
/** After so many nobody believes any more that it will become as expected. */
const LONG_QUIET_TURNS = 150;
const MOST_TURNS = 900;

/** The namespace and the nodes of a story. */
export async function setScene({ client, slug }: Scene): Promise<void> {
  await client.create(Namespace, { metadata: { name: slug } });
  for (const number of [1, 2, 3]) await addStoryNode({ client, slug }, number);
}

/** Nodes for all stories of a cluster. Nothing becomes of the pods of stories without a fate. */
export const storyNodes = (fates: ReadonlyMap<string, (pod: Pod) => Fate>): PretendNodes =>
  new PretendNodes({
    fate: (pod) => fates.get(pod.metadata.namespace ?? '')?.(pod) ?? 'pending',
    home: ({ metadata: { namespace = '' } }) => nodeNameOf(namespace, 1),
  });

/** A cluster in real time that plays many stories at once: it is looked at once for all of them. */
export class Stage implements AsyncDisposable {
  readonly #client: KubeClient;
  /** By namespace; one for each story. */
  readonly #fates = new Map<string, (pod: Pod) => Fate>();
  readonly #turns: Promise<void>;
  #turn = Promise.withResolvers<Objects>();
  #isOver = false;

  constructor(client: KubeClient) {
    this.#client = client;
    this.#turns = this.#run().catch((error: unknown) => {
      // For stories that wait; perhaps none does.
      this.#turn.promise.catch(() => {});
      this.#turn.reject(error);
    });
  }

  /** Plays a story and compares each step; rejects with what differs. */
  async play(story: Story, slug: string, expected: readonly Seen[]): Promise<void> {
    const scene = { client: this.#client, slug };
    await setScene(scene);
    await this.#whenOpen(slug);
    for (const [index, step] of story.entries()) {
      // Pods wait until it has happened: what is made of it depends on their new fate.
      this.#fates.delete(slug);
      await step.act?.(scene);
      this.#fates.set(slug, (step.fate ?? READY)());
      assert.deepEqual(await this.#end(slug, step, expected[index]), expected[index]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#turns;
  }

  /** Pods of a namespace need its account. */
  async #whenOpen(slug: string): Promise<void> {
    const account = { namespace: slug, name: 'default' };
    for (let turns = 0; (await this.#client.live.find(ServiceAccount, account)) === undefined; turns++) {
      assert.ok(turns < MOST_TURNS, `the namespace ${slug} gets no ServiceAccount`);
      await this.#turn.promise;
    }
  }

  async #run(): Promise<void> {
    const nodes = storyNodes(this.#fates);
    const clock = { now: () => new Date() };
    for (; !this.#isOver; await sleep(TURN_MS)) {
      await nodes.step({ client: this.#client, clock });
      const objects = await objectsOn(this.#client);
      this.#turn.resolve(objects);
      this.#turn = Promise.withResolvers();
    }
  }

  /** What is to be seen when nothing changes any more and it is as expected, or will not be. */
  async #end(slug: string, step: Step, expected: Seen | undefined): Promise<Seen | undefined> {
    const mostQuiet = LONG_QUIET_TURNS + (step.lastsMs ?? 0) / TURN_MS;
    let found: Seen | undefined;
    let [quiet, last] = [0, ''];
    for (let turns = 0; turns < MOST_TURNS && quiet < mostQuiet; turns++) {
      const objects = objectsIn(slug, await this.#turn.promise);
      const version = versionOf(objects);
      quiet = version === last ? quiet + 1 : 0;
      last = version;
      found = seen(objects, step);
      if (quiet >= QUIET_TURNS && isDeepStrictEqual(found, expected)) break;
    }
    return found;
  }
}

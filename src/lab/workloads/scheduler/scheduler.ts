import { Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';
import { CSINode, StorageClass } from '../../../api/generated/storage-v1.ts';
import { keyFromText, keyText, type ObjectKey } from '../../../api/object.ts';
import { Channel } from '../../../kube/controller/channel.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { type Assignment, carryOut, type Outcome, type Rejection, volumesRejected } from './assignment.ts';
import { ClusterFeed, type ClusterObjects, type News } from './cluster-feed.ts';
import { ClusterView } from './cluster-view.ts';
import { POD_CAME, POD_WENT } from './cures.ts';
import { decide, type Placement, type Refusal } from './decision.ts';
import { type Notice, tell } from './notice.ts';
import type { Unscheduled } from './pod-condition.ts';
import type { PodFacts } from './pod-facts.ts';
import { SchedulingQueue } from './scheduling-queue.ts';
import { claimKey } from './volumes.ts';

/** The key of the scheduling itself; pods have a namespace. */
export const CYCLE: ObjectKey = { name: 'cycle' };
/** Pods per pass: their bindings are on the way while the next pass runs. */
const MOST_PODS = 32;
/** How long a pod waits for its volumes before another node is looked for. */
const VOLUMES_MS = 600_000;

type Task = Assignment | Notice;

/**
 * Places pods one after the other, each with those before it in sight (K7). What follows from a decision is written pod
 * by pod, many at once: under the key `cycle` it decides, under the key of a pod it does what was decided. All state is
 * a memory of the cluster and of what is on its way: after a restart it comes out the same.
 */
export class Scheduler {
  /** Wakes keys. */
  readonly channel = new Channel();
  readonly #name: string;
  readonly #view = new ClusterView();
  readonly #feed = new ClusterFeed(this.#view);
  readonly #queue = new SchedulingQueue();
  /** What is to be done about a pod, by its key: the newest decision only. Bounded by the pods without a node. */
  readonly #tasks = new Map<string, Task>();

  constructor(name: string) {
    this.#name = name;
  }

  reconcile(key: ObjectKey, context: ReconcileContext): Promise<Result> {
    return keyText(key) === keyText(CYCLE) ? this.#cycle(context) : this.#settle(key, context);
  }

  /** Nothing is awaited after the reading, so that nobody else changes what is decided on. */
  async #cycle(context: ReconcileContext): Promise<Result> {
    const objects = await readCluster(context);
    const nowMs = context.now().getTime();
    this.#learn(this.#feed.update(objects), nowMs);
    this.#queue.wake(nowMs);
    for (let count = 0; count < MOST_PODS; count++) {
      const facts = this.#queue.next();
      if (facts === undefined) break;
      this.#schedule(facts, nowMs);
    }
    if (this.#queue.hasNext) this.channel.send(CYCLE);
    const { nextMs } = this.#queue;
    return nextMs === undefined ? DONE : after(Math.max(1, nextMs - nowMs));
  }

  #learn({ pods, cures, concernsWaiting }: News, nowMs: number): void {
    for (const { uid, facts } of pods) {
      if (facts === undefined) this.#dropTask(uid);
      if (facts !== undefined && this.#isMine(facts)) this.#queue.track(facts, nowMs);
      else this.#queue.remove(uid);
    }
    this.#queue.cured(cures, nowMs);
    if (!concernsWaiting) return;
    for (const task of this.#tasks.values())
      if (task.type === 'assignment' && task.isWaiting) this.channel.send(keyFromText(task.key));
  }

  /** Pods that name a node are never touched (K8), nor are those of other schedulers and those that are held back (K1). */
  #isMine({ pod: { spec, metadata } }: PodFacts): boolean {
    return (
      (spec.nodeName ?? '') === '' &&
      (spec.schedulerName ?? this.#name) === this.#name &&
      (spec.schedulingGates ?? []).length === 0 &&
      metadata.deletionTimestamp === undefined
    );
  }

  #schedule(facts: PodFacts, nowMs: number): void {
    const decision = decide(facts, this.#view);
    if (decision.type === 'placed') this.#place(facts, decision, nowMs);
    else this.#refuse(facts, decision, nowMs);
  }

  #place(facts: PodFacts, { node, claims }: Placement, nowMs: number): void {
    const { uid, key } = facts;
    this.#view.assume(facts, node);
    for (const name of claims) this.#view.storage.select(claimKey(facts, name), { node, uid });
    const asked = new Set<string>();
    this.#do({ type: 'assignment', facts, uid, key, node, claims, asked, sinceMs: nowMs, isWaiting: false });
    this.#queue.cured(new Set(POD_CAME), nowMs);
  }

  #refuse(facts: PodFacts, { message, refusedBy, taints }: Refusal, nowMs: number): void {
    this.#queue.refused(facts.uid, refusedBy, nowMs);
    this.#explain(facts, { reason: 'Unschedulable', message }, taints);
  }

  #explain({ uid, key }: PodFacts, why: Unscheduled, taints: readonly string[] = []): void {
    this.#do({ type: 'notice', uid, key, ...why, taints });
  }

  #do(task: Task): void {
    this.#tasks.set(task.key, task);
    this.channel.send(keyFromText(task.key));
  }

  async #settle(key: ObjectKey, context: ReconcileContext): Promise<Result> {
    const task = this.#tasks.get(keyText(key));
    if (task === undefined) return DONE;
    if (task.type === 'notice') {
      await tell(task, context);
      this.#done(task);
      return DONE;
    }
    const outcome = await carryOut(task, this.#view.node(task.node)?.node, context);
    // Its pod was taken away meanwhile, and with it what was assumed.
    if (this.#tasks.get(task.key) !== task) return DONE;
    return this.#conclude(task, outcome, context);
  }

  #conclude(task: Assignment, outcome: Outcome, context: ReconcileContext): Result {
    const nowMs = context.now().getTime();
    const leftMs = task.sinceMs + VOLUMES_MS - nowMs;
    task.isWaiting = outcome.type === 'waiting' && leftMs > 0;
    if (task.isWaiting) return after(leftMs);
    this.#done(task);
    switch (outcome.type) {
      case 'bound':
        this.#announce(task, outcome.pod, context);
        break;
      case 'elsewhere':
        // The cache tells where, if it has not yet.
        break;
      case 'gone':
        this.#queue.remove(task.uid);
        this.#release(task, nowMs);
        break;
      case 'waiting':
        this.#reject(task, volumesRejected('context deadline exceeded'), nowMs);
        break;
      case 'rejected':
        this.#reject(task, outcome, nowMs);
        break;
    }
    return DONE;
  }

  #announce({ key, node }: Assignment, pod: Pod, { events }: ReconcileContext): void {
    events.normal(pod, 'Scheduled', `Successfully assigned ${key} to ${node}`, { action: 'Binding' });
  }

  #reject(task: Assignment, { message }: Rejection, nowMs: number): void {
    this.#queue.failed(task.uid, nowMs);
    this.#release(task, nowMs);
    this.#explain(task.facts, { reason: 'SchedulerError', message });
  }

  /** What the pod would have taken is free again. */
  #release({ uid }: Assignment, nowMs: number): void {
    this.#view.forget(uid);
    this.#queue.cured(new Set(POD_WENT), nowMs);
    this.channel.send(CYCLE);
  }

  #done(task: Task): void {
    if (this.#tasks.get(task.key) === task) this.#tasks.delete(task.key);
    if (task.type === 'assignment') this.#view.storage.release(task.uid);
  }

  #dropTask(uid: string): void {
    for (const task of this.#tasks.values()) if (task.uid === uid) this.#done(task);
  }
}

/** From the cache, which has it all. */
async function readCluster({ client, signal }: ReconcileContext): Promise<ClusterObjects> {
  const options = { signal };
  const { items: pods } = await client.list(Pod, options);
  const { items: nodes } = await client.list(Node, options);
  const { items: namespaces } = await client.list(Namespace, options);
  const { items: claims } = await client.list(PersistentVolumeClaim, options);
  const { items: volumes } = await client.list(PersistentVolume, options);
  const { items: classes } = await client.list(StorageClass, options);
  const { items: csiNodes } = await client.list(CSINode, options);
  return { pods, nodes, namespaces, claims, volumes, classes, csiNodes };
}

import { Lease } from '../../../api/generated/coordination-v1.ts';
import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { time } from '../../../api/time.ts';
import { isNotFound } from '../../../kube/client/api-error.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { writeStatus } from '../pods/status-write.ts';
import { beginsToEvict, conditionTaints } from './condition-taints.ts';
import { lostInMs, readyOf, type Sign, signOf, unknownConditions } from './node-health.ts';
import { staleReadyPods } from './unready-pods.ts';

/** So often a node is looked at whose state is in doubt (W35). */
const CHECK_MS = 5000;
export const LEASE_NAMESPACE = 'kube-node-lease';

export interface NodeLifecycleOptions {
  /** Nodes whose pods begin to leave, per second (W36); no limit unless told otherwise. Upstream: 0.1. */
  readonly evictionsPerSecond?: number;
}

/** Finds out which nodes are lost, and says so to the scheduler and to their pods (W35, W36). */
export class NodeLifecycleReconciler implements Reconciler<Node> {
  readonly #everyMs: number;
  /** By name; those of nodes that are gone are dropped when a new one comes. */
  readonly #signs = new Map<string, Sign>();
  #nextEvictionMs = 0;

  constructor({ evictionsPerSecond = Number.POSITIVE_INFINITY }: NodeLifecycleOptions = {}) {
    this.#everyMs = 1000 / evictionsPerSecond;
  }

  async reconcile(found: Node, context: ReconcileContext): Promise<Result> {
    const now = context.now();
    const leftMs = await this.#leftMs(found, now, context);
    const node = leftMs > 0 ? found : await this.#lose(found, now, context);
    const waitMs = await this.#taint(node, now, context);
    await this.#tellPods(node, now, context);
    const waits = [leftMs, waitMs].filter((ms) => ms > 0);
    return waits.length === 0 ? DONE : after(Math.min(...waits));
  }

  /** How long until the node is lost when it stays silent; not above zero: it is. */
  async #leftMs(node: Node, now: Date, { client, signal }: ReconcileContext): Promise<number> {
    const { name } = node.metadata;
    const key = { namespace: LEASE_NAMESPACE, name };
    const before = this.#signs.get(name);
    const sign = signOf(before, node, await client.find(Lease, key, { signal }), now);
    if (before === undefined) await this.#forgetGone(client, signal);
    this.#signs.set(name, sign);
    const leftMs = lostInMs(sign, now);
    if (leftMs > 0 || unknownConditions(node, now) === undefined) return leftMs;
    // A cache that is behind must not cost a node its pods: what it does not tell of yet is a sign of life as well.
    const newest = await client.live.find(Node, { name }, { signal });
    const lease = await client.live.find(Lease, key, { signal });
    const isBehind = newest !== undefined && signOf(sign, newest, lease, now).atMs !== sign.atMs;
    return isBehind ? CHECK_MS : leftMs;
  }

  async #forgetGone(client: ReconcileContext['client'], signal: AbortSignal): Promise<void> {
    const { items } = await client.list(Node, { signal });
    const names = new Set(items.map(({ metadata }) => metadata.name));
    for (const name of this.#signs.keys()) if (!names.has(name)) this.#signs.delete(name);
  }

  async #lose(node: Node, now: Date, context: ReconcileContext): Promise<Node> {
    const conditions = unknownConditions(node, now);
    if (conditions === undefined) return node;
    const written = await writeStatus(context, Node, node, { status: { ...node.status, conditions } });
    if (readyOf(node)?.status === 'True') {
      const note = `Node ${node.metadata.name} status is now: NodeNotReady`;
      context.events.normal(node, 'NodeNotReady', note);
    }
    return written;
  }

  /** Resolves to how long its pods may stay because of the limit. */
  async #taint(node: Node, now: Date, { client, signal }: ReconcileContext): Promise<number> {
    const waitMs = beginsToEvict(node) ? this.#nextEvictionMs - now.getTime() : 0;
    const taints = conditionTaints(node, { now, mayEvict: waitMs <= 0 });
    if (taints === undefined) return waitMs;
    const { resourceVersion = '' } = node.metadata;
    const spec = { taints: taints.map((taint) => ({ ...taint })) };
    // The version, because the list is written as a whole and others write there too.
    const body = { metadata: { resourceVersion }, spec };
    if (beginsToEvict(node) && waitMs <= 0) this.#nextEvictionMs = now.getTime() + this.#everyMs;
    await client.patch(Node, keyOf(node), { type: 'merge', body }, { signal });
    return waitMs;
  }

  async #tellPods(node: Node, now: Date, { client, events, signal }: ReconcileContext): Promise<void> {
    if (readyOf(node)?.status !== 'Unknown') return;
    const { items } = await client.list(Pod, { signal });
    for (const pod of staleReadyPods(node, items)) {
      const { uid = '', resourceVersion = '' } = pod.metadata;
      const condition = { type: 'Ready', status: 'False', lastTransitionTime: time(now) };
      const body = { metadata: { uid, resourceVersion }, status: { conditions: [condition] } };
      const patch = { type: 'strategic', body } as const;
      try {
        await client.patch(Pod, keyOf(pod), patch, { subresource: 'status', signal });
      } catch (error) {
        if (isNotFound(error)) continue;
        throw error;
      }
      events.warning(pod, 'NodeNotReady', 'Node is not ready');
    }
  }
}

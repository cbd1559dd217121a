import { Lease } from '../../../api/generated/coordination-v1.ts';
import { Node } from '../../../api/generated/core-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { microTime } from '../../../api/time.ts';
import type { Clock } from '../../../base/clock.ts';
import { isNotFound } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';

const NAMESPACE = 'kube-node-lease';
const DURATION_SECONDS = 40;

/** Pure: what a node says in its Lease (N4). */
export const leaseSpec = (name: string, now: Date) => ({
  holderIdentity: name,
  leaseDurationSeconds: DURATION_SECONDS,
  renewTime: microTime(now),
});

type LeaseSpec = ReturnType<typeof leaseSpec>;

export interface NodeLeaseOptions {
  readonly name: string;
  readonly client: KubeClient;
  readonly clock: Clock;
  /** For each request. */
  readonly timeoutMs: number;
}

/** The Lease of one node. */
export class NodeLease {
  readonly #options: NodeLeaseOptions;
  /** The server had it at the last renewal. */
  #isThere = false;

  constructor(options: NodeLeaseOptions) {
    this.#options = options;
  }

  /**
   * Renews the Lease, or makes it; one for a Node that is not there is not made, since nobody would take it away again
   * (N5). Rejects when that fails.
   */
  async renew(signal: AbortSignal): Promise<void> {
    const { name, clock } = this.#options;
    const spec = leaseSpec(name, clock.now());
    // A patch, where kubelets update: it needs no state of the Lease, and never brings one back that was deleted.
    this.#isThere =
      (this.#isThere && (await this.#isPatched({ spec }, signal))) || (await this.#isMade(spec, signal));
  }

  async #isMade(spec: LeaseSpec, signal: AbortSignal): Promise<boolean> {
    const { name, client, timeoutMs } = this.#options;
    const call = { signal, timeoutMs };
    const node = await client.live.find(Node, { name }, call);
    const uid = node?.metadata.uid;
    if (uid === undefined) return false;
    const metadata = { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] };
    const lease = await client.live.find(Lease, { namespace: NAMESPACE, name }, call);
    if (lease !== undefined) {
      const isOwned = (lease.metadata.ownerReferences ?? []).length > 0;
      return this.#isPatched(isOwned ? { spec } : { metadata, spec }, signal);
    }
    await client.create(Lease, { metadata: { name, namespace: NAMESPACE, ...metadata }, spec }, call);
    return true;
  }

  async #isPatched(body: JsonObject & { readonly spec: LeaseSpec }, signal: AbortSignal): Promise<boolean> {
    const { name, client, timeoutMs } = this.#options;
    try {
      const key = { namespace: NAMESPACE, name };
      await client.patch(Lease, key, { type: 'merge', body }, { signal, timeoutMs });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}

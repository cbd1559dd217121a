import { Lease, type LeaseSpec } from '../../api/generated/coordination-v1.ts';
import type { CallOptions, KubeClient } from '../client/kube-client.ts';

/** The one Lease of an election. Each call is one request, sent once: the elector itself decides about another try. */
export interface LeaseStore {
  /** Undefined when there is none. */
  get(options: CallOptions): Promise<Lease | undefined>;
  create(spec: LeaseSpec, options: CallOptions): Promise<Lease>;
  /** Rejects with a conflict unless the Lease still has the version of `lease`. */
  update(lease: Lease, options: CallOptions): Promise<Lease>;
}

/** `client` must have sockets of its own, no retries and no fence (E5). */
export const leaseStore = (client: KubeClient, key: { namespace: string; name: string }): LeaseStore => ({
  get: (options) => client.live.find(Lease, key, options),
  create: (spec, options) => client.create(Lease, { metadata: key, spec }, options),
  update: (lease, options) => client.update(Lease, lease, options),
});

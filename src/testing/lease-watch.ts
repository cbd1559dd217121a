import type { Store } from '../apiserver/store/store.ts';
import type { Clock } from '../base/clock.ts';

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly renewTime?: string;
  readonly leaseDurationSeconds?: number;
}

/**
 * Why a process may not write now, as the server knows it (runtime E7); undefined when it holds the lease. Stricter than
 * an end state can be: a write of a former leader is often repaired by the new one.
 */
export function leaseProblem(store: Store, lease: string, hostname: string, clock: Clock): string | undefined {
  const entry = store.get(`/registry/coordination.k8s.io/leases/${lease}`);
  if (entry === undefined) return `without the lease ${lease}`;
  const { spec = {} }: { spec?: LeaseSpec } = JSON.parse(Buffer.from(entry.bytes).toString('utf8'));
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 0 } = spec;
  if (!holderIdentity.startsWith(`${hostname}_`)) return `while ${holderIdentity || 'nobody'} holds the lease`;
  const endsAtMs = Date.parse(renewTime) + leaseDurationSeconds * 1000;
  return clock.now().getTime() > endsAtMs ? 'after its lease was over' : undefined;
}

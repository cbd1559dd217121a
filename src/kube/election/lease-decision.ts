import type { LeaseSpec } from '../../api/generated/coordination-v1.ts';
import { microTime } from '../../api/time.ts';

/** A record, and since when this process has seen it so, on its own monotonic clock. */
export interface Observation {
  readonly spec: LeaseSpec;
  readonly text: string;
  readonly atMs: number;
}

/** The time counts from when the record was first seen so: the clocks of other machines mean nothing here (E2). */
export function observe(previous: Observation | undefined, spec: LeaseSpec, atMs: number): Observation {
  const text = JSON.stringify(spec);
  return previous?.text === text ? previous : { spec, text, atMs };
}

export type Decision =
  /** Somebody else leads, for `forMs` more unless the record changes. */
  | { readonly action: 'wait'; readonly holder: string; readonly forMs: number }
  | { readonly action: 'create' | 'update'; readonly spec: LeaseSpec };

export interface Circumstances {
  /** Whether the Lease exists. */
  readonly exists: boolean;
  /** The last record seen, also when the Lease has been deleted since. */
  readonly observed: Observation | undefined;
  readonly identity: string;
  readonly leaseMs: number;
  readonly now: Date;
  readonly monotonicMs: number;
}

/**
 * What a candidate does with what it sees. A Lease that was deleted under its holder still counts until it would have
 * expired: the holder trusts it, and deleting it must not make two leaders.
 */
export function decide(circumstances: Circumstances): Decision {
  const { exists, observed, identity, leaseMs, monotonicMs } = circumstances;
  const holder = observed?.spec.holderIdentity ?? '';
  if (observed !== undefined && holder !== '' && holder !== identity) {
    const forMs = observed.atMs + durationMs(observed.spec, leaseMs) - monotonicMs;
    if (forMs > 0) return { action: 'wait', holder, forMs };
  }
  return { action: exists ? 'update' : 'create', spec: acquired(circumstances) };
}

/** Our record. A Lease that is ours already keeps its beginning and its count; any other change of hands counts. */
function acquired({ observed, identity, leaseMs, now }: Circumstances): LeaseSpec {
  const time = microTime(now);
  const mine = { holderIdentity: identity, leaseDurationSeconds: leaseSeconds(leaseMs), renewTime: time };
  if (observed === undefined) return { ...mine, acquireTime: time, leaseTransitions: 0 };
  const { holderIdentity, acquireTime = time, leaseTransitions = 0 } = observed.spec;
  return holderIdentity === identity
    ? { ...observed.spec, ...mine, acquireTime, leaseTransitions }
    : { ...observed.spec, ...mine, acquireTime: time, leaseTransitions: leaseTransitions + 1 };
}

/** The record of the holder who goes on. */
export const renewed = (spec: LeaseSpec, leaseMs: number, now: Date): LeaseSpec => ({
  ...spec,
  leaseDurationSeconds: leaseSeconds(leaseMs),
  renewTime: microTime(now),
});

/** The record of the holder who leaves: free for whoever comes first (E4). */
export function released(spec: LeaseSpec, now: Date): LeaseSpec {
  const time = microTime(now);
  return { ...spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
}

/** Never less than what the holder counts on: others take over after this time. */
const leaseSeconds = (leaseMs: number): number => Math.ceil(leaseMs / 1000);

/** A holder that does not say how long gets our own time; none at all would make every write of it a take-over. */
function durationMs({ leaseDurationSeconds: seconds }: LeaseSpec, leaseMs: number): number {
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : leaseMs;
}

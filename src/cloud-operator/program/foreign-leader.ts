import { Lease, type LeaseSpec } from '../../api/generated/coordination-v1.ts';
import { messageOf, terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { LiveReader } from '../../kube/client/kube-client.ts';

/** Who holds a Lease of ours begins so: upstream's holders are called by host and chance as ours would be. */
export const IDENTITY_PREFIX = 'slipway-';

const TIMEOUT_MS = 10_000;

export interface LeasePlace {
  readonly namespace: string;
  readonly name: string;
}

export interface ForeignLeaderOptions {
  readonly reader: Pick<LiveReader, 'find'>;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly lease: LeasePlace;
  readonly now: Date;
}

/**
 * Rejects while the operator of the payload is at work (D1): both would write the same objects, and after the next
 * election the other way round. A Lease that has run out, or was given back, is free.
 */
export async function refuseForeignLeader(options: ForeignLeaderOptions): Promise<void> {
  const { lease, now } = options;
  const found = await readLease(options);
  const holder = foreignHolder(found?.spec ?? {}, now);
  if (holder === undefined) return;
  const place = `Lease ${lease.namespace}/${lease.name}`;
  throw terminalError(
    'ForeignLeader',
    [
      `${place} is held by ${holder}, which is not Slipway: the operator of the payload still runs.`,
      'Make its Deployment unmanaged in spec.overrides of ClusterVersion version and scale it to 0,',
      'or run beside it with --mode=sidecar',
    ].join(' '),
  );
}

/** Where it cannot be read, the election decides: nobody leads beside another one. */
async function readLease({ reader, lease, log, signal }: ForeignLeaderOptions): Promise<Lease | undefined> {
  try {
    return await reader.find(Lease, lease, { signal, timeoutMs: TIMEOUT_MS });
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    log.warn({ problem: messageOf(thrown) }, 'Cannot see who leads');
    return undefined;
  }
}

/** Undefined when nobody else holds it now. Pure. */
export function foreignHolder(
  { holderIdentity = '', renewTime, leaseDurationSeconds = 0 }: LeaseSpec,
  now: Date,
): string | undefined {
  if (holderIdentity === '' || holderIdentity.startsWith(IDENTITY_PREFIX)) return undefined;
  const endMs = Date.parse(renewTime ?? '') + leaseDurationSeconds * 1000;
  return endMs > now.getTime() ? holderIdentity : undefined;
}

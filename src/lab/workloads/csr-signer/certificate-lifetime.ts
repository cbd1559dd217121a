import type { Validity } from '../../../pki/certificate-authority.ts';

const MINUTE_MS = 60_000;
/** As kube-controller-manager has it: a year unless told otherwise, ten minutes at least. */
const USUAL_MS = 365 * 24 * 60 * MINUTE_MS;
const SHORTEST_MS = 10 * MINUTE_MS;
/** Certificates begin so much earlier; long ones end so much earlier too, so that they last as long as they should. */
const BACKDATE_MS = 5 * MINUTE_MS;
const SHORT_MS = 8 * 60 * MINUTE_MS;

/** From when to when certificates are valid, where the clock is not that of their users (T8). */
export interface CertificateDates {
  readonly from: Date;
  readonly until: Date;
}

export interface Lifetime {
  readonly now: Date;
  /** `spec.expirationSeconds` */
  readonly expirationSeconds?: number | undefined;
  /** Of who signs: nothing lasts longer. */
  readonly authorityEnds: Date;
  readonly dates?: CertificateDates | undefined;
}

/** Pure: how long a certificate is valid. What somebody asks for counts from lab time, if it is no longer than usual. */
export function certificateLifetime({ now, expirationSeconds, authorityEnds, dates }: Lifetime): Validity {
  const from = dates?.from ?? now;
  const until = Math.min(wantedEnd(now, expirationSeconds, dates), authorityEnds.getTime());
  return { now: from, validityMs: until - from.getTime() };
}

function wantedEnd(now: Date, expirationSeconds: number | undefined, dates: CertificateDates | undefined): number {
  if (expirationSeconds === undefined && dates !== undefined) return dates.until.getTime();
  const askedMs = expirationSeconds === undefined ? USUAL_MS : expirationSeconds * 1000;
  const lastsMs = Math.min(USUAL_MS, Math.max(SHORTEST_MS, askedMs));
  return now.getTime() + (lastsMs < SHORT_MS ? lastsMs : lastsMs - BACKDATE_MS);
}

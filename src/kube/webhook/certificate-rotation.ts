import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { Runnable } from '../manager/runnable.ts';
import { bundleOf, type CertificateNames, isDue, issuePair, switched } from './certificate-state.ts';
import type { HeldState, SecretCertificates } from './secret-certificates.ts';
import { injectTrust, type TrustTargets } from './trust-injection.ts';

export interface CertificateRotationOptions extends CertificateNames {
  readonly client: Pick<KubeClient, 'live' | 'patch'>;
  readonly certificates: SecretCertificates;
  readonly targets: TrustTargets;
  readonly clock: Clock;
  readonly log: Log;
  readonly validityMs?: number;
}

const YEAR_MS = 365 * 24 * 3_600_000;
const PASS_MS = 60_000;
const AGAIN_MS = 5000;
/** How long API servers have to hear of a new bundle before anybody shows a certificate that needs it. */
const SETTLE_MS = 60_000;

/**
 * Keeps the certificate of the webhooks young and API servers believing it (W6): only on the leader. The order makes
 * every moment safe, also for a crash: the next pair is written to the Secret, then both authorities to every
 * target, and only a minute after all of them held both does the next pair become the current one. The old authority
 * stays believed until it ends, because replicas notice the change one after the other.
 */
export class CertificateRotation implements Runnable {
  readonly name = 'webhook certificates';
  readonly group = 'leader';
  readonly #options: CertificateRotationOptions;
  /** Since when every target was seen with this bundle. After a restart the minute starts again. */
  #trusted: { readonly bundle: string; readonly sinceMs: number } | undefined;

  constructor(options: CertificateRotationOptions) {
    this.#options = options;
  }

  /** A pass a minute until the signal aborts. A pass that fails is logged and tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.pass(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ problem: messageOf(error) }, 'webhook certificates could not be looked after; trying again');
      }
      await clock.sleep(PASS_MS, signal).catch(() => undefined);
    }
  }

  /** One look at everything, and one step at most. Safe to repeat, and to break off anywhere. */
  async pass(signal?: AbortSignal): Promise<void> {
    const { certificates, client, targets, clock, log } = this.#options;
    const held = await this.#staged(await certificates.held(signal), signal);
    // Somebody else wrote to the Secret: the next pass reads it.
    if (held === undefined) return;
    const bundle = bundleOf(held.state);
    const hasWritten = await injectTrust(client, targets, { bundlePem: bundle }, signal);
    const nowMs = clock.monotonicMs();
    // What had to be written again, because somebody replaced a target, has to be heard of again.
    if (hasWritten || this.#trusted?.bundle !== bundle) this.#trusted = { bundle, sinceMs: nowMs };
    if (held.state.next === undefined || nowMs - this.#trusted.sinceMs < SETTLE_MS) return;
    const written = await certificates.write(held, switched(held.state), signal);
    if (written !== undefined) log.info({}, 'webhook certificate rotated');
  }

  /**
   * For every replica, before the caches: API servers believe the certificate that is shown. A leader would come too
   * late, because it is elected after caches that may need a conversion. Never takes away what a leader has put in.
   */
  firstTrust(): Runnable {
    const done = Promise.withResolvers<void>();
    return {
      name: 'webhook trust',
      group: 'webhook',
      run: async (signal) => {
        await this.#trustUntilDone(signal);
        done.resolve();
      },
      ready: () => done.promise,
    };
  }

  async #trustUntilDone(signal: AbortSignal): Promise<void> {
    const { certificates, client, targets, clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        const { state } = await certificates.held(signal);
        const trust = { bundlePem: bundleOf(state), enoughPem: state.current.caPem };
        await injectTrust(client, targets, trust, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ problem: messageOf(error) }, 'API servers cannot be told whom to believe; trying again');
      }
      await clock.sleep(AGAIN_MS, signal).catch(() => undefined);
    }
  }

  /** With a next pair, when the current one is due for it. */
  async #staged(held: HeldState, signal: AbortSignal | undefined): Promise<HeldState | undefined> {
    const { certificates, clock, dnsNames, ipAddresses = [], validityMs = YEAR_MS } = this.#options;
    const now = clock.now();
    if (held.state.next !== undefined || !isDue(held.state.current, now)) return held;
    const next = await issuePair({ dnsNames, ipAddresses, now, validityMs });
    return certificates.write(held, { ...held.state, next }, signal);
  }
}

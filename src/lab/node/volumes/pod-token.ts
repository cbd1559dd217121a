import type { Pod, ServiceAccountTokenProjection } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { SpecialVerbs } from '../../../kube/client/kube-client.ts';
import { VolumeProblem } from './pod-volumes.ts';

const DEFAULT_SECONDS = 3600;
/** A token is replaced when this much of its life is over, or after a day, whichever is first (N31). */
const USED_PART = 0.8;
const LONGEST_USE_MS = 24 * 3_600_000;
const RETRY_MS = 10_000;
const CALL_MS = 30_000;

export interface PodTokenOptions {
  readonly client: Pick<SpecialVerbs, 'createToken'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly pod: Pod;
  readonly projection: ServiceAccountTokenProjection;
  /** It is time to ask for `current` again. */
  readonly due: () => void;
}

interface Issued {
  readonly token: string;
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
}

/** A token of a pod's account that ends with the pod, kept fresh. Calls of `current` must not overlap. */
export class PodToken implements Disposable {
  readonly #options: PodTokenOptions;
  #issued: Issued | undefined;
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: PodTokenOptions) {
    this.#options = options;
  }

  /** A token with some life left. An old one serves on while there is no new one; rejects when it has expired. */
  async current(): Promise<string> {
    const { clock, log } = this.#options;
    const nowMs = clock.now().getTime();
    if (this.#issued !== undefined && nowMs < this.#issued.refreshAtMs) return this.#issued.token;
    try {
      this.#issued = await this.#request();
      this.#arm(this.#issued.refreshAtMs - clock.now().getTime());
    } catch (err) {
      this.#arm(RETRY_MS);
      if (this.#issued === undefined || clock.now().getTime() >= this.#issued.expiresAtMs) {
        throw new VolumeProblem('FailedMount', `failed to fetch token: ${messageOf(err)}`);
      }
      log.warn({ err }, 'Keeping the old service account token');
    }
    return this.#issued.token;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#timer?.[Symbol.dispose]();
  }

  async #request(): Promise<Issued> {
    const { client, clock, pod, projection } = this.#options;
    const { name, namespace = 'default', uid } = pod.metadata;
    const { audience = '', expirationSeconds = DEFAULT_SECONDS } = projection;
    const account = { namespace, name: pod.spec.serviceAccountName ?? 'default' };
    const startMs = clock.now().getTime();
    const { token, expirationTimestamp } = await client.createToken(account, {
      ...(audience !== '' && { audiences: [audience] }),
      expirationSeconds,
      boundObject: { apiVersion: 'v1', kind: 'Pod', name, ...(uid !== undefined && { uid }) },
      timeoutMs: CALL_MS,
    });
    const expiresAtMs = Date.parse(expirationTimestamp);
    const useMs = Math.min((expiresAtMs - startMs) * USED_PART, LONGEST_USE_MS);
    return { token, expiresAtMs, refreshAtMs: startMs + useMs };
  }

  #arm(ms: number): void {
    this.#timer?.[Symbol.dispose]();
    if (this.#isDisposed) return;
    this.#timer = this.#options.clock.timer(Math.max(0, ms), () => this.#options.due());
  }
}

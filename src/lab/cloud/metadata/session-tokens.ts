import type { Clock } from '../../../base/clock.ts';
import { isSignature, signatureOf } from '../access/signed-text.ts';

/** Longer sessions are not given. */
export const LONGEST_SESSION_SECONDS = 21_600;

/** Tokens that prove that whoever asks could also send a PUT with a header of its own. Good at one address only. */
export class SessionTokens {
  readonly #clock: Clock;
  /** Of this life: an old token is worth nothing, and clients ask for a new one. */
  readonly #key: string;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#key = `${clock.uuid()}${clock.uuid()}`;
  }

  issue(address: string, ttlSeconds: number): string {
    const expiresMs = this.#clock.now().getTime() + ttlSeconds * 1000;
    return `${expiresMs}.${signatureOf(this.#key, `${address} ${expiresMs}`)}`;
  }

  isGood(token: string, address: string): boolean {
    const [expiresMs = '', signature = ''] = token.split('.');
    return (
      isSignature(this.#key, `${address} ${expiresMs}`, signature) &&
      Number(expiresMs) > this.#clock.now().getTime()
    );
  }
}

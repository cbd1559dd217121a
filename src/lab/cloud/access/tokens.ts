import { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import { CloudError } from '../cloud-error.ts';
import type { CloudReader, Transaction } from '../resources/resource-kind.ts';
import type { ShelfName } from '../resources/resource-record.ts';
import type { Caller, Credentials } from './credentials.ts';
import { grantedScopes } from './scopes.ts';
import { isSignature, signatureOf } from './signed-text.ts';

export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: string;
}

export interface TokensOptions {
  readonly state: CloudReader;
  readonly credentials: Credentials;
  /** Lab time. */
  readonly clock: Pick<Clock, 'now'>;
  readonly lifeSeconds: number;
}

const KEYS: ShelfName<{ readonly key: string }> = { shelf: 'keys' };
const TOKEN_KEY = 'tokens';
const LONGEST_TOKEN = 4096;

const claims = z.strictObject({
  clientId: z.string(),
  epoch: z.int(),
  scopes: z.array(z.string()),
  expiresAt: z.iso.datetime(),
});

/**
 * Tokens carry what they say and a signature, so that none has to be kept and one that is past its life can still be
 * told from one that never was (C1). Revoking the credential ends them.
 */
export class Tokens {
  readonly #options: TokensOptions;

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  /** The key outlives the process, and the tokens with it. */
  ensureKey(transaction: Transaction, random: Pick<Clock, 'uuid'>): void {
    if (transaction.peek(KEYS, TOKEN_KEY) !== undefined) return;
    transaction.place(KEYS, TOKEN_KEY, { key: `${random.uuid()}${random.uuid()}` });
  }

  issue(clientId: string, clientSecret: string, scope: string | undefined): IssuedToken {
    const { credentials, clock, lifeSeconds } = this.#options;
    const credential = credentials.proven(clientId, clientSecret);
    const scopes = grantedScopes(credential.scope.split(' '), scope);
    const expiresAt = new Date(clock.now().getTime() + lifeSeconds * 1000).toISOString();
    const body = JSON.stringify({ clientId, epoch: credential.epoch, scopes, expiresAt });
    const payload = Buffer.from(body).toString('base64url');
    return { token: `${payload}.${signatureOf(this.#key, payload)}`, expiresAt };
  }

  /** Who the token was given to. Refuses what we did not write, what is past its life, and what was revoked. */
  caller(token: string): Caller {
    const { credentials, clock } = this.#options;
    const known = this.#claims(token);
    if (known === undefined) throw new CloudError('Unauthenticated', 'the token is none of this cloud');
    if (Date.parse(known.expiresAt) <= clock.now().getTime())
      throw new CloudError('TokenExpired', `the token was good until ${known.expiresAt}; ask for a new one`);
    if (!credentials.isCurrent(known))
      throw new CloudError('Unauthenticated', 'the credential of this token has been revoked');
    const { clientId, epoch, scopes } = known;
    return { clientId, epoch, scopes };
  }

  #claims(token: string): z.output<typeof claims> | undefined {
    const [payload = '', signature = '', ...more] = token.slice(0, LONGEST_TOKEN).split('.');
    if (more.length > 0 || !isSignature(this.#key, payload, signature)) return undefined;
    // We signed it, but an earlier version of us may have written something else.
    return claims.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString())).data;
  }

  get #key(): string {
    return this.#options.state.peek(KEYS, TOKEN_KEY)?.key ?? '';
  }
}

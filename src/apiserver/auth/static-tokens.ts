import { createHash, timingSafeEqual } from 'node:crypto';
import type { UserInfo } from '../request.ts';
import { type TokenAuthenticator, withAuthenticated } from './authenticator.ts';

export interface StaticToken {
  readonly token: string;
  readonly user: UserInfo;
}

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Tokens that were given at start. Compared in constant time, all of them, so that an answer tells nothing. */
export class StaticTokens implements TokenAuthenticator {
  readonly #known: readonly { readonly digest: Buffer; readonly user: UserInfo }[];

  constructor(tokens: readonly StaticToken[]) {
    this.#known = tokens.map(({ token, user }) => ({
      digest: digest(token),
      user: { ...user, groups: withAuthenticated(user.groups) },
    }));
  }

  userOf(token: string): UserInfo | undefined {
    const asked = digest(token);
    return this.#known.filter((known) => timingSafeEqual(known.digest, asked))[0]?.user;
  }
}

import type { Clock } from '../../../base/clock.ts';

/** Whoever reads images must say who he is. */
export interface RegistryLogin {
  /** With `bearer` there is a token server at `/token`. */
  readonly scheme: 'basic' | 'bearer';
  readonly username: string;
  readonly password: string;
}

const TOKEN_LIFE_SECONDS = 300;
/** The oldest goes when there are more. */
const MOST_TOKENS = 1000;

interface IssuedToken {
  readonly scope: string;
  readonly untilMs: number;
}

/** The doorkeeper of a registry; without a login everybody may read. */
export class RegistryDoor {
  readonly #login: RegistryLogin | undefined;
  readonly #clock: Clock;
  readonly #tokens = new Map<string, IssuedToken>();

  constructor(login: RegistryLogin | undefined, clock: Clock) {
    this.#login = login;
    this.#clock = clock;
  }

  get hasTokens(): boolean {
    return this.#login?.scheme === 'bearer';
  }

  /** Whether the header opens the repository. */
  isOpen(authorization: string | undefined, repository: string): boolean {
    if (this.#login === undefined) return true;
    if (this.#login.scheme === 'basic') return this.#isUser(authorization);
    const [, name = ''] = /^Bearer (.+)$/.exec(authorization ?? '') ?? [];
    const token = this.#tokens.get(name);
    const isGood = token !== undefined && token.untilMs > this.#clock.monotonicMs();
    return isGood && (repository === '' || token.scope === scopeOf(repository));
  }

  /** What a client that is not let in is told. */
  challenge({ origin, host }: URL, repository: string): string {
    if (this.#login?.scheme !== 'bearer') return 'Basic realm="slipway lab"';
    const scope = repository === '' ? '' : `,scope="${scopeOf(repository)}"`;
    return `Bearer realm="${origin}/token",service="${host}"${scope}`;
  }

  /** Undefined for strangers. */
  token(authorization: string | undefined, scope: string): { token: string; expires_in: number } | undefined {
    if (!this.#isUser(authorization)) return undefined;
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size >= MOST_TOKENS && oldest !== undefined) this.#tokens.delete(oldest);
    const token = this.#clock.uuid();
    this.#tokens.set(token, { scope, untilMs: this.#clock.monotonicMs() + TOKEN_LIFE_SECONDS * 1000 });
    return { token, expires_in: TOKEN_LIFE_SECONDS };
  }

  #isUser(authorization: string | undefined): boolean {
    const { username = '', password = '' } = this.#login ?? {};
    return authorization === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }
}

const scopeOf = (repository: string): string => `repository:${repository}:pull`;

import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { isRecord } from '../object/record.ts';
import { type AuthChallenge, parseAuthChallenges } from './auth-challenge.ts';
import { bytesOf } from './bounded-bytes.ts';
import { abandon, type HttpExchange, hostOf } from './http-exchange.ts';
import { registryUnauthorized, registryUnavailable } from './registry-failure.ts';

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

/** Who asks where for what. */
export interface AuthorizationScope {
  /** `https://host:port`. */
  readonly origin: string;
  readonly repository: string;
  /** Undefined: nobody in particular. */
  readonly credentials?: RegistryCredentials;
}

interface Kept {
  readonly header: string;
  readonly untilMs: number;
}

/** One per repository and user; the oldest goes when there are more. */
const MOST_KEPT = 256;
const LONGEST_TOKEN_ANSWER = 1024 * 1024;
/** What the token specification of the distribution project says for answers without `expires_in`. */
const USUAL_LIFE_SECONDS = 60;
/** A token is not used in its last moments: it must still be good when it arrives. */
const MARGIN_MS = 10_000;

/** The `Authorization` headers that registries want, Basic or Bearer, kept as long as they are good. */
export class RegistryAuthorization {
  readonly #exchange: HttpExchange;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(exchange: HttpExchange, clock: Clock) {
    this.#exchange = exchange;
    this.#clock = clock;
  }

  /** The header that was good last time. */
  known(scope: AuthorizationScope): string | undefined {
    const kept = this.#kept.get(keyOf(scope));
    return kept !== undefined && kept.untilMs > this.#clock.monotonicMs() ? kept.header : undefined;
  }

  /**
   * The header that answers a challenge; undefined when nothing we have answers it. Rejects with `RegistryUnauthorized`
   * when the token server refuses, and with `RegistryUnavailable` when it does not work.
   */
  async answering(header: string, scope: AuthorizationScope, signal?: AbortSignal): Promise<string | undefined> {
    const challenges = parseAuthChallenges(header);
    const bearer = challenges.find(({ scheme, parameters }) => scheme === 'bearer' && 'realm' in parameters);
    this.#kept.delete(keyOf(scope));
    if (bearer !== undefined) return await this.#token(bearer, scope, signal);
    const { credentials } = scope;
    if (credentials === undefined || !challenges.some(({ scheme }) => scheme === 'basic')) return undefined;
    return this.#keep(scope, basic(credentials), Number.POSITIVE_INFINITY);
  }

  async #token(challenge: AuthChallenge, scope: AuthorizationScope, signal?: AbortSignal): Promise<string> {
    const url = tokenUrl(challenge, scope);
    const { credentials, repository } = scope;
    const answer = await this.#exchange.call({
      method: 'GET',
      url,
      headers: credentials === undefined ? {} : { authorization: basic(credentials) },
      ...(signal !== undefined && { signal }),
    });
    if (answer.status !== 200) {
      await abandon(answer);
      const who = credentials === undefined ? 'nobody in particular' : 'the user of the pull secret';
      const found = `the token server ${hostOf(url)} answered ${answer.status} to ${who} for ${repository}`;
      if (answer.status < 400 || answer.status >= 500) throw registryUnavailable(`${found}; try again later`);
      throw registryUnauthorized(`${found}; check the entry of the registry in the pull secret`);
    }
    const text = new TextDecoder().decode(
      await bytesOf(answer.body, LONGEST_TOKEN_ANSWER, 'the answer with the token'),
    );
    const { token, lifeSeconds } = tokenIn(text, hostOf(url));
    return this.#keep(scope, `Bearer ${token}`, this.#clock.monotonicMs() + lifeSeconds * 1000 - MARGIN_MS);
  }

  #keep(scope: AuthorizationScope, header: string, untilMs: number): string {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(keyOf(scope), { header, untilMs });
    return header;
  }
}

const basic = ({ username, password }: RegistryCredentials): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** Without the password itself: keys live longer than requests. */
function keyOf({ origin, repository, credentials }: AuthorizationScope): string {
  const who = credentials === undefined ? '' : createHash('sha256').update(basic(credentials)).digest('hex');
  return `${origin} ${repository} ${who}`;
}

function tokenUrl({ parameters }: AuthChallenge, { origin, repository }: AuthorizationScope): string {
  const realm = parameters['realm'] ?? '';
  const url = URL.canParse(realm) ? new URL(realm) : undefined;
  // A registry behind TLS that sends us with our password to a place without it is not what it seems.
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && origin.startsWith('http:'));
  if (url === undefined || !isSafe) {
    throw registryUnavailable(
      `${hostOf(origin)} names a token server that is not used: its realm is no https:// address; correct the registry`,
    );
  }
  const { service } = parameters;
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', parameters['scope'] ?? `repository:${repository}:pull`);
  return url.href;
}

function tokenIn(text: string, host: string): { token: string; lifeSeconds: number } {
  const value = parsed(text);
  const token = isRecord(value) ? (value['token'] ?? value['access_token']) : undefined;
  // Whatever it is, it becomes part of a header.
  if (!isRecord(value) || typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw registryUnavailable(`the token server ${host} gave no token: its answer has no "token"; correct it`);
  }
  const life = value['expires_in'];
  return { token, lifeSeconds: typeof life === 'number' && life > 0 ? life : USUAL_LIFE_SECONDS };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import type { Clock } from '../../base/clock.ts';
import { messageOf, retryError, type SlipwayError, userError } from '../../base/errors.ts';
import { redactedText } from '../../base/redaction.ts';
import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { type AuthorizationSource, bearer, tokenProblem } from './credential-parts.ts';
import { askIssuer } from './issuer-request.ts';
import { SharedRun } from './shared-run.ts';

const EXPIRY_MARGIN_MS = 10_000;

/** What changes when an OIDC login is renewed. */
export interface OidcTokens {
  readonly idToken: string;
  readonly refreshToken?: string;
}

/** The `auth-provider` section with name `oidc`, checked. */
export interface OidcConfig {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly idToken?: string;
  readonly refreshToken?: string;
  /** PEM of the authorities of the identity provider. */
  readonly ca?: string;
  readonly clock: Clock;
  /** Gets the new tokens, for whoever wants to write them down; nothing is written otherwise (C5). */
  readonly onTokens?: (tokens: OidcTokens) => Promise<void>;
}

/** When an id token ends, in ms since 1970; undefined when it does not say. A signature is the server's business. */
function idTokenExpiryMs(idToken: string): number | undefined {
  const [, payload = ''] = idToken.split('.');
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Json;
    const expiry = isJsonObject(claims) ? getKey(claims, 'exp') : undefined;
    return typeof expiry === 'number' ? expiry * 1000 : undefined;
  } catch {
    return undefined;
  }
}

/** A login that is renewed at its issuer 10 s before the id token ends, and after a 401 (C5). */
export class OidcProvider implements AuthorizationSource {
  readonly #config: OidcConfig;
  readonly #run = new SharedRun((signal) => this.#renew(signal));
  #idToken: string | undefined;
  #refreshToken: string | undefined;

  constructor(config: OidcConfig) {
    this.#config = config;
    this.#idToken = config.idToken;
    this.#refreshToken = config.refreshToken;
  }

  async authorization(signal?: AbortSignal): Promise<string> {
    const idToken = this.#idToken;
    if (idToken !== undefined && this.#lasts(idToken)) return bearer(idToken);
    return bearer(await this.#run.run(signal));
  }

  /** Without a refresh token there is nothing better than what we have, so it is kept and the server's 401 stands. */
  refresh(refused?: string): void {
    if (this.#refreshToken === undefined || this.#idToken === undefined) return;
    if (refused === undefined || refused === bearer(this.#idToken)) this.#idToken = undefined;
  }

  #lasts(idToken: string): boolean {
    const expiryMs = idTokenExpiryMs(idToken);
    return expiryMs !== undefined && this.#config.clock.now().getTime() + EXPIRY_MARGIN_MS < expiryMs;
  }

  async #renew(signal: AbortSignal): Promise<string> {
    const refreshToken = this.#refreshToken;
    if (refreshToken === undefined) throw this.#noWay();
    const discovery = await this.#discovery(signal);
    const endpoint = this.#tokenEndpoint(discovery);
    const { form, headers } = this.#grant(refreshToken, discovery);
    const { ca, clock } = this.#config;
    const answer = await askIssuer({
      url: endpoint,
      form,
      headers,
      clock,
      signal,
      ...(ca !== undefined && { ca }),
    });
    if (answer.status !== 200) throw this.#refused(answer.status, answer.body);
    return this.#take(answer.body, refreshToken);
  }

  async #discovery(signal: AbortSignal): Promise<JsonObject> {
    const { issuer, ca, clock } = this.#config;
    const url = new URL(`${issuer.href.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const { status, body } = await askIssuer({ url, clock, signal, ...(ca !== undefined && { ca }) });
    if (status === 200) return body;
    throw retryError(
      'IssuerUnreachable',
      `the identity provider answered ${status} to GET ${url.href}; is idp-issuer-url right?`,
    );
  }

  #tokenEndpoint(discovery: JsonObject): URL {
    const text = getKey(discovery, 'token_endpoint');
    const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
    // The refresh token goes there: never over a weaker line than the issuer's own.
    if (url !== undefined && (url.protocol === 'https:' || url.protocol === this.#config.issuer.protocol))
      return url;
    throw retryError(
      'IssuerUnreachable',
      `the identity provider ${this.#config.issuer.href} names no usable token_endpoint (an https URL) in its discovery document`,
    );
  }

  #grant(refreshToken: string, discovery: JsonObject): { form: URLSearchParams; headers: Record<string, string> } {
    const { clientId, clientSecret } = this.#config;
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken });
    if (clientSecret !== undefined && takesBasic(discovery)) {
      const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
      return { form, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
    }
    form.set('client_id', clientId);
    if (clientSecret !== undefined) form.set('client_secret', clientSecret);
    return { form, headers: {} };
  }

  async #take(body: JsonObject, oldRefreshToken: string): Promise<string> {
    const idToken = getKey(body, 'id_token');
    if (typeof idToken !== 'string' || tokenProblem(idToken) !== undefined) {
      throw retryError(
        'OidcRefreshFailed',
        `the identity provider ${this.#config.issuer.href} renewed the login without an id_token; log in again with the scope "openid"`,
      );
    }
    const given = getKey(body, 'refresh_token');
    this.#refreshToken = typeof given === 'string' && given !== '' ? given : oldRefreshToken;
    this.#idToken = idToken;
    // A refresh token may be good only once: what is known here counts even if it cannot be written down.
    await this.#tell({ idToken, refreshToken: this.#refreshToken });
    return idToken;
  }

  /** The request that renewed the login fails, so that somebody hears of it; the next one goes on with the new tokens. */
  async #tell(tokens: OidcTokens): Promise<void> {
    try {
      await this.#config.onTokens?.(tokens);
    } catch (cause) {
      const text = `the renewed OIDC login at ${this.#config.issuer.href} could not be kept: ${messageOf(cause)}`;
      throw retryError('OidcTokensNotKept', text, { cause });
    }
  }

  #noWay(): SlipwayError {
    const expiryMs = this.#idToken === undefined ? undefined : idTokenExpiryMs(this.#idToken);
    const state = expiryMs === undefined ? 'is missing' : `expired on ${new Date(expiryMs).toISOString()}`;
    return userError(
      'OidcLoginExpired',
      `the id-token of the OIDC login at ${this.#config.issuer.href} ${state} and there is no refresh-token; log in again`,
    );
  }

  #refused(status: number, body: JsonObject): SlipwayError {
    const code = getKey(body, 'error');
    const detail = getKey(body, 'error_description');
    const said = [code, detail].filter((part) => typeof part === 'string').join(': ');
    const text = `the identity provider ${this.#config.issuer.href} did not renew the login: ${status} ${redactedText(said)}`;
    return code === 'invalid_grant'
      ? userError('OidcLoginExpired', `${text}; log in again`)
      : retryError('OidcRefreshFailed', text);
  }
}

/** Unless the document says otherwise, a secret goes as basic authentication (RFC 8414). */
function takesBasic(discovery: JsonObject): boolean {
  const methods = getKey(discovery, 'token_endpoint_auth_methods_supported');
  return !Array.isArray(methods) || methods.includes('client_secret_basic');
}

// The API of the cloud, and the only file that knows how its requests look: put calls of your own cloud here. Everything
// else of this project works with what this file exports. As it stands, it speaks to the cloud of Slipway's lab.
import { type Clock, ProviderError, type ProviderErrorKind } from 'slipway/sdk';
import type { Settings } from './settings.ts';

export interface Instance {
  readonly id: string;
  readonly name: string;
  readonly zone: string;
  readonly type: string;
  readonly state: string;
  readonly hostname: string;
  readonly privateAddress: string;
  readonly publicAddress: string;
}

export interface BalancerSpec {
  readonly scheme: 'public' | 'internal';
  readonly listeners: readonly { readonly port: number; readonly targetPort: number }[];
  readonly targets: readonly { readonly instanceId: string }[];
  readonly sourceRanges: readonly string[];
  readonly healthCheck: {
    readonly protocol: 'tcp' | 'http';
    readonly intervalSeconds: number;
    readonly port?: number;
    readonly path?: string;
  };
}

/** What is not named stays as it is; null takes it away. */
export interface BalancerChange extends Omit<BalancerSpec, 'scheme' | 'healthCheck'> {
  readonly healthCheck: Omit<BalancerSpec['healthCheck'], 'port'> & { readonly port: number | null };
}

export interface Balancer extends BalancerSpec {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly tags: Tags;
  /** There as soon as it is active. */
  readonly address?: string;
}

export interface Zone {
  readonly name: string;
  readonly available: boolean;
}

type Tags = Readonly<Record<string, string>>;

interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly token?: string;
  readonly signal: AbortSignal;
}

/** What the cloud says, as the kinds of error that every part of Slipway knows. */
const ERRORS: Readonly<Record<string, ProviderErrorKind>> = {
  InvalidArgument: 'invalid',
  UnknownField: 'invalid',
  Unauthenticated: 'unauthenticated',
  TokenExpired: 'unauthenticated',
  Forbidden: 'denied',
  NotFound: 'not-found',
  AlreadyExists: 'conflict',
  IncorrectState: 'conflict',
  IdempotencyMismatch: 'conflict',
  PreconditionFailed: 'conflict',
  InUse: 'in-use',
  QuotaExceeded: 'quota',
  InsufficientCapacity: 'no-capacity',
  RateLimited: 'throttled',
  Internal: 'unavailable',
  Unavailable: 'unavailable',
};

/** Time before its end at which a token is not used any more. */
const TOKEN_MARGIN_MS = 60_000;

/** One client per program; it keeps a token and nothing else. */
export class AcmeCloudClient {
  readonly region: string;
  /** On everything of this cluster: an account may hold machines of others, with the same names. */
  readonly clusterTags: Tags;
  readonly #settings: Settings;
  readonly #clock: Clock;
  #token: { readonly text: string; readonly endsMs: number } | undefined;

  constructor(settings: Settings, clock: Clock) {
    this.region = settings.region;
    this.clusterTags = { [`kubernetes.io/cluster/${settings.clusterId}`]: 'owned' };
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Those with the tags that are not terminated. */
  instances(tags: Tags, signal: AbortSignal): Promise<readonly Instance[]> {
    return this.#list<Instance>('/v1/instances', tags, signal);
  }

  /** Undefined when the cloud says that it has none of that id. */
  instance(id: string, signal: AbortSignal): Promise<Instance | undefined> {
    return this.#find<Instance>(`/v1/instances/${encodeURIComponent(id)}`, signal);
  }

  zones(signal: AbortSignal): Promise<readonly Zone[]> {
    return this.#list<Zone>('/v1/zones', {}, signal);
  }

  /** Names of balancers are unique in this cloud. */
  async balancer(name: string, signal: AbortSignal): Promise<Balancer | undefined> {
    const path = `/v1/load-balancers?name=${encodeURIComponent(name)}`;
    const [found] = await this.#list<Balancer>(path, {}, signal);
    return found;
  }

  /**
   * A repetition makes no second one, because its name is taken. A cloud whose names are not unique takes the
   * `idempotencyToken` of the plan instead.
   */
  createBalancer(
    name: string,
    { spec, tags }: { readonly spec: BalancerSpec; readonly tags: Tags },
    signal: AbortSignal,
  ): Promise<Balancer> {
    const body = { name, tags, ...spec };
    return this.#ask<Balancer>({ method: 'POST', path: '/v1/load-balancers', body, signal });
  }

  updateBalancer(id: string, change: Partial<BalancerChange>, signal: AbortSignal): Promise<Balancer> {
    return this.#ask<Balancer>({ method: 'PATCH', path: `/v1/load-balancers/${id}`, body: change, signal });
  }

  /** Succeeds when it is gone already. */
  async deleteBalancer(id: string, signal: AbortSignal): Promise<void> {
    await this.#orAbsent(this.#ask({ method: 'DELETE', path: `/v1/load-balancers/${id}`, signal }));
  }

  async #list<Item>(path: string, tags: Tags, signal: AbortSignal): Promise<readonly Item[]> {
    const url = new URL(path, 'http://any');
    for (const [key, value] of Object.entries(tags)) url.searchParams.set(`tag.${key}`, value);
    const items: Item[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      if (next !== '') url.searchParams.set('pageToken', next);
      const page: { items: readonly Item[]; nextPageToken?: string } = await this.#ask({
        method: 'GET',
        path: `${url.pathname}${url.search}`,
        signal,
      });
      items.push(...page.items);
      next = page.nextPageToken;
    }
    return items;
  }

  #find<Item>(path: string, signal: AbortSignal): Promise<Item | undefined> {
    return this.#orAbsent(this.#ask<Item>({ method: 'GET', path, signal }));
  }

  async #orAbsent<Item>(asking: Promise<Item>): Promise<Item | undefined> {
    try {
      return await asking;
    } catch (error) {
      if (error instanceof ProviderError && error.kind === 'not-found') return undefined;
      throw error;
    }
  }

  /** Once more with a new token when the old one is not good any more. */
  async #ask<Answer>(request: Request): Promise<Answer> {
    try {
      return await this.#send<Answer>({ ...request, token: await this.#tokenText(request.signal) });
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind !== 'unauthenticated') throw error;
      this.#token = undefined;
      return this.#send<Answer>({ ...request, token: await this.#tokenText(request.signal) });
    }
  }

  async #tokenText(signal: AbortSignal): Promise<string> {
    const { clientId, clientSecret } = this.#settings;
    if (this.#token !== undefined && this.#clock.now().getTime() < this.#token.endsMs) return this.#token.text;
    const body = { clientId, clientSecret };
    const made = await this.#send<{ token: string; expiresAt: string }>({
      method: 'POST',
      path: '/v1/tokens',
      body,
      signal,
    });
    this.#token = { text: made.token, endsMs: Date.parse(made.expiresAt) - TOKEN_MARGIN_MS };
    return made.token;
  }

  async #send<Answer>({ method, path, body, token, signal }: Request): Promise<Answer> {
    const headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    let response: Response;
    let text: string;
    try {
      response = await fetch(new URL(path, this.#settings.endpoint), { method, headers, signal, ...sent });
      text = await response.text();
    } catch (cause) {
      signal.throwIfAborted();
      // Whether a change was made nobody knows: the next call looks before it acts.
      const kind = method === 'GET' ? 'unavailable' : 'uncertain';
      throw new ProviderError(kind, `${method} ${path}: the cloud did not answer`, { cause });
    }
    if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer;
    throw refusal(`${method} ${path}`, response, text);
  }
}

function refusal(what: string, { status, headers }: Response, text: string): ProviderError {
  const { code, message } = errorOf(text);
  const kind = ERRORS[code] ?? (status >= 500 ? 'unavailable' : 'unknown');
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const later = Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {};
  return new ProviderError(kind, `${what} was answered with ${status} ${code}: ${message}`, later);
}

function errorOf(text: string): { readonly code: string; readonly message: string } {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return { code: error.code, message: error.message };
  } catch {
    return { code: 'Unreadable', message: 'the answer is no error of this cloud' };
  }
}

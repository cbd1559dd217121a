import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import type { Tags } from '../../sdk/capabilities/call.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { FreshBalancers } from './fresh-balancers.ts';
import type { LabConfig } from './lab-config.ts';
import { isCode, isGone } from './lab-errors.ts';
import { exchange, type LabRequest } from './lab-http.ts';
import { type LabZone, tokenSchema, zoneSchema } from './lab-objects.ts';
import { type IssuedToken, TokenSource } from './token-source.ts';

export type LabKind = 'instances' | 'load-balancers' | 'routes' | 'zones';

export interface ListFilter {
  readonly name?: string;
  readonly tags?: Tags;
}

export interface LabClientOptions {
  readonly config: LabConfig;
  readonly clock: Clock;
}

/** Pages of a hundred: more is a list that never ends. */
const MOST_PAGES = 1000;

/** What things of a cluster carry, and by which its machines are found. */
export const clusterKey = (clusterId: string): string => `kubernetes.io/cluster/${clusterId}`;

/** The HTTP API of a lab cloud (lab/C1–C7). What it throws is a ProviderError, or the reason of the signal. */
export class LabClient {
  readonly clock: Clock;
  /** Of the cluster that this client works for; empty when it has no identifier. */
  readonly clusterTags: Tags;
  readonly freshBalancers: FreshBalancers;
  readonly #config: LabConfig;
  readonly #tokens: TokenSource;
  /** By zone: a zone never changes its region, and there are few. */
  readonly #regions = new Map<string, string>();

  constructor({ config, clock }: LabClientOptions) {
    const { clusterId } = config;
    this.#config = config;
    this.clock = clock;
    this.clusterTags = clusterId === undefined ? {} : { [clusterKey(clusterId)]: 'owned' };
    this.freshBalancers = new FreshBalancers(clock);
    this.#tokens = new TokenSource(clock, (signal) => this.#issue(signal));
  }

  /** Whether something carries the tag of this cluster, whatever its value. */
  isOurs({ tags }: { readonly tags: Tags }): boolean {
    const keys = Object.keys(this.clusterTags);
    return keys.length > 0 && keys.every((key) => Object.hasOwn(tags, key));
  }

  async get<T>(kind: LabKind, id: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    return await this.#send({ method: 'GET', path: itemPath(kind, id) }, schema, signal);
  }

  /** All pages. */
  async list<T>(
    kind: LabKind,
    filter: ListFilter,
    schema: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<readonly T[]> {
    const page = z.object({ items: z.array(schema), nextPageToken: z.string().min(1).optional() });
    const items: T[] = [];
    let next: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const request: LabRequest = { method: 'GET', path: `/v1/${kind}`, query: queryOf(filter, next) };
      const answer = await this.#send(request, page, signal);
      items.push(...answer.items);
      next = answer.nextPageToken;
      if (next === undefined) return items;
    }
    throw new ProviderError('unknown', `GET /v1/${kind}: the list does not end after ${MOST_PAGES} pages`);
  }

  async create<T>(
    kind: LabKind,
    { body, key }: { readonly body: unknown; readonly key?: string },
    schema: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const keyed = key === undefined ? {} : { idempotencyKey: key };
    return await this.#send({ method: 'POST', path: `/v1/${kind}`, body, ...keyed }, schema, signal);
  }

  /** A change, which always acts on the truth; what it is then. */
  async change<T>(
    { kind, id, body }: { readonly kind: LabKind; readonly id: string; readonly body: unknown },
    schema: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<T> {
    return await this.#send({ method: 'PATCH', path: itemPath(kind, id), body }, schema, signal);
  }

  /** What is true now, though reads may lag behind (lab/C7): a change of nothing. Undefined when it is gone. */
  async truth<T>(kind: LabKind, id: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T | undefined> {
    return await unlessGone(this.change({ kind, id, body: {} }, schema, signal));
  }

  /** Whether there was something to delete; what is deleted may take its time. */
  async delete(kind: LabKind, id: string, signal: AbortSignal): Promise<boolean> {
    const request: LabRequest = { method: 'DELETE', path: itemPath(kind, id) };
    return (await unlessGone(this.#send(request, z.object({ id: z.string() }), signal))) !== undefined;
  }

  async zones(signal: AbortSignal): Promise<readonly LabZone[]> {
    const { region } = this.#config;
    const zones = await this.list('zones', {}, zoneSchema, signal);
    return zones.map((zone) => ({ ...zone, region: region ?? zone.region }));
  }

  async regionOf(zone: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#config.region !== undefined) return this.#config.region;
    if (!this.#regions.has(zone))
      for (const { name, region } of await this.zones(signal)) this.#regions.set(name, region);
    return this.#regions.get(zone);
  }

  close(): void {
    this.#tokens.close();
  }

  async #send<T>(request: LabRequest, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    const { endpoint } = this.#config;
    const first = await this.#tokens.current(signal);
    try {
      return await exchange(endpoint, request, { token: first, schema, signal });
    } catch (error) {
      if (!isCode(error, 'TokenExpired') && !isCode(error, 'Unauthenticated')) throw error;
      this.#tokens.forget(first);
      // Nothing has happened. Only once: a second refusal has another cause than time.
      if (error.code !== 'TokenExpired') throw error;
    }
    return await exchange(endpoint, request, { token: await this.#tokens.current(signal), schema, signal });
  }

  async #issue(signal: AbortSignal): Promise<IssuedToken> {
    const { endpoint, clientId, clientSecret } = this.#config;
    const request: LabRequest = { method: 'POST', path: '/v1/tokens', body: { clientId, clientSecret } };
    try {
      const { token, expiresAt } = await exchange(endpoint, request, { schema: tokenSchema, signal });
      return { token, expiresAt: new Date(expiresAt) };
    } catch (error) {
      // A token that nobody received has changed nothing.
      if (!(error instanceof ProviderError) || error.kind !== 'uncertain') throw error;
      throw new ProviderError('unavailable', 'POST /v1/tokens: the cloud does not answer', { cause: error });
    }
  }
}

const itemPath = (kind: LabKind, id: string): string => `/v1/${kind}/${encodeURIComponent(id)}`;

function queryOf({ name, tags = {} }: ListFilter, pageToken: string | undefined): URLSearchParams {
  const query = new URLSearchParams();
  if (name !== undefined) query.set('name', name);
  for (const [key, value] of Object.entries(tags)) query.set(`tag.${key}`, value);
  if (pageToken !== undefined) query.set('pageToken', pageToken);
  return query;
}

async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { isJsonObject, type JsonObject } from '../../../object/json.ts';
import type { Caller, Credentials } from '../access/credentials.ts';
import type { Tokens } from '../access/tokens.ts';
import { CloudError, invalidArgument, notFound } from '../cloud-error.ts';
import { faultAnswer } from '../faults/fault.ts';
import type { FaultedOutcome, FaultTable } from '../faults/fault-table.ts';
import type { Journal, JournalEntry } from '../faults/journal.ts';
import type { CloudCore } from '../resources/cloud-core.ts';
import { checked } from '../resources/request-schema.ts';
import type { ResourceRecord, Tags } from '../resources/resource-record.ts';
import { Admission } from './admission.ts';
import type { CloudAnswer } from './cloud-answer.ts';
import { errorAnswer, internalError } from './error-answer.ts';
import { Idempotency, type IdempotentRequest, LONGEST_KEY } from './idempotency.ts';
import { bodyStream, ClientLost, jsonBody } from './incoming-body.ts';
import type { LabDesk } from './lab-desk.ts';
import type { RateLimits } from './rate-limits.ts';
import { type Route, routeOf } from './route.ts';
import { VerbDispatch } from './verb-dispatch.ts';

export interface CloudApiOptions {
  readonly core: CloudCore;
  readonly tokens: Tokens;
  readonly credentials: Credentials;
  readonly faults: FaultTable;
  readonly journal: Journal;
  readonly rates: RateLimits;
  readonly desk: LabDesk;
  /** Lab time. */
  readonly clock: Clock;
  readonly real: Clock;
  readonly log: Log;
  readonly hold: (reason: string) => Disposable;
  /** Of this life of the cloud, so that no two requests ever have the same identifier. */
  readonly life: number;
}

/** What becomes of a connection after a request. */
export interface Reply {
  readonly requestId: string;
  /** Undefined: the connection is cut without a word. */
  readonly answer: CloudAnswer | undefined;
  /** Only a part of it is sent, then the connection is cut. */
  readonly isTruncated: boolean;
}

interface Exchange {
  readonly message: IncomingMessage;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly note: (more: Partial<JournalEntry>) => void;
  /** Let go while the request only waits for time. */
  hold: Disposable;
}

const tokenSchema = z.strictObject({
  clientId: z.string().max(64),
  clientSecret: z.string().max(256),
  scope: z.string().max(1024).optional(),
});

/** Everything between a request and its answer: who asks, how often, what goes wrong on purpose, and what is done. */
export class CloudApi {
  readonly #options: CloudApiOptions;
  readonly #idempotency = new Idempotency();
  readonly #verbs: VerbDispatch;
  readonly #admission: Admission;
  #requests = 0;

  constructor(options: CloudApiOptions) {
    this.#options = options;
    this.#verbs = new VerbDispatch(options.core, this.#idempotency);
    this.#admission = new Admission({ ...options, state: options.core.state });
  }

  /** Never rejects. `signal` aborts when the client has gone. */
  async serve(message: IncomingMessage, signal: AbortSignal): Promise<Reply> {
    const exchange = this.#begin(message, signal);
    const { requestId, note } = exchange;
    try {
      const { answer, isTruncated } = await this.#reply(exchange);
      note(
        answer === undefined ? { isCut: true } : { status: answer.status, ...(isTruncated && { isCut: true }) },
      );
      return { requestId, answer, isTruncated };
    } catch (error) {
      return { requestId, answer: this.#failure(error, exchange), isTruncated: false };
    } finally {
      exchange.hold[Symbol.dispose]();
    }
  }

  #begin(message: IncomingMessage, signal: AbortSignal): Exchange {
    const { journal, clock, hold, life } = this.#options;
    const { method = 'GET', url = '/', headers } = message;
    const [path = '/', ...search] = url.split('?');
    const query = new URLSearchParams(search.join('?'));
    const requestId = `req-${life}-${++this.#requests}`;
    const key = headers['idempotency-key'];
    const note = journal.begin({
      requestId,
      at: clock.now().toISOString(),
      method,
      path,
      ...(query.size > 0 && !query.has('signature') && { query: query.toString() }),
      ...(typeof key === 'string' && { idempotencyKey: key.slice(0, LONGEST_KEY) }),
    });
    return { message, method, path, query, requestId, signal, note, hold: hold(`${method} ${path}`) };
  }

  async #reply(exchange: Exchange): Promise<Pick<Reply, 'answer' | 'isTruncated'>> {
    const { message, note } = exchange;
    const route = this.#route(exchange);
    if ('kind' in route) note({ kind: route.kind.plural });
    const caller = this.#admission.admitted(route, exchange);
    const isRaw = route.to === 'subresource' && route.sub.declared.isRaw === true;
    const body = isRaw ? undefined : await jsonBody(message, this.#options.real);
    const idempotent = this.#idempotent(route, exchange, caller, body);
    using _running = idempotent && this.#idempotency.begin(idempotent);
    const faulted = this.#faulted(route, exchange, body);
    return await this.#underFault(exchange, faulted, () => {
      if (route.to === 'tokens') return Promise.resolve(this.#token(body ?? {}, exchange));
      return this.#served({ route, exchange, caller, body, idempotent, faulted });
    });
  }

  /** Strangers do not learn what there is. */
  #route({ method, path, message }: Exchange): Route {
    try {
      return routeOf(method, path, this.#options.core.kinds);
    } catch (error) {
      this.#admission.known(message);
      throw error;
    }
  }

  #idempotent(
    route: Route,
    { message, method, path }: Exchange,
    caller: Caller | undefined,
    body: JsonObject | undefined,
  ): IdempotentRequest | undefined {
    const key = message.headers['idempotency-key'];
    const isMeant = method === 'POST' && (route.to === 'collection' || route.to === 'item');
    if (typeof key !== 'string' || caller === undefined || !isMeant) return undefined;
    if (key.length === 0 || key.length > LONGEST_KEY)
      throw invalidArgument('Idempotency-Key', `Idempotency-Key: must have 1 to ${LONGEST_KEY} characters`);
    return { clientId: caller.clientId, key, path, body };
  }

  #faulted(route: Route, { method, path, note }: Exchange, body: JsonObject | undefined): FaultedOutcome {
    if (route.to === 'lab') return { effect: {}, names: [], stuckBy: undefined };
    const target =
      'id' in route && 'kind' in route ? this.#options.core.state.get(route.kind, route.id) : undefined;
    const kind = 'kind' in route ? route.kind.plural : route.to;
    const faulted = this.#options.faults.outcome({ method, path, kind, tags: tagsOf(body, target) });
    if (faulted.names.length > 0) note({ faults: faulted.names });
    return faulted;
  }

  /** Does what the faults leave to be done. */
  async #underFault(
    exchange: Exchange,
    { effect, names }: FaultedOutcome,
    work: () => Promise<CloudAnswer>,
  ): Promise<Pick<Reply, 'answer' | 'isTruncated'>> {
    const { delayMs = 0, hang, dropAfter, truncate = false } = effect;
    if (delayMs > 0) await this.#wait(exchange, this.#options.clock.sleep(delayMs, exchange.signal));
    if (hang === true) await this.#wait(exchange, aborted(exchange.signal));
    if (dropAfter === 'request' || hang === true) return { answer: undefined, isTruncated: false };
    const instead = faultAnswer(effect);
    if (instead !== undefined) {
      const seconds = instead.status === 429 ? { retryAfterSeconds: 1 } : {};
      const error = new CloudError(instead.code, `on purpose: fault ${names.join(', ')}`, seconds);
      exchange.note({ code: instead.code });
      return { answer: errorAnswer(error, exchange.requestId, instead.status), isTruncated: truncate };
    }
    if (dropAfter === undefined) return { answer: await work(), isTruncated: truncate };
    // Whether it worked or not, the client does not learn it.
    await work().catch((error: unknown) => this.#failure(error, exchange));
    return { answer: undefined, isTruncated: false };
  }

  /** Lab time may pass meanwhile. Rejects when the client leaves. */
  async #wait(exchange: Exchange, waiting: Promise<void>): Promise<void> {
    exchange.hold[Symbol.dispose]();
    try {
      await waiting;
    } catch {
      throw new ClientLost('the client has gone');
    } finally {
      exchange.hold = this.#options.hold(`${exchange.method} ${exchange.path}`);
    }
  }

  #token(body: JsonObject, { note }: Exchange): CloudAnswer {
    const { tokens, rates } = this.#options;
    const { clientId, clientSecret, scope } = checked(tokenSchema, body);
    const issued = tokens.issue(clientId, clientSecret, scope);
    note({ credential: clientId });
    rates.take(clientId, 'write');
    return { status: 201, body: { ...issued } };
  }

  async #served({ route, exchange, caller, body, idempotent, faulted }: Served): Promise<CloudAnswer> {
    const { message, method, query } = exchange;
    if (route.to === 'lab') return await this.#options.desk.answer({ ...route, method, query, body: body ?? {} });
    if (route.to === 'subresource') return await this.#subresource(route, exchange, { body, caller });
    const ifMatch = message.headers['if-match'];
    const isConsistent = message.headers['lab-consistent'] === 'true';
    const asked = { body: body ?? {}, query, ifMatch, isConsistent, faulted, idempotent };
    return await this.#verbs.answer(route, asked);
  }

  async #subresource(
    { kind, id, sub }: Extract<Route, { to: 'subresource' }>,
    { message, method, query, signal }: Exchange,
    { body, caller }: Pick<Served, 'body' | 'caller'>,
  ): Promise<CloudAnswer> {
    const { core, real } = this.#options;
    const record = core.state.get(kind, id);
    if (record === undefined) throw notFound(`${kind.singular} ${id}`);
    const { declared, rest } = sub;
    const [headers, stream] = [headersOf(message), bodyStream(message, real)];
    return await declared.serve(record, {
      id,
      method,
      rest,
      query,
      headers,
      body,
      stream,
      // Nobody gets here without being known.
      caller: caller ?? { clientId: '', epoch: 0, scopes: [] },
      signal,
    });
  }

  #failure(error: unknown, { requestId, note, method, path, signal }: Exchange): CloudAnswer | undefined {
    // Work that was given up because nobody waits for it is no mistake.
    if (error instanceof ClientLost || (signal.aborted && !(error instanceof CloudError))) {
      note({ isCut: true });
      return undefined;
    }
    const told = error instanceof CloudError ? error : internalError(error);
    if (told.status >= 500) this.#options.log.error({ err: told.cause ?? told, method, path }, 'Request failed');
    note({ status: told.status, code: told.code });
    return errorAnswer(told, requestId);
  }
}

interface Served {
  readonly route: Exclude<Route, { to: 'tokens' }>;
  readonly exchange: Exchange;
  readonly caller: Caller | undefined;
  readonly body: JsonObject | undefined;
  readonly idempotent: IdempotentRequest | undefined;
  readonly faulted: FaultedOutcome;
}

const headersOf = ({ headers }: IncomingMessage): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** Of the object that is meant, or the ones it shall have. */
function tagsOf(body: JsonObject | undefined, target: ResourceRecord | undefined): Tags {
  const wanted = isJsonObject(body?.['tags']) ? Object.entries(body['tags']) : [];
  const texts = wanted.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { ...target?.tags, ...Object.fromEntries(texts) };
}

/** Rejects when the signal aborts, and does nothing else. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

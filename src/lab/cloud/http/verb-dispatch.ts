import type { JsonObject } from '../../../object/json.ts';
import { notFound } from '../cloud-error.ts';
import { staleMs } from '../faults/fault.ts';
import type { FaultedOutcome } from '../faults/fault-table.ts';
import type { CloudCore } from '../resources/cloud-core.ts';
import { listQuery, pageOf } from '../resources/listing.ts';
import { OPERATIONS, operationView } from '../resources/operation.ts';
import type { DefinedKind } from '../resources/resource-kind.ts';
import {
  actOnResource,
  createResource,
  deleteResource,
  objectAnswer,
  updateResource,
} from '../resources/resource-verbs.ts';
import { resourceView } from '../resources/resource-view.ts';
import type { LiveTransaction } from '../state/live-transaction.ts';
import type { CloudAnswer } from './cloud-answer.ts';
import type { Idempotency, IdempotentRequest } from './idempotency.ts';
import type { ItemVerb, Route } from './route.ts';

/** A request that may be served: who asks is known, and allowed to. */
export interface DispatchedRequest {
  readonly body: JsonObject;
  readonly query: URLSearchParams;
  readonly ifMatch: string | undefined;
  /** Reads are not stale (C7). */
  readonly isConsistent: boolean;
  readonly faulted: FaultedOutcome;
  readonly idempotent: IdempotentRequest | undefined;
}

type ObjectRoute = Extract<Route, { to: 'collection' | 'item' | 'resources' | 'operation' }>;
type ItemRoute = Extract<Route, { to: 'item' }>;

/** Serves what is about objects. */
export class VerbDispatch {
  readonly #core: CloudCore;
  readonly #idempotency: Idempotency;

  constructor(core: CloudCore, idempotency: Idempotency) {
    this.#core = core;
    this.#idempotency = idempotency;
  }

  async answer(route: ObjectRoute, request: DispatchedRequest): Promise<CloudAnswer> {
    switch (route.to) {
      case 'resources':
        return this.#resources(request);
      case 'operation':
        return this.#operation(route.id);
      case 'collection':
        return route.verb === 'list'
          ? this.#list(route.kind, request)
          : await this.#write(request, (transaction) => createResource(route.kind, request.body, transaction));
      case 'item':
        return await this.#item(route, request);
    }
  }

  #list(kind: DefinedKind, request: DispatchedRequest): CloudAnswer {
    const { state } = this.#core;
    const page = pageOf(state.listEarlier(kind, this.#lagMs(kind, request)), listQuery(request.query));
    const items = page.records.map((record) => resourceView(kind, record, state.now));
    return { status: 200, body: { items, ...nextOf(page.nextPageToken) } };
  }

  /** Across kinds, for those who want to find everything that carries a tag (C6). */
  #resources(request: DispatchedRequest): CloudAnswer {
    const { state, kinds } = this.#core;
    const all = kinds.all.flatMap((kind) => state.listEarlier(kind, this.#lagMs(kind, request)));
    const ordered = all.toSorted((a, b) => a.serial - b.serial);
    const page = pageOf(ordered, listQuery(request.query));
    const items = page.records.map((record) => ({
      kind: record.kind,
      ...resourceView(kinds.demand(record.kind), record, state.now),
    }));
    return { status: 200, body: { items, ...nextOf(page.nextPageToken) } };
  }

  #operation(id: string): CloudAnswer {
    const { state } = this.#core;
    const operation = state.peek(OPERATIONS, id);
    if (operation === undefined) throw notFound(`operation ${id}`);
    const target = state.get({ plural: operation.kind }, operation.targetId);
    return { status: 200, body: operationView(operation, target, state.now) };
  }

  async #item({ kind, id, verb }: ItemRoute, request: DispatchedRequest): Promise<CloudAnswer> {
    if (verb === 'get') return this.#get(kind, id, request);
    const { body, ifMatch } = request;
    return await this.#write(request, (transaction) => WRITES[verb]({ kind, id, body, ifMatch }, transaction));
  }

  #get(kind: DefinedKind, id: string, request: DispatchedRequest): CloudAnswer {
    const { state } = this.#core;
    const record = state.getEarlier(kind, id, this.#lagMs(kind, request));
    if (record === undefined) throw notFound(`${kind.singular} ${id}`);
    return objectAnswer(200, kind, record, state.now);
  }

  #lagMs({ plural }: DefinedKind, { isConsistent, faulted }: DispatchedRequest): number {
    return isConsistent ? 0 : Math.max(this.#core.kinds.windowMs(plural), staleMs(faulted.effect));
  }

  /** One transaction: the change, and the answer for repeats. */
  async #write(
    { idempotent, faulted }: DispatchedRequest,
    verb: (transaction: LiveTransaction) => CloudAnswer,
  ): Promise<CloudAnswer> {
    return await this.#core.transact((transaction) => {
      if (idempotent === undefined) return verb(transaction);
      const known = this.#idempotency.known(idempotent, transaction);
      if (known !== undefined) return known;
      const answer = verb(transaction);
      this.#idempotency.keep(idempotent, answer, transaction);
      return answer;
    }, faulted.stuckBy);
  }
}

const WRITES = {
  update: updateResource,
  delete: deleteResource,
  act: actOnResource,
} satisfies Record<Exclude<ItemVerb, 'get'>, unknown>;

const nextOf = (nextPageToken: string | undefined) => (nextPageToken === undefined ? {} : { nextPageToken });

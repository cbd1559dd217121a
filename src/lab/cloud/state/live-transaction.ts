import { CloudError, notFound } from '../cloud-error.ts';
import { type KindCatalogue, usageOf } from '../resources/kind-catalogue.ts';
import { expiredOperations, OPERATIONS, type Operation } from '../resources/operation.ts';
import type { DefinedKind, Seed, Transaction } from '../resources/resource-kind.ts';
import type {
  KindName,
  RecordChange,
  ResourceRecord,
  RunningTransition,
  ShelfName,
  StateReason,
} from '../resources/resource-record.ts';
import { identifierDigits } from './identifiers.ts';
import type { Changeset } from './log-line.ts';
import { Overlay, type Tables } from './tables.ts';

export interface TransactionOptions {
  readonly tables: Tables;
  readonly kinds: KindCatalogue;
  readonly seed: number;
  readonly now: Date;
  /** Transitions that begin here do not end while this fault is there. */
  readonly stuckBy?: string | undefined;
}

/** An object before and after a transaction. */
export interface RecordMove {
  readonly before: ResourceRecord | undefined;
  readonly now: ResourceRecord | undefined;
}

const COUNTER: ShelfName<{ readonly value: number }> = { shelf: 'counter' };

const tableOf = (plural: string): string => `kind/${plural}`;
const shelfTable = ({ shelf }: ShelfName<object>): string => `shelf/${shelf}`;

export const isExpired = ({ expiresAt }: ResourceRecord, now: Date): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) <= now.getTime();

/** The log leaves out what is undefined, so nobody must see a difference before it is read again. */
const present = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;

/** A transaction while it runs; nothing has happened until somebody applies its changeset. */
export class LiveTransaction implements Transaction {
  readonly #options: TransactionOptions;
  readonly #overlay: Overlay;
  readonly #touched = new Map<string, RecordMove>();

  constructor(options: TransactionOptions) {
    this.#options = options;
    this.#overlay = new Overlay(options.tables);
  }

  get now(): Date {
    return this.#options.now;
  }

  get isEmpty(): boolean {
    return this.#overlay.isEmpty;
  }

  get changeset(): Changeset {
    return this.#overlay.changeset();
  }

  get moves(): readonly RecordMove[] {
    return [...this.#touched.values()];
  }

  get<Fields extends object>({ plural }: KindName<Fields>, id: string): ResourceRecord<Fields> | undefined {
    // What is in the table of a kind was put there as an object of that kind.
    const record = this.#overlay.get(tableOf(plural), id) as ResourceRecord<Fields> | undefined;
    return record === undefined || isExpired(record, this.now) ? undefined : record;
  }

  demand<Fields extends object>(kind: KindName<Fields>, id: string, target?: string): ResourceRecord<Fields> {
    const record = this.get(kind, id);
    if (record === undefined) throw notFound(`${this.#kind(kind).singular} ${id}`, target);
    return record;
  }

  list<Fields extends object>({ plural }: KindName<Fields>): readonly ResourceRecord<Fields>[] {
    const records = [...this.#overlay.all(tableOf(plural)).values()] as ResourceRecord<Fields>[];
    return records.filter((record) => !isExpired(record, this.now)).sort((a, b) => a.serial - b.serial);
  }

  peek<Value extends object>(shelf: ShelfName<Value>, key: string): Value | undefined {
    return this.#overlay.get(shelfTable(shelf), key) as Value | undefined;
  }

  entries<Value extends object>(shelf: ShelfName<Value>): readonly (readonly [string, Value])[] {
    return [...this.#overlay.all(shelfTable(shelf))] as [string, Value][];
  }

  place<Value extends object>(shelf: ShelfName<Value>, key: string, value: Value): void {
    this.#overlay.put(shelfTable(shelf), key, value);
  }

  take(shelf: ShelfName<object>, key: string): void {
    this.#overlay.delete(shelfTable(shelf), key);
  }

  /** The next identifier that a client may see; a transaction that fails gives it back. */
  newId(prefix: string): string {
    return `${prefix}-${identifierDigits(this.#options.seed, this.#count())}`;
  }

  add<Fields extends object>(name: KindName<Fields>, seed: Seed<Fields>): ResourceRecord<Fields> {
    const kind = this.#kind(name);
    const at = this.now.toISOString();
    const record: ResourceRecord<Fields> = {
      kind: kind.plural,
      id: seed.id ?? this.newId(kind.idPrefix),
      serial: this.#count(),
      name: seed.name,
      tags: seed.tags ?? {},
      state: seed.state,
      createdAt: at,
      updatedAt: at,
      generation: 1,
      fields: present(seed.fields),
      ...(seed.hidden !== undefined && { hidden: seed.hidden }),
    };
    return this.#put(this.#begun(record), undefined);
  }

  change<Fields extends object>(
    record: ResourceRecord<Fields>,
    change: RecordChange<Fields>,
  ): ResourceRecord<Fields> {
    const current = this.demand<Fields>({ plural: record.kind }, record.id);
    const next = this.#changed(current, change);
    if (next.state === current.state) return this.#put(next, current);
    this.#endOperation(current.transition, {
      code: 'IncorrectState',
      message: `${current.id} became ${next.state} before it was finished`,
    });
    return this.#put(this.#begun(next), current);
  }

  /** The transition that the object is in is over: the next state follows, in the same operation if it does not last. */
  conclude(record: ResourceRecord, change: RecordChange<object> | 'gone'): void {
    if (change === 'gone') {
      this.#endOperation(record.transition, undefined);
      return this.#drop(record);
    }
    const next = this.#changed(record, change);
    const durationMs = this.#options.kinds.durationMs(next);
    if (durationMs === undefined || record.transition === undefined) {
      this.#endOperation(record.transition, undefined);
      this.#put(next, record);
    } else {
      this.#put({ ...next, transition: this.#transition(record.transition.operationId, durationMs) }, record);
    }
  }

  /** The transition that the object is in has failed. Kinds may try again by themselves: `error` may end, too. */
  fail(record: ResourceRecord, stateReason: StateReason): void {
    this.#endOperation(record.transition, stateReason);
    this.#put(this.#begun(this.#changed(record, { state: 'error', stateReason })), record);
  }

  remove(record: ResourceRecord): void {
    this.#endOperation(this.demand({ plural: record.kind }, record.id).transition, undefined);
    this.#drop(record);
  }

  /** Forgets what nobody can see any more. */
  prune(): void {
    for (const { plural, deletion } of this.#options.kinds.all) {
      if (deletion?.rest === undefined) continue;
      const records = [...this.#options.tables.all(tableOf(plural)).values()] as ResourceRecord[];
      for (const record of records.filter((each) => isExpired(each, this.now))) this.#drop(record);
    }
  }

  #kind({ plural }: KindName<object>): DefinedKind {
    return this.#options.kinds.demand(plural);
  }

  #count(): number {
    const value = (this.peek(COUNTER, 'value')?.value ?? 0) + 1;
    this.place(COUNTER, 'value', { value });
    return value;
  }

  #changed<Fields extends object>(
    record: ResourceRecord<Fields>,
    change: RecordChange<Fields>,
  ): ResourceRecord<Fields> {
    const { transition, stateReason, ...kept } = record;
    const { state = record.state, name = record.name, tags = record.tags } = change;
    const isSame = state === record.state;
    const reason = change.stateReason ?? (isSame ? stateReason : undefined);
    return {
      ...kept,
      name,
      tags,
      state,
      fields: present({ ...record.fields, ...change.fields }),
      updatedAt: this.now.toISOString(),
      generation: record.generation + 1,
      ...(reason !== undefined && { stateReason: reason }),
      ...(isSame && transition !== undefined && { transition }),
      ...(!isSame && this.#expiry(record.kind, state)),
    };
  }

  #expiry(plural: string, state: string): { readonly expiresAt?: string } {
    const rest = this.#kind({ plural }).deletion?.rest;
    if (rest?.state !== state) return {};
    return { expiresAt: new Date(this.now.getTime() + rest.visibleMs).toISOString() };
  }

  /** With an operation, when the state ends by itself. */
  #begun<Fields extends object>(record: ResourceRecord<Fields>): ResourceRecord<Fields> {
    const durationMs = this.#options.kinds.durationMs(record);
    if (durationMs === undefined) return record;
    const id = this.newId('op');
    this.#pruneOperations();
    const createdAt = this.now.toISOString();
    this.place(OPERATIONS, id, { id, kind: record.kind, targetId: record.id, state: 'running', createdAt });
    return { ...record, transition: this.#transition(id, durationMs) };
  }

  #transition(operationId: string, durationMs: number): RunningTransition {
    const { stuckBy } = this.#options;
    const startedAt = this.now.toISOString();
    return { operationId, startedAt, durationMs, ...(stuckBy !== undefined && { stuckBy }) };
  }

  #endOperation(transition: RunningTransition | undefined, error: StateReason | undefined): void {
    const operation = transition && this.peek(OPERATIONS, transition.operationId);
    if (operation === undefined) return;
    const state: Operation['state'] = error === undefined ? 'succeeded' : 'failed';
    const finishedAt = this.now.toISOString();
    this.place(OPERATIONS, operation.id, {
      ...operation,
      state,
      finishedAt,
      ...(error !== undefined && { error }),
    });
  }

  #pruneOperations(): void {
    const operations = this.#overlay.all(shelfTable(OPERATIONS)) as ReadonlyMap<string, Operation>;
    for (const id of expiredOperations(operations.values(), operations.size, this.now)) this.take(OPERATIONS, id);
  }

  #put<Fields extends object>(
    record: ResourceRecord<Fields>,
    before: ResourceRecord<Fields> | undefined,
  ): ResourceRecord<Fields> {
    const kind = this.#kind({ plural: record.kind });
    if (kind.name?.isUnique === true && record.name !== before?.name) this.#requireFreeName(kind, record);
    this.#requireQuota(kind, record, before);
    this.#touch(record, record);
    this.#overlay.put(tableOf(record.kind), record.id, record);
    return record;
  }

  #drop(record: ResourceRecord): void {
    this.#touch(record, undefined);
    this.#overlay.delete(tableOf(record.kind), record.id);
  }

  #touch({ kind, id }: ResourceRecord, now: ResourceRecord | undefined): void {
    const before = this.#options.tables.get(tableOf(kind), id) as ResourceRecord | undefined;
    this.#touched.set(`${kind}/${id}`, { before, now });
  }

  #requireFreeName(kind: DefinedKind, { id, name }: ResourceRecord): void {
    const holder = this.list(kind).find((other) => other.name === name && other.id !== id);
    if (holder === undefined) return;
    const message = `there is a ${kind.singular} with the name "${name}" already: ${holder.id}`;
    throw new CloudError('AlreadyExists', message, { target: 'name', details: { id: holder.id } });
  }

  #requireQuota(kind: DefinedKind, record: ResourceRecord, before: ResourceRecord | undefined): void {
    const taken = before === undefined ? {} : usageOf(kind, before);
    for (const [quota, amount] of Object.entries(usageOf(kind, record))) {
      const more = amount - (taken[quota] ?? 0);
      if (more <= 0) continue;
      const used = this.#used(quota);
      const limit = this.#options.kinds.quotaLimit(quota);
      if (used + more <= limit) continue;
      const message = `the quota of ${quota} is ${limit}, and ${used} are used; this needs ${more} more`;
      throw new CloudError('QuotaExceeded', message, { details: { quota, limit, used } });
    }
  }

  #used(quota: string): number {
    const counted = this.#options.kinds.all.filter(({ quotas = {} }) => Object.hasOwn(quotas, quota));
    const amounts = counted.flatMap((kind) => this.list(kind).map((record) => usageOf(kind, record)[quota] ?? 0));
    return amounts.reduce((sum, amount) => sum + amount, 0);
  }
}

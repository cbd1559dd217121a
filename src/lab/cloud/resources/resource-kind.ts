import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { JsonObject } from '../../../object/json.ts';
import type { AddressPlan } from '../../address/address-plan.ts';
import type { Caller, CredentialLife } from '../access/credentials.ts';
import type { Boot } from '../boot.ts';
import type { CloudAnswer } from '../http/cloud-answer.ts';
import type { KindName, RecordChange, ResourceRecord, ShelfName, Tags } from './resource-record.ts';

/*
 * How a kind of the cloud is declared. A kind is one object of `ResourceKind`, made by a `KindFactory`, and handed to
 * `startCloud({ kinds })`: the core gives it paths, identifiers, tags, lists, ETags, idempotency, quotas, stale reads,
 * operations, faults and durability. A kind only says what is right for its own objects.
 *
 * - State: hooks that get a `Transaction` are synchronous. What they read is true, what they write happens at once with
 *   the answer, or not at all when they throw (a `CloudError`).
 * - The world: hooks that get no transaction may do I/O. `work` of a transition may fail and then the object is in
 *   `error`; `changed` makes the world like the state. Both are called again after a crash, so they must be repeatable.
 */

/** What is true now; objects that have expired are not there. */
export interface CloudReader {
  /** Lab time. */
  readonly now: Date;
  get<Fields extends object>(kind: KindName<Fields>, id: string): ResourceRecord<Fields> | undefined;
  /** In the order they were created. */
  list<Fields extends object>(kind: KindName<Fields>): readonly ResourceRecord<Fields>[];
  peek<Value extends object>(shelf: ShelfName<Value>, key: string): Value | undefined;
  entries<Value extends object>(shelf: ShelfName<Value>): readonly (readonly [key: string, value: Value])[];
}

/** Reads with its own writes in them. */
export interface Transaction extends CloudReader {
  /** Like `get`; what is not there is refused as `NotFound`, with the field that named it as the target. */
  demand<Fields extends object>(kind: KindName<Fields>, id: string, target?: string): ResourceRecord<Fields>;
  /** Changes the newest form of the object, whatever form is given. Quotas and unique names are checked. */
  change<Fields extends object>(
    record: ResourceRecord<Fields>,
    change: RecordChange<Fields>,
  ): ResourceRecord<Fields>;
  remove(record: ResourceRecord): void;
  /** An object that nobody asked for by POST, such as a zone. The identifier is made unless given. */
  add<Fields extends object>(kind: KindName<Fields>, seed: Seed<Fields>): ResourceRecord<Fields>;
  place<Value extends object>(shelf: ShelfName<Value>, key: string, value: Value): void;
  take(shelf: ShelfName<object>, key: string): void;
}

export interface Seed<Fields extends object> extends Draft<Fields> {
  readonly id?: string;
  readonly name: string;
  readonly tags?: Tags;
}

/** What a new object is made of. */
export interface Draft<Fields extends object> {
  readonly state: string;
  readonly fields: Fields;
  readonly hidden?: Readonly<Record<string, string>>;
}

/** The cloud, as a kind sees it. */
export interface CloudServices {
  /** Lab time. */
  readonly clock: Clock;
  /** For what must not wait for the lab, such as timeouts of connections (T6). */
  readonly real: Clock;
  readonly log: Log;
  /** `<data>/cloud`; a kind makes its own directories below it. */
  readonly directory: string;
  readonly addresses: CloudAddresses;
  readonly boot: Boot | undefined;
  readonly state: CloudReader;
  /** Runs at once; resolves when it is kept and `changed` has been called for what it changed. */
  readonly transact: <T>(work: (transaction: Transaction) => T) => Promise<T>;
}

/** Where addresses come from. */
export type CloudAddresses = Pick<AddressPlan, 'octet' | 'node' | 'balancers' | 'toWire' | 'toApi'>;

export type KindFactory = (services: CloudServices) => DefinedKind;

/** A client's wish, checked against the schema. */
export interface Wish<Input> {
  readonly id: string;
  readonly name: string;
  readonly tags: Tags;
  readonly input: Input;
}

type OutputOf<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

export interface ResourceKind<Input extends z.ZodRawShape, Changes extends z.ZodRawShape, Fields extends object>
  extends KindName<Fields> {
  /** For messages: `volume`. */
  readonly singular: string;
  /** `vol` gives `vol-0123456789ab`. */
  readonly idPrefix: string;
  /** All that objects can be in; `error` among them when a transition can fail. */
  readonly states: readonly string[];
  readonly name?: NameRule;
  /** What POST takes besides `name` and `tags`. Without it clients cannot create objects. */
  readonly input?: Input;
  /** What PATCH may change besides `name` and `tags`: names of `Fields`. Without it nothing can be changed. */
  readonly changes?: Changes;
  /** Who may write; `write` unless told otherwise. */
  readonly writeScope?: 'admin';
  /** Quotas that objects count against, with their usual limits (C9). */
  readonly quotas?: Readonly<Record<string, number>>;
  /** How much of each quota an object takes now. */
  usage?(record: ResourceRecord<Fields>): Readonly<Record<string, number>>;
  create?(wish: Wish<OutputOf<Input>>, transaction: Transaction): Draft<Fields>;
  /** What a PATCH does; the merged fields are simply kept unless told otherwise. Not called when nothing differs. */
  update?(
    record: ResourceRecord<Fields>,
    wanted: OutputOf<Changes>,
    transaction: Transaction,
  ): RecordChange<Fields>;
  /** What DELETE does: a state of `deletion`, or `gone` at once. Not called for objects that are being deleted. */
  remove?(record: ResourceRecord<Fields>, transaction: Transaction): RecordChange<Fields> | 'gone';
  readonly deletion?: Deletion;
  readonly actions?: Readonly<Record<string, ResourceAction<Fields>>>;
  /** By the state that ends by itself. */
  readonly transitions?: Readonly<Record<string, Transition<Fields>>>;
  /** More that answers show, computed when they are made. */
  view?(record: ResourceRecord<Fields>, now: Date): JsonObject;
  /** Below `/v1/<plural>/<id>/`, by name. */
  readonly subresources?: Readonly<Record<string, Subresource<Fields>>>;
  /** Objects that are there from the start; called at every start, so it looks before it adds. */
  seed?(transaction: Transaction): void;
  /**
   * Makes the world like the state: after every change of an object, one change at a time, before the client is
   * answered; and for every object at the start (`before` is undefined then). Without `now` the object is gone.
   * What it throws is logged. It must not wait for a transaction that changes the same object: that waits for it.
   */
  changed?(
    now: ResourceRecord<Fields> | undefined,
    before: ResourceRecord<Fields> | undefined,
  ): Promise<void> | void;
  /** Called once, when no request and no transition runs any more. */
  dispose?(): Promise<void>;
}

export interface NameRule {
  /** 1 to 128 characters unless told otherwise. */
  readonly schema?: z.ZodType<string>;
  /** Names may be shared unless told otherwise (C5). */
  readonly isUnique?: boolean;
  /** It cannot be changed later. */
  readonly isFixed?: boolean;
}

/** How objects go. */
export interface Deletion {
  /** DELETE again is answered 202 in these. */
  readonly during: readonly string[];
  /** A state that only proves that the object is gone, and how long it can be seen; DELETE finds nothing there. */
  readonly rest?: { readonly state: string; readonly visibleMs: number };
}

/** A state that ends by itself, after its time and its work (C10). */
export interface Transition<Fields extends object> {
  /** Usual lab time; the setting is `<plural>.<state>`. */
  readonly durationMs: number;
  /** Whether the state ends by itself for this object; it does unless told otherwise. */
  applies?(record: ResourceRecord<Fields>): boolean;
  /**
   * When the time is over. What it finds out is added to the fields. Throwing leaves the object in `error`; a `CloudError`
   * says with which code.
   */
  work?(record: ResourceRecord<Fields>, signal: AbortSignal): Promise<Partial<Fields> | undefined>;
  /** What follows; `gone` removes the object. */
  finish(record: ResourceRecord<Fields>, transaction: Transaction): RecordChange<Fields> | 'gone';
}

/** One of `POST /v1/<plural>/<id>/actions {action, …}`. Undefined: it is so already, which is no error. */
export interface ResourceAction<Fields extends object> {
  /** Whole, with `action`. */
  readonly schema: z.ZodObject;
  run(record: ResourceRecord<Fields>, input: unknown, transaction: Transaction): RecordChange<Fields> | undefined;
}

/** More about one object than its form: a console, data, the content of a bucket. */
export interface Subresource<Fields extends object> {
  readonly methods: readonly ('GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE')[];
  /** The body is not read as JSON, but handed over as a stream. */
  readonly isRaw?: boolean;
  /** Only `/<name>`, unless there is more to tell: `/objects/a/b`. */
  readonly hasRest?: boolean;
  /** Who signed the URL of a request without a token; refuses a signature that is not right. */
  signer?(request: Pick<SubresourceRequest, 'id' | 'method' | 'rest' | 'query'>): CredentialLife;
  serve(record: ResourceRecord<Fields>, request: SubresourceRequest): Promise<CloudAnswer>;
}

export interface SubresourceRequest {
  /** Of the object. */
  readonly id: string;
  readonly method: string;
  /** What follows the name in the path, as it was sent: still encoded, without the first slash. */
  readonly rest: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Undefined for a raw one, and without a body. */
  readonly body: JsonObject | undefined;
  /** Ends with an error when the client is too slow, or gone. */
  readonly stream: Readable;
  /** Who asks; whoever signed a URL has no scopes. */
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** A kind whose types only the kind knows. */
export interface DefinedKind extends ResourceKind<z.ZodRawShape, z.ZodRawShape, object> {
  /** Strict: everything that POST takes. */
  readonly createSchema: z.ZodObject | undefined;
  /** Strict: everything that PATCH may leave behind. */
  readonly changeSchema: z.ZodObject | undefined;
}

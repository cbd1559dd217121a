import type { KubeObject } from '../../api/object.ts';
import type { Log, LogFields } from '../../base/log.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { ChangeMemory } from './change-memory.ts';
import type { ReconcileContext, ReconcileLog } from './reconcile.ts';
import type { ReconcileScope } from './reconcile-scope.ts';

export interface ReconcileRunOptions {
  readonly controller: string;
  readonly key: string;
  readonly client: KubeClient;
  readonly events: EventRecorder;
  readonly now: () => Date;
  readonly reconcileId: string;
  readonly fencingToken: string;
  readonly makeLog: (reconcileId: string) => Log;
  readonly changes: ChangeMemory;
}

/** One reconcile under way: its context, its scope, and its end. What few reconciles ask for is made when asked for. */
export class ReconcileRun<T extends KubeObject = KubeObject> implements ReconcileContext, ReconcileScope {
  readonly controller: string;
  readonly key: string;
  readonly client: KubeClient;
  readonly events: EventRecorder;
  readonly now: () => Date;
  readonly reconcileId: string;
  readonly fencingToken: string;
  readonly log: ReconcileLog;
  /** Once it is fetched. */
  object: T | undefined = undefined;
  #abort: { readonly why: 'timeout' | 'stop'; readonly reason: unknown } | undefined;
  #controller: AbortController | undefined;

  constructor(options: ReconcileRunOptions) {
    this.controller = options.controller;
    this.key = options.key;
    this.client = options.client;
    this.events = options.events;
    this.now = options.now;
    this.reconcileId = options.reconcileId;
    this.fencingToken = options.fencingToken;
    this.log = new RunLog(options);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abort !== undefined) this.#controller.abort(this.#abort.reason);
    }
    return this.#controller.signal;
  }

  /** Why the reconcile was told to end, if it was: the first reason counts. */
  get abortion(): { readonly why: 'timeout' | 'stop'; readonly reason: unknown } | undefined {
    return this.#abort;
  }

  abort(why: 'timeout' | 'stop', reason: unknown): void {
    if (this.#abort !== undefined) return;
    this.#abort = { why, reason };
    this.#controller?.abort(reason);
  }
}

/** Most reconciles log nothing, and a child log costs more than they do. */
class RunLog implements ReconcileLog {
  readonly #options: Pick<ReconcileRunOptions, 'key' | 'makeLog' | 'reconcileId' | 'changes'>;
  #made: Log | undefined;

  constructor(options: Pick<ReconcileRunOptions, 'key' | 'makeLog' | 'reconcileId' | 'changes'>) {
    this.#options = options;
  }

  error(fields: LogFields, message: string): void {
    this.#log.error(fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#log.warn(fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#log.info(fields, message);
  }

  debug(fields: LogFields, message: string): void {
    this.#log.debug(fields, message);
  }

  child(fields: LogFields): Log {
    return this.#log.child(fields);
  }

  changed(name: string, value: string | number | boolean, message: string, fields: LogFields = {}): void {
    const { changes, key } = this.#options;
    if (changes.isNew(`${key}\n${name}`, value)) this.info({ [name]: value, ...fields }, message);
  }

  get #log(): Log {
    this.#made ??= this.#options.makeLog(this.#options.reconcileId);
    return this.#made;
  }
}

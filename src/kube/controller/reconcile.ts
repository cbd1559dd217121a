import type { KubeObject, ObjectKey } from '../../api/object.ts';
import type { Log, LogFields } from '../../base/log.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { EventRecorder } from '../events/event-recorder.ts';

/** What a reconcile that did not fail wants. There is no `requeue: true`: waiting has a time, failing is an error. */
export interface Result {
  /** Not a number above zero: no requeue. */
  readonly requeueAfterMs?: number;
  /** Of that requeue; that of this run unless told otherwise (Q4). */
  readonly priority?: number;
}

export const DONE: Result = Object.freeze({});
export const after = (ms: number): Result => ({ requeueAfterMs: ms });

/** The log of one reconcile. */
export interface ReconcileLog extends Log {
  /** An info line when `value` is not what it was at the last reconcile of this key under this name (O4). */
  changed(name: string, value: string | number | boolean, message: string, fields?: LogFields): void;
}

/** Everything a reconciler may use besides its object and what its constructor got (R9). */
export interface ReconcileContext {
  readonly client: KubeClient;
  readonly events: EventRecorder;
  readonly log: ReconcileLog;
  /** Aborts when the reconcile takes too long, when the process is not the leader any more, or late in a shutdown. */
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly reconcileId: string;
  /** For external systems that take a fencing token: grows with each change of leader (E7). */
  readonly fencingToken: string;
}

/** Brings the world to what one object asks for. Called with the newest known state, never concurrently for one key. */
export interface Reconciler<T extends KubeObject = KubeObject> {
  /** The object exists, maybe with a deletionTimestamp; a key whose object is gone is done without a call (R12). */
  reconcile(object: T, context: ReconcileContext): Promise<Result>;
}

/** For controllers whose keys are no objects of one kind. */
export type ReconcileKey = (key: ObjectKey, context: ReconcileContext) => Promise<Result>;

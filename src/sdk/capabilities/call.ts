import type { Log } from '../../base/log.ts';

/**
 * What comes with every call of a capability, always as the last argument. It is also how a capability is told apart from
 * its facts: `declare()` takes none and does no I/O.
 */
export interface CallContext {
  /** Aborts when nobody waits for the answer any more: pass it on to everything that waits. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** The same with what `connect` of the definition has returned, so that a capability holds no state of its own. */
export interface Call<Client> extends CallContext {
  readonly client: Client;
}

/** Labels of things in the cloud. The tag of the cluster is always among them, so that everything can be found again. */
export type Tags = Readonly<Record<string, string>>;

/** What every list accepts: only what carries these tags; all of it when absent. */
export interface ListQuery {
  readonly tags?: Tags;
  /** Only what comes strictly after this id; the list is sorted by id. */
  readonly after?: string;
  readonly limit?: number;
}

/** Part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** There are more after the last one. */
  readonly more: boolean;
}

/** What every create and ensure accepts. The same token asks for the same thing: a repetition changes nothing. */
export interface Creation {
  /** Stable for the life of the thing and unique in the cluster; the cloud need not make it unique. */
  readonly logicalName: string;
  readonly idempotencyToken: string;
  /** Must be on the thing from its first moment, not written by a second call. */
  readonly tags: Tags;
}

/** A definitive answer of the cloud that a thing is not there; trouble on the way is an error instead. */
export interface Absent {
  readonly state: 'absent';
  /** What the cloud said, for people: shown in the event that explains what is deleted because of it. */
  readonly evidence: string;
}

/** The thing is known and not ready; ask again after the time. Replaces empty answers and errors that mean "later". */
export interface Pending {
  readonly kind: 'pending';
  readonly retryAfterMs: number;
  /** Why, for people. */
  readonly why: string;
}

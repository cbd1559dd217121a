export type Tags = Readonly<Record<string, string>>;

/** Why an object is in the state it is in. */
export interface StateReason {
  readonly code: string;
  readonly message: string;
}

/** A state that ends by itself is on its way to the next one. */
export interface RunningTransition {
  readonly operationId: string;
  /** Lab time, as all moments here. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** The fault that keeps it from ending (C11). */
  readonly stuckBy?: string;
}

/** One object of the cloud as the state keeps it. Never written to: a change makes a new one. */
export interface ResourceRecord<Fields extends object = object> {
  /** Plural of its kind, as in the path. */
  readonly kind: string;
  readonly id: string;
  /** Grows with every object of the cloud: the order of lists. */
  readonly serial: number;
  readonly name: string;
  readonly tags: Tags;
  readonly state: string;
  readonly stateReason?: StateReason;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Grows with every change, those of the state included. */
  readonly generation: number;
  /** What everybody may see. JSON only. */
  readonly fields: Fields;
  /** What answers never show, such as user data. JSON only. */
  readonly hidden?: Readonly<Record<string, string>>;
  readonly transition?: RunningTransition;
  /** Nobody sees it after this moment. */
  readonly expiresAt?: string;
}

/** The name of a kind, which knows what its objects are made of. */
export interface KindName<Fields extends object> {
  /** As in the path: `volumes`. */
  readonly plural: string;
  /** Carries the type only; nobody sets it. */
  readonly example?: Fields;
}

/** The name of values that belong to a kind and are no objects themselves, such as the content of a bucket. */
export interface ShelfName<Value extends object> {
  readonly shelf: string;
  /** Carries the type only; nobody sets it. */
  readonly example?: Value;
}

/** What becomes of an object in a change; everything else stays. */
export interface RecordChange<Fields extends object> {
  readonly name?: string;
  readonly tags?: Tags;
  /** A state in `transitions` of the kind starts an operation, unless the object is in it already. */
  readonly state?: string;
  /** Gone with the next change of state unless given. */
  readonly stateReason?: StateReason;
  /** Undefined takes a field away. */
  readonly fields?: { readonly [Key in keyof Fields]?: Fields[Key] | undefined };
}

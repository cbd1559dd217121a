export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/**
 * What a `Status` says of a failure besides its message, in the order in which upstream writes it. `kind` holds the plural
 * resource, except for Invalid, where it is the Kind.
 */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

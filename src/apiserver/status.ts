import type { StatusCause, StatusDetails } from '../api/status.ts';
import { type FieldError, fieldErrorText } from '../object/field-error.ts';
import type { Json, JsonObject } from '../object/json.ts';

/** A resource as messages name it: `deployments.apps`, core resources without a group. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export const qualified = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`);

interface StatusParts {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: StatusDetails;
  /** metadata.continue of an Expired answer to a paged list. */
  readonly continueToken?: string;
}

/** An answer that is a failure Status (embedded-apiserver §7). Anything else thrown while serving becomes a 500. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: StatusDetails | undefined;
  readonly continueToken: string | undefined;

  constructor({ code, reason, message, details, continueToken }: StatusParts) {
    super(message);
    this.name = 'StatusError';
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.continueToken = continueToken;
  }

  /** The Status object that goes to the client. */
  body(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      message: this.message,
      ...(this.reason !== undefined && { reason: this.reason }),
      ...(this.details !== undefined && { details: detailsBody(this.details) }),
      code: this.code,
    };
  }
}

function detailsBody({ name, group, kind, uid, causes, retryAfterSeconds }: StatusDetails): JsonObject {
  return {
    ...(name && { name }),
    ...(group && { group }),
    ...(kind && { kind }),
    ...(uid && { uid }),
    ...(causes && causes.length > 0 && { causes: causes.map((cause): Json => ({ ...cause })) }),
    ...(retryAfterSeconds && { retryAfterSeconds }),
  };
}

export const notFound = ({ group, resource }: GroupResource, name: string): StatusError =>
  new StatusError({
    code: 404,
    reason: 'NotFound',
    message: `${qualified(resource, group)} "${name}" not found`,
    details: { name, group, kind: resource },
  });

export const alreadyExists = ({ group, resource }: GroupResource, name: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${qualified(resource, group)} "${name}" already exists`,
    details: { name, group, kind: resource },
  });

export const conflict = ({ group, resource }: GroupResource, name: string, why: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualified(resource, group)} "${name}": ${why}`,
    details: { name, group, kind: resource },
  });

export const forbiddenObject = (
  { group, resource }: GroupResource,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): StatusError =>
  new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: `${qualified(resource, group)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`,
    details: { name, group, kind: resource, ...(causes && { causes }) },
  });

// Hundreds of thousands of wrong labels fit into one body; their errors, a hundred times as large, fit nowhere.
const MOST_ERROR_CHARS = 1_048_576;

/** As many errors as a Status lists (reliability P9): all, unless somebody has made a great many mistakes. */
function listed(errors: readonly FieldError[]): readonly FieldError[] {
  let chars = 0;
  const end = errors.findIndex(({ field, message }) => {
    chars += field.length + message.length;
    return chars > MOST_ERROR_CHARS;
  });
  return end < 0 ? errors : errors.slice(0, Math.max(end, 1));
}

/** Several errors are listed in brackets, one stands alone; duplicates are printed once. */
export function invalidObject(
  { group, kind }: GroupKind,
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const shown = listed(errors);
  const texts = [...new Set(shown.map(fieldErrorText))];
  const list = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
  return new StatusError({
    code: 422,
    reason: 'Invalid',
    message: `${qualified(kind, group)} "${name}" is invalid: ${list}`,
    details: {
      name,
      group,
      kind,
      causes: shown.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  });
}

export const badRequest = (message: string): StatusError =>
  new StatusError({ code: 400, reason: 'BadRequest', message });

export const methodNotAllowed = (): StatusError =>
  new StatusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });

export const resourceNotServed = (): StatusError =>
  new StatusError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });

export const internalError = (message: string): StatusError =>
  new StatusError({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });

export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  new StatusError({ code: 429, reason: 'TooManyRequests', message, details: { retryAfterSeconds } });

export const unsupportedMediaType = (message: string): StatusError =>
  new StatusError({ code: 415, reason: 'UnsupportedMediaType', message });

export const entityTooLarge = (message: string): StatusError =>
  new StatusError({ code: 413, reason: 'RequestEntityTooLarge', message });

export const expired = (message: string, continueToken?: string): StatusError =>
  new StatusError({
    code: 410,
    reason: 'Expired',
    message,
    ...(continueToken !== undefined && { continueToken }),
  });

export const unauthorized = (): StatusError =>
  new StatusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });

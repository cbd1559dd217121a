import type { Json, JsonObject } from '../../api/json.ts';
import { type FieldError, fieldErrorText } from '../../object/field-error.ts';
import { diffJsonPatch } from '../../object/json-patch-diff.ts';
import { stringifyJson } from '../../object/json-text.ts';
import type { AdmissionRequest } from './admission-request.ts';

/** What a handler decides about a write. Made by `allowed`, `denied`, `patched` and `invalid`. */
export type AdmissionResult =
  | { readonly type: 'allowed' }
  | { readonly type: 'patched'; readonly object: JsonObject }
  | { readonly type: 'denied'; readonly message: string; readonly reason: string; readonly code: number }
  | { readonly type: 'invalid'; readonly errors: readonly FieldError[] };

export interface DenialOptions {
  /** `Forbidden` unless told otherwise. */
  readonly reason?: string;
  /** 403 unless told otherwise; the API server takes less than 400 for 400. */
  readonly code?: number;
}

export const allowed = (): AdmissionResult => ({ type: 'allowed' });

/** The write fails with this message. */
export const denied = (
  message: string,
  { reason = 'Forbidden', code = 403 }: DenialOptions = {},
): AdmissionResult => ({
  type: 'denied',
  message,
  reason,
  code,
});

/** The write goes on with this object instead: the whole of it, made from the one of the request. */
export const patched = (object: JsonObject): AdmissionResult => ({ type: 'patched', object });

/** The write fails with 422 and the errors as causes; allowed when there are none (W4). */
export const invalid = (errors: readonly FieldError[]): AdmissionResult =>
  errors.length === 0 ? allowed() : { type: 'invalid', errors };

/** The `response` of a review, without its uid and warnings. */
export function responseOf(result: AdmissionResult, request: AdmissionRequest): JsonObject {
  switch (result.type) {
    case 'allowed':
      return { allowed: true };
    case 'patched':
      return patchResponse(diffJsonPatch(request.object ?? {}, result.object));
    case 'denied': {
      const { message, reason, code } = result;
      return refusal({ message, reason, code });
    }
    case 'invalid':
      return invalidResponse(result.errors, request);
  }
}

function patchResponse(operations: JsonObject[]): JsonObject {
  if (operations.length === 0) return { allowed: true };
  const patch = Buffer.from(stringifyJson(operations)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch };
}

function invalidResponse(errors: readonly FieldError[], { kind, name }: AdmissionRequest): JsonObject {
  const texts = [...new Set(errors.map(fieldErrorText))];
  const list = texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
  const qualified = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return refusal({
    message: `${qualified} "${name}" is invalid: ${list}`,
    reason: 'Invalid',
    code: 422,
    details: {
      ...(name !== '' && { name }),
      group: kind.group,
      kind: kind.kind,
      causes: errors.map(({ reason, message, field }): Json => ({ reason, message, field })),
    },
  });
}

/** The response that stops a write, with a Status that says why. */
export const refusal = (status: JsonObject): JsonObject => ({
  allowed: false,
  status: { metadata: {}, ...status },
});

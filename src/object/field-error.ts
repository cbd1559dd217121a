import { isJsonObject, type Json } from './json.ts';
import { goQuote, goValue } from './validation/go-text.ts';

/** The kinds of field errors of Kubernetes, by the `reason` a cause carries. */
export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueDuplicate'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueNotFound'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/** One thing wrong with one field. `message` is what upstream prints after the field. */
export interface FieldError {
  readonly reason: FieldErrorReason;
  /** `spec.ports[0].name`; `<nil>` for the object as a whole. */
  readonly field: string;
  readonly message: string;
}

const withDetail = (text: string, detail: string): string => (detail === '' ? text : `${text}: ${detail}`);

/** A value as upstream's field errors show it: strings quoted as Go does, objects as JSON with sorted keys. */
export const shownValue = goValue;

export const required = (field: string, detail = ''): FieldError => ({
  reason: 'FieldValueRequired',
  field,
  message: withDetail('Required value', detail),
});

/** Objects and lists print their value as JSON too; pass `undefined` to leave the value out. */
export const invalid = (field: string, value: Json | undefined, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message:
    value === undefined ? `Invalid value: ${detail}` : withDetail(`Invalid value: ${shownValue(value)}`, detail),
});

export const notSupported = (field: string, value: Json, allowed: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${shownValue(value)}${
    allowed.length === 0 ? '' : `: supported values: ${allowed.map((item) => goQuote(item)).join(', ')}`
  }`,
});

export const forbidden = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  message: withDetail('Forbidden', detail),
});

export const duplicate = (field: string, value: Json): FieldError => ({
  reason: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${shownValue(value)}`,
});

export const tooLong = (field: string, maxBytes: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: may not be more than ${maxBytes} bytes`,
});

export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  reason: 'FieldValueTooMany',
  field,
  message: `Too many: ${actual}: must have at most ${max} items`,
});

export const notFoundValue = (field: string, value: Json): FieldError => ({
  reason: 'FieldValueNotFound',
  field,
  message: `Not found: ${shownValue(value)}`,
});

/** `spec.ports[0].name: Required value`, as the message of a Status lists it. */
export const fieldErrorText = ({ field, message }: FieldError): string => `${field}: ${message}`;

/** The path of a child: `.name` for fields, `[key]` for map keys and list positions. */
export const childPath = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);
export const keyPath = (path: string, key: string | number): string => `${path}[${key}]`;

/** Whether upstream would print the value: only scalars. */
export const isShown = (value: Json): boolean => !isJsonObject(value) && !Array.isArray(value);

import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import { goQuote } from '../../object/validation/go-text.ts';
import type { ApiRequest } from '../request.ts';
import { badRequest, invalidObject, type StatusError } from '../status.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly isDryRun: boolean;
  /** Whose fields the write's are (S3): the parameter, else the start of the User-Agent. */
  readonly manager: string;
  readonly hasFieldManager: boolean;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean | undefined;
}

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions' | 'ListOptions';

const LONGEST_MANAGER = 128;
const FIELD_VALIDATIONS = ['Ignore', 'Strict', 'Warn'];

/** Refuses bad options with the Status upstream gives (E9). */
export function refuseOptions(kind: OptionsKind, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind }, '', errors);
}

export function dryRunErrors(values: readonly string[]): readonly FieldError[] {
  return values.filter((value) => value !== 'All').length === 0
    ? []
    : [notSupported('dryRun', values.join(','), ['All'])].map((error) => ({
        ...error,
        message: `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`,
      }));
}

/** Options of create, update and patch (W2). */
export function writeOptions(request: ApiRequest, kind: OptionsKind, isApply = false): WriteOptions {
  const { query } = request;
  const dryRun = query.getAll('dryRun');
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const force = query.has('force') ? parseBoolean(query.get('force') ?? '') : undefined;
  refuseOptions(kind, [
    ...forceErrors({ force, isApply, fieldManager, kind }),
    ...managerErrors(fieldManager),
    ...dryRunErrors(dryRun),
    ...validationErrors(fieldValidation),
  ]);
  return {
    isDryRun: dryRun.length > 0,
    manager: fieldManager === '' ? managerFromAgent(request.headers['user-agent']) : fieldManager,
    hasFieldManager: fieldManager !== '',
    fieldValidation: isFieldValidation(fieldValidation) ? fieldValidation : 'Warn',
    force,
  };
}

interface ApplyOptions {
  readonly force: boolean | undefined;
  readonly isApply: boolean;
  readonly fieldManager: string;
  readonly kind: OptionsKind;
}

function forceErrors({ force, isApply, fieldManager, kind }: ApplyOptions): readonly FieldError[] {
  if (kind !== 'PatchOptions') return [];
  if (!isApply) return force === undefined ? [] : [forbidden('force', 'may not be specified for non-apply patch')];
  return fieldManager === '' ? [required('fieldManager', 'is required for apply patch')] : [];
}

function managerErrors(manager: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (manager.length > LONGEST_MANAGER) errors.push(tooLong('fieldManager', LONGEST_MANAGER));
  const bad = Array.from(manager).find((character) => !isPrintable(character));
  if (bad !== undefined) {
    const code = bad.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    errors.push(
      invalid('fieldManager', manager, `invalid character U+${code} (at position ${manager.indexOf(bad)})`),
    );
  }
  return errors;
}

const validationErrors = (value: string): readonly FieldError[] =>
  value === '' || FIELD_VALIDATIONS.includes(value)
    ? []
    : [notSupported('fieldValidation', value, ['', ...FIELD_VALIDATIONS])];

const isFieldValidation = (value: string): value is FieldValidation => FIELD_VALIDATIONS.includes(value);

const isPrintable = (character: string): boolean => /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character);

/** The User-Agent up to the first slash, printable characters only, bounded. */
function managerFromAgent(agent: string | undefined): string {
  if (agent === undefined || agent === '') return 'unknown';
  const [first = ''] = agent.split('/', 1);
  return Array.from(first).filter(isPrintable).join('').slice(0, LONGEST_MANAGER);
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True', '']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** As the query decoder upstream: an empty value is true, anything unknown too, except what reads as false. */
export function parseBoolean(value: string): boolean {
  if (FALSE.has(value)) return false;
  return TRUE.has(value) || value !== '';
}

const LARGEST_INT64 = 2n ** 63n - 1n;

/** A whole number of the query; 400 when it is none (E10). */
export function parseCount(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw notParsed(text, 'invalid syntax');
  const count = Number(text);
  // Exact only where it matters: very long texts need no BigInt to be refused.
  if (Math.abs(count) < 2 ** 53) return count;
  if (text.length > 40 || !isInt64(BigInt(text.replace(/^\+/, '')))) throw notParsed(text, 'value out of range');
  return count;
}

const isInt64 = (value: bigint): boolean => value <= LARGEST_INT64 && value >= -LARGEST_INT64 - 1n;

const notParsed = (text: string, why: string): StatusError =>
  badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: ${why}`);

/** The options object that admission reviews carry. */
export function optionsObject(kind: OptionsKind, options: WriteOptions): JsonObject {
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(options.isDryRun && { dryRun: ['All'] }),
    ...(options.hasFieldManager && { fieldManager: options.manager }),
    ...(options.force !== undefined && { force: options.force }),
    fieldValidation: options.fieldValidation,
  };
}

import type { Json } from '../json.ts';

const FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)/;
const SUFFIX = /^(?:|[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)$/;
/** What upstream takes for a suffix before it looks whether it knows it. */
const SUFFIX_CHARS = /^[eEinumkKMGTP]*[-+]?[0-9]*$/;

/** What Go says about a value that is no Quantity. Numbers are taken as they are written. */
export function quantityProblem(value: NonNullable<Json>): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return undefined;
  if (typeof value !== 'string') return FORM;
  if (value === '') return FORM;
  const number = NUMBER.exec(value)?.[0];
  if (number === undefined) return FORM;
  const suffix = value.slice(number.length);
  if (SUFFIX.test(suffix)) return undefined;
  return SUFFIX_CHARS.test(suffix) ? "unable to parse quantity's suffix" : FORM;
}

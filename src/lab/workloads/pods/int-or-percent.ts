import { userError } from '../../../base/errors.ts';

/**
 * Pure: a number as it is, a percentage of `total` rounded as told; absent is 0. Throws a userError for a text that is
 * no percentage, which the API server lets nobody write.
 */
export function countOf(value: number | string | undefined, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  if (value === undefined) return 0;
  if (!/^[+-]?\d+%$/.test(value)) {
    throw userError('InvalidPercentage', `"${value}" must be a number or a percentage such as 25%`);
  }
  const exact = (Number(value.slice(0, -1)) * total) / 100;
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact);
}

import type { Json } from '../json.ts';
import type { Ownership } from './typing.ts';

export type Form = 'map' | 'scalar' | 'list';

/**
 * The form in which a value is handled: its own if the type allows it. For null, and for what does not fit, the first the
 * type has; whoever walks the value then finds that it does not fit.
 */
export function formOf(ownership: Ownership, value: Json): Form | undefined {
  if (Array.isArray(value)) {
    if (ownership.list !== undefined) return 'list';
  } else if (typeof value === 'object') {
    if (value !== null && ownership.map !== undefined) return 'map';
  } else if (ownership.scalar !== undefined) {
    return 'scalar';
  }
  if (ownership.map !== undefined) return 'map';
  if (ownership.scalar !== undefined) return 'scalar';
  return ownership.list === undefined ? undefined : 'list';
}

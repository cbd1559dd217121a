/**
 * Marks what this package makes. A definition may come from another copy of the package than the program that loads it
 * (its own `node_modules`, sources beside the built files), for which `instanceof` is false.
 */
export const PROVIDER_DEFINITION = Symbol.for('slipway.dev/provider-definition');
export const DEFINITION_ERROR = Symbol.for('slipway.dev/definition-error');
export const PROVIDER_ERROR = Symbol.for('slipway.dev/provider-error');
export const UNGUARDED = Symbol.for('slipway.dev/unguarded-capabilities');

/** Whether something carries a mark; false for whatever cannot be read. */
export function hasBrand(value: unknown, brand: symbol): value is object {
  try {
    return typeof value === 'object' && value !== null && Reflect.get(value, brand) === true;
  } catch {
    return false;
  }
}

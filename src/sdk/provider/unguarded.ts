import type { CallContext } from '../capabilities/call.ts';
import type { Capabilities } from '../capabilities/capabilities.ts';
import { UNGUARDED } from './brand.ts';

type Method = (...args: readonly unknown[]) => unknown;

/** A method of a definition as components call it, with nothing between them: what it is given and a context. */
export const bareMethod =
  (implementation: Method, client: unknown): Method =>
  (...args) => {
    // The types of capabilities say so.
    const { signal, log } = args.at(-1) as CallContext;
    return implementation(...args.slice(0, -1), Object.freeze({ signal, log, client }));
  };

/** Capabilities that know those behind their guard. Where capabilities are listed or copied, these do not show. */
export const withUnguarded = (guarded: Capabilities, bare: Capabilities): Capabilities =>
  Object.freeze(Object.defineProperty({ ...guarded }, UNGUARDED, { value: bare, enumerable: false }));

/**
 * The capabilities behind the guard of a connected provider, or the same when there is none: for contract suites. A guard
 * keeps promises for a provider, and nobody would learn that the provider itself does not.
 */
export function unguardedOf(capabilities: Capabilities): Capabilities {
  const bare: unknown = Reflect.get(capabilities, UNGUARDED);
  return typeof bare === 'object' && bare !== null ? bare : capabilities;
}

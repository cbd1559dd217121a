import { registerHooks } from 'node:module';

const PACKAGE = /^slipway(\/|$)/;
/** Sources lead to sources, whatever this process was started with: a clone need not be built. */
const OWN_CONDITIONS = import.meta.url.endsWith('.ts') ? ['slipway-source'] : [];

/**
 * Until it is disposed, what a definition imports from `slipway/…` is this very package: a project need not be installed
 * to be looked at, and there are never two copies whose errors and definitions do not know each other.
 */
export function sharingThisPackage(): Disposable {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      PACKAGE.test(specifier)
        ? next(specifier, {
            ...context,
            parentURL: import.meta.url,
            conditions: [...context.conditions, ...OWN_CONDITIONS],
          })
        : next(specifier, context),
  });
  return { [Symbol.dispose]: () => hooks.deregister() };
}

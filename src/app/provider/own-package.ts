import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

const PACKAGE = /^slipway(\/|$)/;
/** Sources lead to sources, whatever this process was started with: a clone need not be built. */
const OWN_CONDITIONS = import.meta.url.endsWith('.ts') ? ['slipway-source'] : [];

/** TypeScript that came with a package: Node itself refuses it there, and the example of this package is such. */
const INSTALLED = /^file:.*\/node_modules\/.*\.ts$/;

const loadInstalled = (url: string) => ({
  format: 'module' as const,
  source: stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'), { mode: 'strip', sourceUrl: url }),
  shortCircuit: true,
});

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
    load: (url, context, next) => (INSTALLED.test(url) ? loadInstalled(url) : next(url, context)),
  });
  return { [Symbol.dispose]: () => hooks.deregister() };
}

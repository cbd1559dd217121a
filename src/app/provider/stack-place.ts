import { fileURLToPath } from 'node:url';

/** Where in a file something was called or thrown; both numbers from 1. */
export interface StackPlace {
  /** Absolute. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The sources of this very package, or what was built of them. */
const OWN = new URL('../../', import.meta.url).href;
const INSTALLED = '/node_modules/';

/**
 * The innermost place of a stack that the author of a definition wrote: nobody corrects a line of ours or of a package.
 * Undefined when the stack holds none, as for what Node itself refuses.
 */
export function authorPlace(thrown: unknown, definition: string): StackPlace | undefined {
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  // The example of an installed Slipway is in a package itself.
  const isForeign = (url: string) =>
    url.startsWith(OWN) || (url.includes(INSTALLED) && !definition.includes(INSTALLED));
  const frames = [...stack.matchAll(/(file:\/\/\S+?):(\d+):(\d+)\)?$/gm)];
  const [, url, line, column] = frames.find(([, found = '']) => !isForeign(found)) ?? [];
  if (url === undefined) return undefined;
  return { file: fileURLToPath(url), line: Number(line), column: Number(column) };
}

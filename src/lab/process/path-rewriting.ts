import { outerFirst, type Redirect } from './mounts.ts';

/**
 * What may stand before a path and after it in an argument or a variable. The empty host of a URL such as
 * `unix:///csi/csi.sock` and the operators of a shell command count too; a bar or a bracket before a path does not:
 * it is more likely a regular expression.
 */
const BEFORE = String.raw`^|[=:,\s'"\x60<>]|:\/\/`;
const AFTER = String.raw`$|[/=:,\s'"\x60<>;)|&]`;

/** The text with each mounted path in it replaced by where it leads to; nothing else changes (P8). */
export function rewritten(text: string, redirects: readonly Redirect[]): string {
  if (redirects.length === 0) return text;
  const sources = new Map(redirects.map(({ mountPath, source }) => [mountPath, source]));
  // The innermost first: a mount within a mount is its own place.
  const paths = outerFirst(redirects)
    .toReversed()
    .map(({ mountPath }) => mountPath.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`));
  const pattern = new RegExp(`(?<=${BEFORE})(?:${paths.join('|')})(?=${AFTER})`, 'g');
  return text.replaceAll(pattern, (path) => sources.get(path) ?? path);
}

/** The opposite: what a program would have seen without the rewriting. */
export const unrewritten = (text: string, redirects: readonly Redirect[]): string =>
  rewritten(
    text,
    redirects.map(({ mountPath, source }) => ({ mountPath: source, source: mountPath })),
  );

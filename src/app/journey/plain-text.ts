import { relative, sep } from 'node:path';

// Everything a terminal might obey or that changes the order or width of other characters: control characters, format
// characters (joiners, direction marks), lone surrogates, private use, line and paragraph separators.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
const VARIATION_SELECTORS = /[\uFE00-\uFE0F]/g;

/**
 * Text as text, on one line: names and messages may come from anybody, and a terminal would obey the escape sequences in
 * them (experience 13, hostile text). Line breaks become spaces.
 */
export const printable = (text: string): string =>
  text
    .replace(/\s*[\r\n\t]+\s*/g, ' ')
    .replace(UNPRINTABLE, '\uFFFD')
    .replace(VARIATION_SELECTORS, '');

/** A path as the user in `folder` would write it: relative when it is below that folder (experience X29). */
export function shownPath(folder: string, path: string): string {
  const short = relative(folder, path);
  const isBelow = short !== '..' && !short.startsWith(`..${sep}`);
  return isBelow ? short || '.' : path;
}

/** Text that a shell reads as one word. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

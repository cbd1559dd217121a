import type { Json } from './json.ts';
import { parseCarefully } from './json-careful.ts';
import { exactNumber } from './json-text.ts';

// A number of so many digits may be one that `JSON.parse` rounds. Behind the colon of a key, not of a digest in a text.
const LONG_NUMBER = /(?:(?<="\s*):|[,[])\s*-?\d{16}/;
const LONG_NUMBER_ALONE = /^\s*-?\d{16}/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;

/**
 * JSON that a server wrote, with nothing lost: integers of 64 bits are exact (`bigint` beyond 2^53), every key stays
 * what it is. Text of that kind is rare and takes a slower way; for all other text this is `JSON.parse` and one search.
 * Throws a SyntaxError for text that is no JSON. Unlike `parseJson`, it does not look for what only a hostile writer
 * sends: keys that occur twice, nesting without end.
 */
export function parseExact(text: string): Json {
  const value: Json = JSON.parse(text);
  return needsCare(text, value) ? parseCarefully(text, exactNumber).value : value;
}

/** Every object with `managedFields` has escaped keys: those that give their text again were not mistaken. */
const needsCare = (text: string, value: Json): boolean =>
  LONG_NUMBER.test(text) ||
  LONG_NUMBER_ALONE.test(text) ||
  // Servers in Go end their answers with a new line.
  (hasEscapedKey(text) && JSON.stringify(value) !== text.trimEnd());

/**
 * Whether a string with an escape ends as a key: V8 13.6 can mistake such keys for others (see `parseCarefully`). By
 * hand, since texts within texts are full of escapes: four times as fast as an expression.
 */
function hasEscapedKey(text: string): boolean {
  let at = text.indexOf('\\');
  while (at >= 0) {
    // Behind the escape, to the next one or to the end of the string.
    let end = at + 2;
    while (end < text.length && text.charCodeAt(end) !== QUOTE && text.charCodeAt(end) !== BACKSLASH) end++;
    if (text.charCodeAt(end) === BACKSLASH) at = end;
    else if (isBeforeColon(text, end + 1)) return true;
    else at = text.indexOf('\\', end + 1);
  }
  return false;
}

function isBeforeColon(text: string, start: number): boolean {
  let at = start;
  while (text.charCodeAt(at) <= SPACE) at++;
  return text.charCodeAt(at) === COLON;
}

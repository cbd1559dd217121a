import { type Json, type JsonObject, setKey } from './json.ts';

// Upstream remembers no more problems than this.
const MOST_DUPLICATES = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;

// So many digits are exact as a number, whatever they are.
const SAFE_DIGITS = 15;
// V8 makes a longer part of a text a view of it: one name that is kept would keep the whole list it came in.
const LONGEST_COPIED = 12;

/**
 * Reads text that is known to be JSON without `JSON.parse` for its objects, and finds keys that occur twice, as paths
 * like `spec.ports[0].name` in the order of the text. Several times slower: only for text with large numbers and with
 * equal or escaped keys. The latter because V8 13.6 can mistake an escaped key for one that an earlier, unrelated text
 * had at the same place: after `{"b":1,"\\":1}` it reads the key `\n` of `{"b":1,"\n":1}` as a backslash.
 */
export function parseCarefully(text: string, numberOf: (source: string) => number | bigint) {
  const reader = new CarefulReader(text, numberOf);
  const value = reader.value();
  return { value, duplicates: [...reader.duplicates] };
}

class CarefulReader {
  readonly duplicates = new Set<string>();
  readonly #text: string;
  readonly #numberOf: (source: string) => number | bigint;
  /** The keys and positions of what is being read. Paths are made of it when there is something to tell. */
  readonly #path: (string | number)[] = [];
  #at = 0;
  /** Where the next backslash is, as far as it was looked for. */
  #escape = -1;

  constructor(text: string, numberOf: (source: string) => number | bigint) {
    this.#text = text;
    this.#numberOf = numberOf;
  }

  value(): Json {
    const code = this.#space();
    if (code === QUOTE) return this.#string(LONGEST_COPIED);
    if (code === OPEN_BRACE) return this.#object();
    if (code === OPEN_BRACKET) return this.#list();
    return code === MINUS || isDigit(code) ? this.#number(code) : this.#word();
  }

  #object(): JsonObject {
    const result: JsonObject = {};
    const level = this.#path.length;
    this.#at++;
    while (this.#next() === QUOTE) {
      // Keys of objects are never views.
      const key = this.#string(Number.POSITIVE_INFINITY);
      this.#path[level] = key;
      if (Object.hasOwn(result, key)) this.#duplicate(level);
      this.#next();
      setKey(result, key, this.value());
    }
    this.#path.length = level;
    this.#at++;
    return result;
  }

  #duplicate(level: number): void {
    if (this.duplicates.size >= MOST_DUPLICATES) return;
    const parts = this.#path.slice(0, level + 1);
    const path = parts.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
    this.duplicates.add(typeof parts[0] === 'number' ? path : path.slice(1));
  }

  #list(): Json[] {
    const result: Json[] = [];
    const level = this.#path.length;
    this.#at++;
    while (this.#next() !== CLOSE_BRACKET) {
      this.#path[level] = result.length;
      result.push(this.value());
    }
    this.#path.length = level;
    this.#at++;
    return result;
  }

  #number(first: number): number | bigint {
    const start = this.#at;
    let code = first;
    let value = 0;
    while (isDigit(code)) {
      value = value * 10 + code - 0x30;
      code = this.#text.charCodeAt(++this.#at);
    }
    // Nearly all numbers are short, without sign or fraction.
    if (isEnd(code) && this.#at - start <= SAFE_DIGITS) return value;
    while (!isEnd(this.#text.charCodeAt(this.#at))) this.#at++;
    return this.#numberOf(this.#text.slice(start, this.#at));
  }

  /** `null`, `true` or `false`. */
  #word(): Json {
    const start = this.#at;
    while (!isEnd(this.#text.charCodeAt(this.#at))) this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as Json;
  }

  /** A part of the text as it is when it has no escapes and is not longer than `mostCut`, else a copy. */
  #string(mostCut: number): string {
    const start = this.#at;
    const end = this.#endOfString(start + 1);
    this.#at = end + 1;
    const isCut = this.#escape >= end && end - start - 1 <= mostCut;
    return isCut ? this.#text.slice(start + 1, end) : (JSON.parse(this.#text.slice(start, end + 1)) as string);
  }

  /** Where the quote is; most strings have no escapes, so it is the next one. */
  #endOfString(start: number): number {
    const text = this.#text;
    if (this.#escape < start) this.#escape = text.indexOf('\\', start);
    if (this.#escape < 0) this.#escape = text.length;
    const end = text.indexOf('"', start);
    if (end <= this.#escape) return end;
    let at = this.#escape;
    while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
    return at;
  }

  /** The character after space and one comma or colon. */
  #next(): number {
    const code = this.#space();
    if (code !== COMMA && code !== COLON) return code;
    this.#at++;
    return this.#space();
  }

  #space(): number {
    let code = this.#text.charCodeAt(this.#at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09)
      code = this.#text.charCodeAt(++this.#at);
    return code;
  }
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Not a number is the end of the text. */
const isEnd = (code: number): boolean =>
  !(code > 0x20) || code === COMMA || code === CLOSE_BRACKET || code === 0x7d;

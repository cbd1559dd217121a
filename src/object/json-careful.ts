import { type Json, type JsonObject, setKey } from './json.ts';

// Upstream remembers no more problems than this.
const MOST_DUPLICATES = 100;

/**
 * Reads text that is known to be JSON without `JSON.parse` for its objects, and finds keys that occur twice, as paths
 * like `spec.ports[0].name` in the order of the text. Slow: only for text with equal or escaped keys. The latter because
 * V8 13.6 can mistake an escaped key for one that an earlier, unrelated text had at the same place: after
 * `{"b":1,"\\":1}` it reads the key `\n` of `{"b":1,"\n":1}` as a backslash.
 */
export function parseCarefully(text: string, numberOf: (source: string) => number | bigint) {
  const reader = new CarefulReader(text, numberOf);
  const value = reader.value('');
  return { value, duplicates: [...reader.duplicates] };
}

class CarefulReader {
  readonly duplicates = new Set<string>();
  readonly #text: string;
  readonly #numberOf: (source: string) => number | bigint;
  #at = 0;

  constructor(text: string, numberOf: (source: string) => number | bigint) {
    this.#text = text;
    this.#numberOf = numberOf;
  }

  value(path: string): Json {
    this.#space();
    const char = this.#text[this.#at];
    if (char === '{') return this.#object(path);
    if (char === '[') return this.#list(path);
    return char === '"' ? this.#string() : this.#scalar();
  }

  #object(path: string): JsonObject {
    const result: JsonObject = {};
    this.#at++;
    while (this.#next() === '"') {
      const key = this.#string();
      const child = path === '' ? key : `${path}.${key}`;
      if (Object.hasOwn(result, key) && this.duplicates.size < MOST_DUPLICATES) this.duplicates.add(child);
      this.#next();
      setKey(result, key, this.value(child));
    }
    this.#at++;
    return result;
  }

  #list(path: string): Json[] {
    const result: Json[] = [];
    this.#at++;
    while (this.#next() !== ']') result.push(this.value(`${path}[${result.length}]`));
    this.#at++;
    return result;
  }

  #scalar(): Json {
    const start = this.#at;
    while (!isEnd(this.#text[this.#at])) this.#at++;
    const source = this.#text.slice(start, this.#at);
    const value = JSON.parse(source) as Json;
    return typeof value === 'number' ? this.#numberOf(source) : value;
  }

  #string(): string {
    const start = this.#at;
    for (;;) {
      const char = this.#text[++this.#at];
      if (char === '\\') this.#at++;
      else if (char === '"') break;
    }
    this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  /** The character after space and one comma or colon. */
  #next(): string | undefined {
    this.#space();
    const char = this.#text[this.#at];
    if (char !== ',' && char !== ':') return char;
    this.#at++;
    this.#space();
    return this.#text[this.#at];
  }

  #space(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++;
  }
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

const isEnd = (char: string | undefined): boolean =>
  char === undefined || char === ',' || char === '}' || char === ']' || char <= ' ';

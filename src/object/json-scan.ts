/** What one look at a text tells about it before it is parsed. */
export interface JsonScan {
  /** Index of the bracket that opens level 513; -1 when there is none. */
  readonly tooDeepAt: number;
  /** A number that `JSON.parse` may round or turn into Infinity. */
  readonly hasLargeNumber: boolean;
  /** Two keys of one object may be equal. Never false when they are; rarely true when they are not. */
  readonly mayHaveDuplicates: boolean;
  /** A string holds an escaped surrogate, perhaps a lone one. */
  readonly hasSurrogateEscape: boolean;
}

/** Recursive functions of this folder assume no more levels (reliability P9). */
export const MAX_DEPTH = 512;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

// Up to this many keys are compared one by one: cheaper than a Set for nearly every object there is.
const FEW_KEYS = 16;

// Shared by all calls: scanning is synchronous and never re-entered.
const hashes = new Int32Array((MAX_DEPTH + 1) * FEW_KEYS);
const firstHash = new Int32Array(MAX_DEPTH + 1);
const isObject = new Uint8Array(MAX_DEPTH + 1);

/** Looks at every character once. Text that is not JSON gives some answer; `JSON.parse` refuses it afterwards. */
export function scanJson(text: string): JsonScan {
  const scanner = new Scanner(text);
  scanner.run();
  return scanner;
}

class Scanner implements JsonScan {
  tooDeepAt = -1;
  hasLargeNumber = false;
  mayHaveDuplicates = false;
  hasSurrogateEscape = false;
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #top = 0;
  #expectsKey = false;
  /** The hashes of objects with many keys, by depth. */
  #many: (Set<number> | undefined)[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    const text = this.#text;
    const end = text.length;
    while (this.#at < end) {
      const char = text.charCodeAt(this.#at);
      if (char === QUOTE) {
        if (this.#expectsKey) this.#key();
        else this.#string();
      } else if (char >= OPEN_BRACKET) {
        if (!this.#letterOrBracket(char)) return;
      } else if (char === COMMA) {
        this.#expectsKey = isObject[this.#depth] === 1;
        this.#at++;
      } else if (char >= 0x30 && char <= 0x39) {
        this.#number();
      } else {
        this.#at++;
      }
    }
  }

  /** False ends the scan: too deep, or more brackets closed than opened. */
  #letterOrBracket(char: number): boolean {
    this.#at++;
    if (char === OPEN_BRACE || char === OPEN_BRACKET) return this.#open(char);
    if (char === CLOSE_BRACE || char === CLOSE_BRACKET) return this.#close();
    return true;
  }

  #open(char: number): boolean {
    if (this.#depth === MAX_DEPTH) {
      this.tooDeepAt = this.#at - 1;
      return false;
    }
    const depth = ++this.#depth;
    firstHash[depth] = this.#top;
    isObject[depth] = char === OPEN_BRACE ? 1 : 0;
    this.#expectsKey = char === OPEN_BRACE;
    return true;
  }

  #close(): boolean {
    if (this.#depth === 0) return false;
    this.#top = firstHash[this.#depth] ?? 0;
    if (this.#many.length > this.#depth) this.#many[this.#depth] = undefined;
    this.#depth--;
    this.#expectsKey = false;
    return true;
  }

  #number(): void {
    const start = this.#at;
    let char = this.#digits();
    if (this.#at - start >= 16) this.hasLargeNumber = true;
    // `e` and `E`: the exponent may be large; a few digits of it are not.
    if ((char | 0x20) !== 0x65) return;
    char = this.#text.charCodeAt(this.#at + 1);
    if (char === 0x2b || char === 0x2d) this.#at++;
    const exponent = this.#at;
    this.#digits();
    if (this.#at - exponent > 3) this.hasLargeNumber = true;
  }

  /** The character after the digits that follow. */
  #digits(): number {
    for (;;) {
      const char = this.#text.charCodeAt(++this.#at);
      if (char < 0x30 || char > 0x39 || Number.isNaN(char)) return char;
    }
  }

  #string(): void {
    const text = this.#text;
    const end = text.length;
    let at = this.#at + 1;
    while (at < end) {
      const char = text.charCodeAt(at);
      if (char === QUOTE) break;
      if (char === BACKSLASH) this.#escape(++at);
      at++;
    }
    this.#at = at + 1;
  }

  #escape(at: number): void {
    // \uD800 to \uDFFF
    if (this.#text.charCodeAt(at) !== 0x75) return;
    if ((this.#text.charCodeAt(at + 1) | 0x20) !== 0x64) return;
    if (this.#text.charCodeAt(at + 2) >= 0x38) this.hasSurrogateEscape = true;
  }

  #key(): void {
    const text = this.#text;
    const end = text.length;
    let hash = 0;
    let at = this.#at + 1;
    while (at < end) {
      const char = text.charCodeAt(at);
      if (char === QUOTE) break;
      if (char === BACKSLASH) {
        // The same key can be escaped in several ways: only the exact search knows.
        this.mayHaveDuplicates = true;
        this.#escape(++at);
      }
      hash = (Math.imul(hash, 31) + char) | 0;
      at++;
    }
    this.#at = at + 1;
    this.#expectsKey = false;
    this.#remember(hash);
  }

  #remember(hash: number): void {
    const depth = this.#depth;
    const many = this.#many[depth];
    if (many !== undefined) {
      if (many.has(hash)) this.mayHaveDuplicates = true;
      many.add(hash);
      return;
    }
    const first = firstHash[depth] ?? 0;
    for (let index = first; index < this.#top; index++) {
      if (hashes[index] === hash) {
        this.mayHaveDuplicates = true;
        return;
      }
    }
    if (this.#top - first === FEW_KEYS) {
      this.#many[depth] = new Set(hashes.subarray(first, this.#top)).add(hash);
      return;
    }
    hashes[this.#top++] = hash;
  }
}

import { goQuote } from './validation/go-text.ts';

/**
 * Why bytes are not JSON, in the words of Go's decoder: what clients of Kubernetes read. Only for text that
 * `JSON.parse` has refused, so that nothing here has to be fast.
 */
export function jsonSyntaxError(bytes: Uint8Array): string {
  try {
    const reader = new Reader(bytes);
    reader.value();
    reader.space();
    if (!reader.isAtEnd()) reader.refuse('after top-level value');
    return 'invalid JSON';
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

class Refusal extends Error {}

const LITERALS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };
const HEX = /^[0-9a-fA-F]$/;

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The byte here as a character of Latin-1, as Go prints it; the end of the text refuses. */
  #peek(): string {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Refusal('unexpected end of JSON input');
    return String.fromCharCode(byte);
  }

  /** Within a number, a literal or an escape Go takes the end of the text for a space. */
  #inToken(): string {
    return this.isAtEnd() ? ' ' : this.#peek();
  }

  refuse(context: string, char = this.#peek()): never {
    throw new Refusal(`invalid character ${quoted(char)} ${context}`);
  }

  space(): void {
    while (' \t\r\n'.includes(String.fromCharCode(this.#bytes[this.#at] ?? 0)) && !this.isAtEnd()) this.#at++;
  }

  value(): void {
    this.space();
    const char = this.#peek();
    const literal = LITERALS[char];
    if (char === '{') this.#object();
    else if (char === '[') this.#list();
    else if (char === '"') this.#string();
    else if (char === '-' || isDigit(char)) this.#number();
    else if (literal !== undefined) this.#literal(literal);
    else this.refuse('looking for beginning of value');
  }

  #object(): void {
    this.#at++;
    this.space();
    if (this.#accepts('}')) return;
    for (;;) {
      this.space();
      if (this.#peek() !== '"') this.refuse('looking for beginning of object key string');
      this.#string();
      this.space();
      if (!this.#accepts(':')) this.refuse('after object key');
      this.value();
      this.space();
      if (this.#accepts('}')) return;
      if (!this.#accepts(',')) this.refuse('after object key:value pair');
    }
  }

  #list(): void {
    this.#at++;
    this.space();
    if (this.#accepts(']')) return;
    for (;;) {
      this.value();
      this.space();
      if (this.#accepts(']')) return;
      if (!this.#accepts(',')) this.refuse('after array element');
    }
  }

  #accepts(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at++;
    return true;
  }

  #string(): void {
    this.#at++;
    for (;;) {
      const char = this.#peek();
      if (char < ' ') this.refuse('in string literal');
      this.#at++;
      if (char === '"') return;
      if (char === '\\') this.#escape();
    }
  }

  #escape(): void {
    const char = this.#inToken();
    if (!'"\\/bfnrtu'.includes(char)) this.refuse('in string escape code', this.#inToken());
    this.#at++;
    if (char !== 'u') return;
    for (let count = 0; count < 4; count++) {
      if (!HEX.test(this.#inToken())) this.refuse('in \\u hexadecimal character escape', this.#inToken());
      this.#at++;
    }
  }

  #number(): void {
    if (this.#inToken() === '-') this.#at++;
    if (!isDigit(this.#inToken())) this.refuse('in numeric literal', this.#inToken());
    if (this.#inToken() === '0') this.#at++;
    else this.#digits();
    if (this.#inToken() === '.') {
      this.#at++;
      if (!isDigit(this.#inToken())) this.refuse('after decimal point in numeric literal', this.#inToken());
      this.#digits();
    }
    if (this.#inToken() === 'e' || this.#inToken() === 'E') {
      this.#at++;
      if (this.#inToken() === '+' || this.#inToken() === '-') this.#at++;
      if (!isDigit(this.#inToken())) this.refuse('in exponent of numeric literal', this.#inToken());
      this.#digits();
    }
  }

  #digits(): void {
    while (isDigit(this.#inToken())) this.#at++;
  }

  #literal(word: string): void {
    for (const char of word) {
      if (this.#inToken() !== char) this.refuse(`in literal ${word} (expecting '${char}')`, this.#inToken());
      this.#at++;
    }
  }
}

const isDigit = (char: string): boolean => char >= '0' && char <= '9';

/** A character as Go's JSON reader prints it: as %q does, in single quotes. */
function quoted(char: string): string {
  if (char === "'") return "'\\''";
  return char === '"' ? `'"'` : `'${goQuote(char).slice(1, -1)}'`;
}

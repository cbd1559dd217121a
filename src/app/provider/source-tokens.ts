/** A word of a source file, with where it is in the text. */
export interface Token {
  readonly kind: 'name' | 'text' | 'mark' | 'other';
  /** Of a text without its quotes. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** After these a slash begins a pattern; anywhere else it divides. */
const BEFORE_PATTERN = new Set([
  '',
  '(',
  ',',
  '=',
  ':',
  '[',
  '!',
  '&',
  '|',
  '?',
  '{',
  '}',
  ';',
  '=>',
  'return',
  '+',
]);

const SPACE = /[\s]+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
const NAME = /[\p{ID_Start}$_#][\p{ID_Continue}$]*/uy;
const QUOTED = /'(?:[^'\\\n]|\\[\s\S])*'?|"(?:[^"\\\n]|\\[\s\S])*"?/y;
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const NUMBER = /\d[\w.]*/y;
const MARK = /=>|\.\.\.|[\s\S]/y;

/**
 * The words of JavaScript or TypeScript, without comments. Good enough to find things in; whatever it does not understand
 * it takes letter by letter, so it always gets to the end.
 */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const space = match(SPACE, source, at);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const token = tokenAt(source, at, tokens.at(-1)?.text ?? '');
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function tokenAt(source: string, start: number, before: string): Token {
  const make = (kind: Token['kind'], text: string, length = text.length): Token => ({
    kind,
    text,
    start,
    end: start + length,
  });
  const name = match(NAME, source, start);
  if (name !== undefined) return make('name', name);
  const quoted = match(QUOTED, source, start);
  if (quoted !== undefined) return make('text', quoted.slice(1, -1), quoted.length);
  const letter = source.charAt(start);
  if (letter === '`') return make('other', '`', templateEnd(source, start) - start);
  const pattern = letter === '/' && BEFORE_PATTERN.has(before) ? match(PATTERN, source, start) : undefined;
  const whole = pattern ?? match(NUMBER, source, start);
  return whole === undefined ? make('mark', match(MARK, source, start) ?? letter) : make('other', whole);
}

function match(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

/** Behind the closing backtick; what stands in `${…}` may hold braces, but hardly ever backticks. */
function templateEnd(source: string, start: number): number {
  for (let at = start + 1; at < source.length; at++) {
    if (source.charAt(at) === '\\') at++;
    else if (source.charAt(at) === '`') return at + 1;
  }
  return source.length;
}

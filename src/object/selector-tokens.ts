/** What a token of a label selector is; `in` and `notin` are words that are also values. */
export type TokenKind =
  | 'word'
  | 'in'
  | 'notin'
  | 'end'
  | 'error'
  | '!'
  | '='
  | '=='
  | '!='
  | '>'
  | '<'
  | '('
  | ')'
  | ',';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const SYMBOLS: readonly TokenKind[] = ['!', '=', '==', '!=', '>', '<', '(', ')', ','];
const SYMBOL_CHARS = '!=><(),';
const isSpace = (char: string): boolean => char === ' ' || char === '\t' || char === '\r' || char === '\n';

/** The tokens of a label selector; the last one is `end`. */
export function selectorTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? '';
    if (isSpace(char)) {
      at++;
      continue;
    }
    const token = SYMBOL_CHARS.includes(char) ? symbolAt(text, at) : wordAt(text, at);
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

/** The longest symbol that starts here. */
function symbolAt(text: string, at: number): Token {
  const two = text.slice(at, at + 2);
  const found = SYMBOLS.find((symbol) => symbol === two) ?? SYMBOLS.find((symbol) => symbol === text[at]);
  return { kind: found ?? 'error', text: found ?? text.slice(at, at + 1) };
}

function wordAt(text: string, at: number): Token {
  let end = at;
  while (end < text.length && !SYMBOL_CHARS.includes(text[end] ?? '') && !isSpace(text[end] ?? '')) end++;
  const word = text.slice(at, end);
  return { kind: word === 'in' || word === 'notin' ? word : 'word', text: word };
}

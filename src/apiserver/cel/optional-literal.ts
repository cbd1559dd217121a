/**
 * The parser below does not know optional elements (`[?a]`, `{?'k': v}`). Their question marks are replaced by blanks of
 * the same length, so that all offsets stay, and remembered.
 */
export interface BlankedSource {
  readonly text: string;
  /** Offsets of the blanked question marks, ascending. */
  readonly marks: readonly number[];
}

export function blankOptionalElements(source: string): BlankedSource {
  if (!/[[{,]\s*\?/.test(source)) return { text: source, marks: [] };
  const marks: number[] = [];
  let previous = '';
  let beforeBracket = '';
  for (let index = 0; index < source.length; ) {
    const end = endOfToken(source, index);
    const token = source.slice(index, end);
    if (token === '?' && opensElement(previous, beforeBracket)) marks.push(index);
    if (token.trim() !== '' && !token.startsWith('//')) {
      if (token === '[') beforeBracket = previous;
      previous = token;
    }
    index = end;
  }
  const letters = source.split('');
  for (const mark of marks) letters[mark] = ' ';
  return { text: letters.join(''), marks };
}

/** `a[?0]` is an optional index, not a list. */
const opensElement = (previous: string, beforeBracket: string): boolean =>
  previous === '{' || previous === ',' || (previous === '[' && !/[\w)\]}'"`]$/.test(beforeBracket));

function endOfToken(source: string, start: number): number {
  const literal = /^[rRbB]{0,2}("""|'''|"|')/.exec(source.slice(start, start + 5));
  if (literal !== null) return endOfString(source, start, literal);
  if (source.startsWith('//', start)) {
    const end = source.indexOf('\n', start);
    return end < 0 ? source.length : end;
  }
  const word = /^\w+/.exec(source.slice(start));
  return start + (word?.[0].length ?? 1);
}

function endOfString(source: string, start: number, [opening, quote = '"']: RegExpExecArray): number {
  const isRaw = /[rR]/.test(opening.slice(0, -quote.length));
  for (let index = start + opening.length; index < source.length; index++) {
    if (source[index] === '\\' && !isRaw) index++;
    else if (source.startsWith(quote, index)) return index + quote.length;
  }
  return source.length;
}

/** Which elements of a literal are optional: those with a mark between the element before and themselves. */
export function optionalElements(
  marks: readonly number[],
  start: number,
  elements: readonly { readonly start: number; readonly end: number }[],
): readonly boolean[] {
  let from = start;
  return elements.map((element) => {
    const isOptional = marks.some((mark) => mark >= from && mark < element.start);
    from = element.end;
    return isOptional;
  });
}

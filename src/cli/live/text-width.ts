// Ranges that Unicode's East Asian Width table calls wide or fullwidth, and the blocks of emoji; coarse on purpose: a
// character taken for wide that is not leaves a gap, the other way round breaks the line.
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2329, 0x232a],
  [0x23e9, 0x23f3],
  [0x25fd, 0x25fe],
  [0x2614, 0x2615],
  [0x2648, 0x2653],
  [0x267f, 0x267f],
  [0x2693, 0x2693],
  [0x26a1, 0x26a1],
  [0x26aa, 0x26ab],
  [0x26bd, 0x26be],
  [0x26c4, 0x26c5],
  [0x26ce, 0x26ce],
  [0x26d4, 0x26d4],
  [0x26ea, 0x26ea],
  [0x26f2, 0x26f5],
  [0x26fa, 0x26fd],
  [0x2705, 0x2705],
  [0x270a, 0x270b],
  [0x2728, 0x2728],
  [0x274c, 0x274e],
  [0x2753, 0x2757],
  [0x2795, 0x2797],
  [0x27b0, 0x27bf],
  [0x2b1b, 0x2b1c],
  [0x2b50, 0x2b55],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7ff],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x1b2ff],
  [0x1d300, 0x1d37f],
  [0x1f000, 0x1faff],
  [0x20000, 0x3fffd],
];

const COMBINING = /^\p{M}$/u;
// Spacing marks and joining jamo are drawn beside or inside their base by some terminals and apart by others.
const JOINING = /^[\u1160-\u11ff]$/u;

function characterWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (COMBINING.test(character)) return 0;
  if (JOINING.test(character)) return 1;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** Columns a terminal uses for text without control characters (experience X7). */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** Rows a terminal of that many columns needs for the text; a wide character does not straddle two of them. */
export function wrappedRows(text: string, columns: number): number {
  let [rows, used] = [1, 0];
  for (const character of text) {
    const width = characterWidth(character);
    if (used + width > columns) [rows, used] = [rows + 1, 0];
    used += width;
  }
  return rows;
}

/** The longest start of `text` that fits. */
function head(text: string, width: number): string {
  let [used, end] = [0, 0];
  for (const character of text) {
    used += characterWidth(character);
    if (used > width) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** The longest end of `text` that fits; never starts with a combining mark that belongs to what was cut. */
function tail(text: string, width: number): string {
  const characters = Array.from(text);
  let [used, start] = [0, characters.length];
  while (start > 0 && used + characterWidth(characters[start - 1] ?? '') <= width) {
    start--;
    used += characterWidth(characters[start] ?? '');
  }
  while (start < characters.length && characterWidth(characters[start] ?? '') === 0) start++;
  return characters.slice(start).join('');
}

/** For messages: `Writing image to…`. */
export function cutEnd(text: string, width: number, mark: string): string {
  if (textWidth(text) <= width) return text;
  const room = width - textWidth(mark);
  return room < 1 ? head(text, Math.max(0, width)) : `${head(text, room).trimEnd()}${mark}`;
}

/** For names, whose ends tell them apart: `acme-lab-…-x7k2p`. */
export function cutMiddle(text: string, width: number, mark: string): string {
  if (textWidth(text) <= width) return text;
  const room = width - textWidth(mark);
  if (room < 2) return cutEnd(text, width, mark);
  const start = head(text, Math.ceil(room / 2));
  return `${start}${mark}${tail(text, room - textWidth(start))}`;
}

export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - textWidth(text)));

export const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - textWidth(text))) + text;

/** For what must never be cut: breaks at spaces, and inside a word only where the word alone is too long. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of text.split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (textWidth(longer) <= width) {
      current = longer;
      continue;
    }
    if (current !== '') lines.push(current);
    const pieces = chopped(word, width);
    lines.push(...pieces.slice(0, -1));
    current = pieces.at(-1) ?? '';
  }
  return [...lines, current];
}

function chopped(word: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let rest = word;
  while (textWidth(rest) > width) {
    // One character may be wider than the line itself; then it stands alone rather than looping for ever.
    const piece = head(rest, width) || String.fromCodePoint(rest.codePointAt(0) ?? 0);
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...pieces, rest];
}

/** A command over several lines that a shell still reads as one: each line but the last ends with a backslash. */
export function wrapCommand(command: string, width: number): readonly string[] {
  const words = shellWords(command);
  const lines: string[] = [];
  let current = '';
  for (const word of words) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (current !== '' && textWidth(longer) > width - 2) {
      lines.push(`${current} \\`);
      current = word;
    } else {
      current = longer;
    }
  }
  return [...lines, current].flatMap((line) => chopped(line, width));
}

/** Splits at spaces outside quotes. */
const shellWords = (command: string): readonly string[] => command.match(/(?:'[^']*'|"[^"]*"|[^ ])+/g) ?? [''];

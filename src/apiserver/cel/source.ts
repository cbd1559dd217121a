/** One thing wrong with an expression, at an offset of its source. */
export interface Issue {
  readonly at: number;
  readonly message: string;
}

/** What the parser or a macro finds wrong. */
export class SyntaxProblem extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Issues as upstream prints them: in order of place, each with its line and a marker below it. */
export function formatIssues(source: string, issues: readonly Issue[]): string {
  const sorted = issues.toSorted((a, b) => a.at - b.at);
  return sorted.map((issue) => formatIssue(source, issue)).join('\n');
}

function formatIssue(source: string, { at, message }: Issue): string {
  const before = source.slice(0, at).split('\n');
  const line = (source.split('\n')[before.length - 1] ?? '').replaceAll('\t', ' ');
  const column = Array.from(before.at(-1) ?? '').length;
  const letters = Array.from(line);
  const dots = letters.slice(0, column).map((letter) => (isWide(letter) ? '\uff0e' : '.'));
  const marker = isWide(letters[column] ?? '') ? '\uff3e' : '^';
  return `ERROR: <input>:${before.length}:${column + 1}: ${message}\n | ${line}\n | ${dots.join('')}${marker}`;
}

const isWide = (letter: string): boolean => (letter.codePointAt(0) ?? 0) > 0x7f;

/** Something that a file should not be like. */
export interface Finding {
  /** As the user would write it. */
  readonly file: string;
  /** From 1, as the column; both of the first letter that is meant. */
  readonly line: number;
  readonly column: number;
  /** How many letters are meant. */
  readonly length: number;
  readonly severity: 'error' | 'warning';
  /** For `slipway explain`. */
  readonly code: string;
  /** What is wrong. */
  readonly message: string;
  readonly why: string;
  readonly fix: string;
}

/** What a look at some files brought to light. */
export interface LintReport {
  /** By file, line and column (experience X41). */
  readonly findings: readonly Finding[];
  /** How many files were looked at. */
  readonly files: number;
  /** Text of every file that a finding is in, by its name. */
  readonly sources: ReadonlyMap<string, string>;
}

/** In the order of the files, whatever found them. */
export const sorted = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted(
    (a, b) =>
      order(a.file, b.file) ||
      a.line - b.line ||
      a.column - b.column ||
      order(a.code, b.code) ||
      order(a.message, b.message),
  );

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

export const countOf = (findings: readonly Finding[], severity: Finding['severity']): number =>
  findings.filter((finding) => finding.severity === severity).length;

/** Whether the lines around a finding may be shown: not where a secret may stand (experience X13). */
export const isShowable = ({ code }: Finding): boolean => code !== 'SW2122';

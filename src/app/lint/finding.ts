/** Something that a file should not be like. */
export interface Finding {
  /** As the user would write it. */
  readonly file: string;
  /** From 1, as the column; both of the first letter that is meant. Absent when nothing but the file is known. */
  readonly line?: number;
  readonly column?: number;
  /** How many letters are meant. */
  readonly length?: number;
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
  /** What explains codes that are not among the failures. */
  readonly rules?: ReadonlyMap<string, LintRule>;
}

/** What a code stands for. */
export interface LintRule {
  readonly title: string;
  readonly why: string;
  readonly fix: string;
}

/** As the user would write it, with what is known of the place: terminals make a link of it (experience X41). */
export const placeText = ({ file, line, column }: Pick<Finding, 'file' | 'line' | 'column'>): string =>
  [file, line, column].filter((part) => part !== undefined).join(':');

/** In the order of the files, then of the places in them; findings of one place stay in their order. */
export const sorted = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted(
    (a, b) => order(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

export const countOf = (findings: readonly Finding[], severity: Finding['severity']): number =>
  findings.filter((finding) => finding.severity === severity).length;

/** Whether the lines around a finding may be shown: not where a secret may stand (experience X13). */
export const isShowable = ({ code }: Finding): boolean => code !== 'SW2122';

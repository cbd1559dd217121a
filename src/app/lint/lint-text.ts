import { humanDuration } from '../../base/duration.ts';
import { redactedText } from '../../base/redaction.ts';
import { FAILURES, isFailureCode } from '../failures.ts';
import { printable } from '../journey/plain-text.ts';
import { countOf, type Finding, isShowable, type LintReport, placeText } from './finding.ts';

/** Lines before the one that is meant. */
const CONTEXT_LINES = 2;
const LONGEST_LINE = 120;
const TAB = '  ';
const GUTTER = 6;

export interface LintEnd {
  readonly durationMs: number;
  /** There are errors, or more warnings than are allowed. */
  readonly isFailed: boolean;
}

/** Findings for people, with the lines that they are about, and how it ended (experience X41). */
export function lintText({ findings, files, sources, rules }: LintReport, end: LintEnd): string {
  const hidden = findings.filter((finding) => !isShowable(finding));
  const parts = findings.flatMap((finding) => {
    const isSecret = (line: number) => hidden.some((other) => other.file === finding.file && other.line === line);
    const lines = (sources.get(finding.file) ?? '').split('\n');
    return findingLines(
      finding,
      lines.map((text, index) => (isSecret(index + 1) ? '…' : text)),
      titleOf(finding.code, rules),
    );
  });
  return [...parts, summary(findings, files, end)].join('\n');
}

function findingLines(finding: Finding, lines: readonly string[], title: string): readonly string[] {
  const { severity, code, message, why, fix } = finding;
  const indent = ' '.repeat(GUTTER);
  return [
    `${placeText(finding)}  ${severity}  ${code}  ${printable(message)}`,
    ...(isShowable(finding) ? excerpt(finding, lines, title) : []),
    ...(why === '' ? [] : [`${indent}= why   ${printable(why)}`]),
    `${indent}= fix   ${printable(fix)}`,
  ];
}

/** The line that is meant under those before it, with marks below. */
function excerpt(
  { line = 0, column = 1, length = 1 }: Finding,
  lines: readonly string[],
  title: string,
): readonly string[] {
  const meant = lines[line - 1];
  if (meant === undefined) return [];
  const first = Math.max(1, line - CONTEXT_LINES);
  const rows = lines
    .slice(first - 1, line)
    .map((text, index) => `${String(first + index).padStart(GUTTER - 1)} │ ${shownLine(text)}`.trimEnd());
  const before = shownLine(meant.slice(0, column - 1)).length;
  const marks = Math.max(1, Math.min(shownLine(meant.slice(column - 1)).length, length));
  const isVisible = before + marks <= LONGEST_LINE;
  return isVisible ? [...rows, `${' '.repeat(GUTTER)}│ ${' '.repeat(before)}${'^'.repeat(marks)}${title}`] : rows;
}

/** Nothing that a terminal would obey, no secret, not too long; one column per letter. */
function shownLine(text: string): string {
  // The field of a definition holds names of secrets, which are none.
  const [field = '', ...rest] = text.split(/(?<=\bsecrets)(?=\s*:)/);
  const clean = rest.length === 0 ? redactedText(field) : text;
  const plain = printable(clean.replaceAll('\t', TAB));
  return plain.length > LONGEST_LINE ? `${plain.slice(0, LONGEST_LINE - 1)}…` : plain;
}

const titleOf = (code: string, rules: LintReport['rules']): string => {
  const title = isFailureCode(code) ? FAILURES[code].title : (rules?.get(code)?.title ?? '');
  // Not of a word such as YAML.
  return title === '' ? '' : ` ${title.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())}`;
};

/** The same for a screen reader (experience X5): no symbols, no excerpt, a label before each line. */
export function plainLintText({ findings, files }: LintReport, end: LintEnd): string {
  const lines = findings.flatMap((finding) => [
    `${placeText(finding)}: ${finding.severity} ${finding.code}: ${spoken(finding.message)}`,
    ...(finding.why === '' ? [] : [`Why: ${spoken(finding.why)}`]),
    `Fix: ${spoken(finding.fix)}`,
  ]);
  const command = explainCommand(findings);
  return [
    ...lines,
    `${WORDS[outcomeOf(findings, end)]}: ${countsOf(findings, files)}, ${humanDuration(end.durationMs)}`,
    ...(command === undefined ? [] : [`To have it explained: ${command}`]),
  ].join('\n');
}

const spoken = (text: string): string => printable(text).replaceAll('…', '...').replaceAll(' → ', ' to ');

function summary(findings: readonly Finding[], files: number, end: LintEnd): string {
  const command = explainCommand(findings);
  return [
    `${SYMBOLS[outcomeOf(findings, end)]} ${countsOf(findings, files)}`,
    humanDuration(end.durationMs),
    ...(command === undefined ? [] : [`explain: ${command}`]),
  ].join(' · ');
}

const SYMBOLS = { failed: '✖', attention: '▲', done: '✔' } as const;
const WORDS = { failed: 'Failed', attention: 'Attention', done: 'Done' } as const;

const outcomeOf = (findings: readonly Finding[], { isFailed }: LintEnd): keyof typeof SYMBOLS => {
  if (isFailed) return 'failed';
  return findings.length > 0 ? 'attention' : 'done';
};

/** What explains the worst of them; as all commands that users may copy it works in a project, too. */
function explainCommand(findings: readonly Finding[]): string | undefined {
  const worst = findings.find(({ severity }) => severity === 'error') ?? findings[0];
  return worst && `npx slipway explain ${worst.code}`;
}

function countsOf(findings: readonly Finding[], files: number): string {
  const [errors, warnings] = [countOf(findings, 'error'), countOf(findings, 'warning')];
  return `${counted(errors, 'error')}, ${counted(warnings, 'warning')} in ${counted(files, 'file')}`;
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

import { sep } from 'node:path';
import { FAILURES, type FailureEntry, isFailureCode } from '../failures.ts';
import type { Finding, LintReport, LintRule } from './finding.ts';

/** The same findings for programs that read SARIF 2.1.0: code hosts, editors. */
export function lintSarif({ findings, rules }: LintReport, version: string): unknown {
  const codes = [...new Set(findings.map(({ code }) => code))].toSorted();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'slipway', version, rules: codes.map((code) => ruleOf(code, textOf(code, rules))) },
        },
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => resultOf(finding, codes.indexOf(finding.code))),
      },
    ],
  };
}

function ruleOf(code: string, text: LintRule | undefined): unknown {
  if (text === undefined) return { id: code };
  return {
    id: code,
    shortDescription: { text: text.title },
    fullDescription: { text: text.why },
    help: { text: `${text.fix} (npx slipway explain ${code})` },
  };
}

function textOf(code: string, rules: LintReport['rules']): LintRule | undefined {
  if (!isFailureCode(code)) return rules?.get(code);
  const { title, cause, fix }: FailureEntry = FAILURES[code];
  return { title, why: cause, fix };
}

function resultOf(finding: Finding, ruleIndex: number) {
  const { file, severity, code, message, why, fix } = finding;
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: {
      text: [message, ...(why === '' ? [] : [`Why: ${why}`]), `Fix: ${fix}`].map(sentence).join(' '),
    },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          ...regionOf(finding),
        },
      },
    ],
  };
}

/** Some parts end with a question or with dots of their own. */
const sentence = (text: string): string => (/[.?!…]$/.test(text) ? text : `${text}.`);

/** Without one, a result is about the whole file. */
const regionOf = ({ line, column = 1, length = 1 }: Finding) =>
  line === undefined ? {} : { region: { startLine: line, startColumn: column, endColumn: column + length } };

/** Relative to where the command ran, as code hosts want it; `file:` only for what is outside. */
const uriOf = (file: string): string => {
  const path = file.split(sep).map(encodeURIComponent).join('/');
  return path.startsWith('/') ? `file://${path}` : path;
};

import { sep } from 'node:path';
import { FAILURES, type FailureEntry, isFailureCode } from '../failures.ts';
import type { Finding, LintReport } from './finding.ts';

/** The same findings for programs that read SARIF 2.1.0: code hosts, editors. */
export function lintSarif({ findings }: LintReport, version: string): unknown {
  const codes = [...new Set(findings.map(({ code }) => code))].toSorted();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'slipway', version, rules: codes.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => resultOf(finding, codes.indexOf(finding.code))),
      },
    ],
  };
}

function ruleOf(code: string): unknown {
  const entry: FailureEntry | undefined = isFailureCode(code) ? FAILURES[code] : undefined;
  if (entry === undefined) return { id: code };
  return {
    id: code,
    shortDescription: { text: entry.title },
    fullDescription: { text: entry.cause },
    help: { text: `${entry.fix} (slipway explain ${code})` },
  };
}

function resultOf({ file, line, column, length, severity, code, message, why, fix }: Finding, ruleIndex: number) {
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: {
      text: [`${message}.`, why === '' ? '' : `Why: ${why}.`, `Fix: ${fix}.`]
        .filter((part) => part !== '')
        .join(' '),
    },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          region: { startLine: line, startColumn: column, endColumn: column + length },
        },
      },
    ],
  };
}

/** Relative to where the command ran, as code hosts want it; `file:` only for what is outside. */
const uriOf = (file: string): string => {
  const path = file.split(sep).map(encodeURIComponent).join('/');
  return path.startsWith('/') ? `file://${path}` : path;
};

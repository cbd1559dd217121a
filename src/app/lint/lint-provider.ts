import { FAILURES, type FailureEntry, isFailureCode } from '../failures.ts';
import { shownPath } from '../journey/plain-text.ts';
import {
  type PlacedProblem,
  type ProviderFile,
  placed,
  readProvider,
  sourceOf,
} from '../provider/load-provider.ts';
import { type Finding, type LintReport, sorted } from './finding.ts';
import { providerWarnings } from './provider-warnings.ts';

/**
 * Everything that is wrong, or could be better, in the definition of a provider: a file, or a folder with one.
 *
 * @throws CommandError when there is no such file.
 */
export async function lintProvider(folder: string, path: string): Promise<LintReport> {
  const loaded = await readProvider(folder, path);
  const file = loaded.kind === 'broken' ? loaded.failure.file : loaded.file;
  const shown = shownPath(folder, file);
  const source = await sourceOf(file);
  return { findings: sorted(findingsIn(loaded, shown, source)), files: 1, sources: new Map([[shown, source]]) };
}

function findingsIn(loaded: ProviderFile, shown: string, source: string): readonly Finding[] {
  const finding = (severity: Finding['severity'], { problem, position }: PlacedProblem): Finding => ({
    file: shown,
    ...position,
    severity,
    code: problem.code,
    message: problem.message,
    why: problem.why ?? causeOf(problem.code),
    fix: problem.hint,
  });
  switch (loaded.kind) {
    case 'right':
      return placed({ problems: providerWarnings(loaded.definition), call: undefined }, source).map((warning) =>
        finding('warning', warning),
      );
    case 'wrong':
      return placed(loaded, source).map((problem) => finding('error', problem));
    case 'broken':
      return [finding('error', brokenProblem(loaded))];
  }
}

function brokenProblem({ code, failure }: Extract<ProviderFile, { kind: 'broken' }>): PlacedProblem {
  const { line, column = 1, message, hint } = failure;
  return {
    problem: { path: '', code, message, hint },
    position: line === undefined ? undefined : { line, column, length: 1 },
  };
}

/** What its code stands for says why, where the problem itself does not; part of a line, as all the others. */
function causeOf(code: string): string {
  const entry: FailureEntry | undefined = isFailureCode(code) ? FAILURES[code] : undefined;
  const cause = entry?.cause ?? '';
  return `${cause.charAt(0).toLowerCase()}${cause.slice(1)}`.replace(/\.$/, '');
}

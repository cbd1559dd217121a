import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StepResult } from './step-result.ts';

const MOST_SHOWN = 12;
const MOST_CHARACTERS = 600;

/** Gathers what a run found: a text per case for people, one line for logs, one file for programs. */
export class Report {
  readonly #results: { readonly case: string; readonly file: string; readonly steps: readonly StepResult[] }[] =
    [];

  add(result: { case: string; file: string; steps: readonly StepResult[] }): void {
    this.#results.push(result);
  }

  get requests(): number {
    return this.#steps.length;
  }

  get summary(): string {
    const different = this.#steps.filter(({ verdict }) => verdict.kind === 'different').length;
    const deliberate = this.#steps.filter(({ verdict }) => verdict.kind === 'deliberate').length;
    return `${this.requests} requests compared, ${different} differences, ${deliberate} deliberate`;
  }

  /** Where SLIPWAY_DIFFERENTIAL_REPORT says, else in the temporary directory; gives the path. */
  async write(name: string): Promise<string> {
    const file = process.env['SLIPWAY_DIFFERENTIAL_REPORT'] ?? join(tmpdir(), `slipway-${name}-report.json`);
    await writeFile(file, JSON.stringify({ summary: this.summary, cases: this.#results }, bigintsAsText, 1));
    return file;
  }

  get #steps(): readonly StepResult[] {
    return this.#results.flatMap(({ steps }) => steps);
  }
}

const bigintsAsText = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

/** The differences of one case, with the request that showed each; empty when there are none. */
export function readableDifferences(steps: readonly StepResult[]): string {
  const lines = steps.flatMap(({ label, verdict }, index) =>
    verdict.kind !== 'different'
      ? []
      : [
          `step ${index + 1}: ${label}`,
          ...verdict.differences
            .slice(0, MOST_SHOWN)
            .flatMap(({ path, upstream, ours }) => [
              `  ${path || '(answer)'}`,
              `    upstream: ${shown(upstream)}`,
              `    ours:     ${shown(ours)}`,
            ]),
          ...(verdict.differences.length > MOST_SHOWN ? [`  … ${verdict.differences.length} in all`] : []),
        ],
  );
  return lines.join('\n');
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

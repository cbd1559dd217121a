import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ChaosOptions } from './chaos-run.ts';

const PROGRAM = fileURLToPath(new URL('./program.ts', import.meta.url));

/** What a run says of itself, as far as tests look at it. */
export interface ChaosReport {
  readonly line: string;
  readonly tried: number;
  readonly survived: number;
  readonly problems: readonly string[];
  readonly objects: number;
  readonly reconciles: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly restarts: number;
}

/** A run in a process of its own, so that nothing else is in its heap and among its sockets. */
export async function chaosReport(options: Partial<ChaosOptions>): Promise<ChaosReport> {
  // NODE_TEST_CONTEXT would make the child report tests.
  const variables = Object.entries(process.env).filter(([name]) => name !== 'NODE_TEST_CONTEXT');
  const child = spawn(process.execPath, ['--expose-gc', PROGRAM, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: Object.fromEntries(variables),
  });
  const [line, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (!line.startsWith('{')) throw new Error(`the run ended without a report: ${errors}`);
  return { line: line.trim(), ...JSON.parse(line) };
}

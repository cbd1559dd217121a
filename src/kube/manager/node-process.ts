import { homedir } from 'node:os';
import type { Environment } from '../config/surroundings.ts';
import type { ProcessLike } from './process-guards.ts';
import type { Program } from './run-program.ts';

/** What a program takes from Node's `process`. */
export interface NodeProcess extends ProcessLike {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** `runProgram({ name, ...ofProcess(process), setup })`: everything of a program that the process knows. */
export const ofProcess = (
  host: NodeProcess,
): Pick<Program, 'argv' | 'env' | 'homeDir' | 'host' | 'stdout' | 'stderr'> => ({
  argv: host.argv.slice(2),
  env: host.env,
  homeDir: homedir(),
  host,
  stdout: (text) => void host.stdout.write(text),
  stderr: (text) => void host.stderr.write(text),
});

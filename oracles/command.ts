import { spawn } from 'node:child_process';
import type { Variables } from './cache.ts';

/** Enough to see the compiler's or the installer's complaint, and a bound on memory. */
const KEPT_LINES = 50;

export interface Command {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  readonly variables: Variables;
  readonly signal?: AbortSignal | undefined;
  /** Every line of either stream, as it comes. */
  readonly onLine?: ((line: string) => void) | undefined;
}

export type CommandResult =
  | { readonly state: 'ended'; readonly code: number; readonly lines: readonly string[] }
  | { readonly state: 'absent' };

/** Runs a command to its end. `absent` = there is no such program; any other failure to start rejects. */
export function runCommand(command: Command): Promise<CommandResult> {
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
  const child = spawn(command.file, command.arguments, {
    cwd: command.directory,
    env: { ...command.variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(command.signal === undefined ? {} : { signal: command.signal }),
  });
  const lines: string[] = [];
  const take = (line: string): void => {
    lines.push(line);
    if (lines.length > KEPT_LINES) lines.shift();
    command.onLine?.(line);
  };
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      parts.forEach(take);
    });
    stream.on('end', () => rest !== '' && take(rest));
  }
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') resolve({ state: 'absent' });
    else reject(error);
  });
  child.on('close', (code) => resolve({ state: 'ended', code: code ?? 1, lines }));
  return promise;
}

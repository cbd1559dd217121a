import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { StartFailure } from './process-host.ts';

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** The first bytes of what a kernel runs: ELF, Mach-O in its byte orders and as a bundle, and scripts. */
const MAGIC = ['7f454c46', 'feedface', 'feedfacf', 'cefaedfe', 'cffaedfe', 'cafebabe'];
const SCRIPT = '2321';

export interface ProgramSearch {
  /** PATH, as the container sees it. */
  readonly path: string;
  readonly workdir: string;
  /** A path of the container as a path of this machine. */
  readonly locate: (path: string) => string;
}

/** The path of a program as the container sees it. Rejects with a StartFailure that names the file (P2). */
export async function programPath(name: string, { path, workdir, locate }: ProgramSearch): Promise<string> {
  if (name === '') throw failure('cannot run "": the command is empty', NOT_FOUND);
  if (name.includes('/')) {
    const file = posix.resolve(workdir, name);
    await mustRun(file, locate(file));
    return file;
  }
  const files = path.split(':').map((directory) => posix.resolve(workdir, directory, name));
  const problems = await Promise.all(files.map((file) => problemOf(locate(file))));
  const found = files[problems.indexOf(undefined)];
  if (found !== undefined) {
    await mustRun(found, locate(found));
    return found;
  }
  // As the shell does it: one that cannot be executed says more than those that are not there.
  const at = problems.findIndex((problem) => problem?.exitCode === NOT_EXECUTABLE);
  const problem = problems[at];
  if (problem !== undefined) throw failure(`cannot run ${files[at]}: ${problem.text}`, problem.exitCode);
  throw failure(`cannot run "${name}": no such program in PATH (${path})`, NOT_FOUND);
}

const failure = (message: string, exitCode: number): StartFailure =>
  new StartFailure('RunContainerError', message, exitCode);

interface Problem {
  readonly text: string;
  readonly exitCode: number;
}

async function mustRun(shown: string, file: string): Promise<void> {
  const problem = (await problemOf(file)) ?? (await formatProblem(file));
  if (problem !== undefined) throw failure(`cannot run ${shown}: ${problem.text}`, problem.exitCode);
}

async function problemOf(file: string): Promise<Problem | undefined> {
  const facts = await stat(file).catch(() => undefined);
  if (facts === undefined) return { text: 'no such file', exitCode: NOT_FOUND };
  if (!facts.isFile()) return { text: 'it is not a file', exitCode: NOT_EXECUTABLE };
  const isExecutable = await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
  const mode = (facts.mode & 0o7777).toString(8).padStart(4, '0');
  return isExecutable ? undefined : { text: `it is not executable (mode ${mode})`, exitCode: NOT_EXECUTABLE };
}

/** The C library would hand a script without a first line to a shell; the kernel of a real node refuses it. */
async function formatProblem(file: string): Promise<Problem | undefined> {
  const start = await firstBytes(file).catch(() => undefined);
  // One may execute what one may not read.
  if (start === undefined || MAGIC.includes(start) || start.startsWith(SCRIPT)) return undefined;
  const text = 'exec format error: it is neither a program of this machine nor a script that begins with #!';
  return { text, exitCode: NOT_EXECUTABLE };
}

async function firstBytes(file: string): Promise<string> {
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
  return buffer.subarray(0, bytesRead).toString('hex');
}

import type { BuildContext } from './build-context.ts';
import { type CommandResult, runCommand } from './command.ts';
import { EnvironmentProblem } from './environment-problem.ts';

/** Installs Debian packages when we may; otherwise says the one command that does. */
export async function installDebianPackages(packages: readonly string[], context: BuildContext): Promise<void> {
  const list = packages.join(' ');
  if (!context.isRoot)
    throw new EnvironmentProblem(`Missing from Debian: ${list}. Run: sudo apt-get install ${list}`);
  const step = context.progress.start(list, 'installing from Debian');
  const install = (): Promise<CommandResult> =>
    aptGet(['install', '--yes', '--no-install-recommends', ...packages], context, (line) => step.detail(line));
  let result = await install();
  // A fresh image knows no package until its lists are fetched.
  if (hasFailed(result)) {
    await aptGet(['update'], context, (line) => step.detail(line));
    result = await install();
  }
  if (result.state === 'ended' && result.code === 0) return step.done('installed');
  step.failed('not installed');
  const lines = result.state === 'ended' ? result.lines.join('\n') : 'there is no apt-get on PATH';
  throw new EnvironmentProblem(
    `Could not install ${list}; install them with your package manager. apt-get says:\n${lines}`,
  );
}

const hasFailed = (result: CommandResult): boolean => result.state === 'ended' && result.code !== 0;

const aptGet = (
  aptArguments: readonly string[],
  { variables, signal }: BuildContext,
  onLine: (line: string) => void,
): Promise<CommandResult> =>
  runCommand({
    file: 'apt-get',
    arguments: aptArguments,
    directory: '/',
    variables: { ...variables, DEBIAN_FRONTEND: 'noninteractive' },
    signal,
    onLine,
  });

import type { BuildContext } from './build-context.ts';
import { moduleFolder, requiredVersion } from './cache.ts';
import { runCommand } from './command.ts';
import { EnvironmentProblem } from './environment-problem.ts';
import type { GoSource } from './registry.ts';

export interface GoProgram {
  readonly name: string;
  readonly source: GoSource;
  readonly target: string;
}

/** The Go that would build this module; undefined when there is none. */
export async function goVersion({ source }: GoProgram, context: BuildContext): Promise<string | undefined> {
  const { variables, signal } = context;
  const directory = moduleFolder(source);
  const result = await runCommand({ file: 'go', arguments: ['env', 'GOVERSION'], directory, variables, signal });
  if (result.state === 'absent') return undefined;
  if (result.code === 0) return result.lines.join('').trim();
  throw new EnvironmentProblem(
    `The Go on PATH cannot build oracles/${source.module}: ${result.lines.join(' ')}. ` +
      'Install Go 1.26 or newer and run `npm run oracles` again.',
  );
}

/** Compiles one program to `target`. Which proxy and which cache Go uses is the environment's business. */
export async function goBuild(program: GoProgram, version: string, context: BuildContext): Promise<void> {
  const step = context.progress.start(program.name, `building with ${version}`);
  const result = await runCommand({
    file: 'go',
    arguments: buildArguments(program),
    directory: moduleFolder(program.source),
    // Without C the program starts in any image and needs no compiler besides Go.
    variables: { ...context.variables, CGO_ENABLED: '0' },
    signal: context.signal,
    onLine: (line) => step.detail(line),
  });
  if (result.state === 'ended' && result.code === 0) return step.done('built');
  step.failed('not built');
  const lines = result.state === 'ended' ? result.lines.join('\n') : 'go is no longer on PATH';
  throw new EnvironmentProblem(
    `${program.name} could not be built. Is the Go module proxy reachable, and is there room on the disk? Go says:\n${lines}`,
  );
}

function buildArguments({ source, target }: GoProgram): string[] {
  // No symbols and no paths of this machine in the result; no look at git, which may distrust the owner of the tree.
  const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', linkFlags(source).join(' ')];
  return ['build', ...flags, '-o', target, source.package];
}

function linkFlags(source: GoSource): string[] {
  const flags = ['-s', '-w'];
  if (source.stamp === undefined) return flags;
  const version = requiredVersion(source, source.stamp.from);
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  for (const name of source.stamp.packages) {
    for (const [key, value] of Object.entries(values)) flags.push('-X', `${name}.${key}=${value}`);
  }
  return flags;
}

import { mkdirSync, renameSync, rmSync } from 'node:fs';
import type { BuildContext } from './build-context.ts';
import { npmFolder, packageName } from './cache.ts';
import { runCommand } from './command.ts';
import { EnvironmentProblem } from './environment-problem.ts';
import type { NpmSource } from './registry.ts';

export interface NpmProgram {
  readonly name: string;
  readonly source: NpmSource;
  readonly target: string;
}

/** Installs one package into a folder of its own: complete or not at all. */
export async function npmInstall({ name, source }: NpmProgram, context: BuildContext): Promise<void> {
  const { cacheDirectory, variables, signal } = context;
  const specifier = `${packageName(source, context.arch)}@${source.version}`;
  const step = context.progress.start(name, `installing ${specifier}`);
  const folder = npmFolder(name, source, cacheDirectory);
  const draft = `${cacheDirectory}/${name}.draft`;
  mkdirSync(draft, { recursive: true });
  const result = await runCommand({
    file: 'npm',
    arguments: ['install', '--prefix', draft, '--ignore-scripts', '--no-audit', '--no-fund', specifier],
    directory: draft,
    variables,
    signal,
    onLine: (line) => step.detail(line),
  });
  if (result.state === 'ended' && result.code === 0) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
    return step.done('installed');
  }
  step.failed('not installed');
  const lines = result.state === 'ended' ? result.lines.join('\n') : 'there is no npm on PATH';
  throw new EnvironmentProblem(
    `${name} could not be installed. Is the npm registry reachable? npm says:\n${lines}`,
  );
}

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ensureFolder } from '../src/apiserver/store/data-folder.ts';
import type { LockHolder } from '../src/app/file-lock.ts';
import type { BuildContext } from './build-context.ts';
import { cachedFile } from './cache.ts';
import { installDebianPackages } from './debian-install.ts';
import { EnvironmentProblem } from './environment-problem.ts';
import type { Finding } from './find.ts';
import { type GoProgram, goBuild, goVersion } from './go-build.ts';
import { acquireLock } from './lock.ts';
import { type NpmProgram, npmInstall } from './npm-install.ts';
import type { Oracle } from './registry.ts';

export interface Wanted {
  readonly oracle: Oracle;
  readonly finding: Finding;
}

/**
 * Builds or installs what is missing, one after the other: each compiler already uses every core. Does nothing when
 * everything is there. Goes on after a failure and returns what the owner of the machine has to do.
 */
export async function buildMissing(
  wanted: readonly Wanted[],
  context: BuildContext,
): Promise<EnvironmentProblem[]> {
  const problems: EnvironmentProblem[] = [];
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const problem = environmentProblem(error, context);
      if (!problems.some(({ message }) => message === problem.message)) problems.push(problem);
    }
  };
  const debianPackages: string[] = [];
  for (const { oracle, finding } of wanted) {
    if (oracle.source.kind !== 'debian') await attempt(() => ensureCached(oracle, finding, context));
    else if (finding.state === 'missing') debianPackages.push(oracle.source.package);
  }
  if (debianPackages.length > 0) await attempt(() => installDebianPackages(debianPackages, context));
  return problems;
}

async function ensureCached(oracle: Oracle, finding: Finding, context: BuildContext): Promise<void> {
  const target = cachedFile(oracle, context.cacheDirectory, context.arch);
  if (target === undefined || !canHelp(finding, target)) return;
  if (isBroken(finding, target)) rmSync(target, { force: true });
  const { name, source } = oracle;
  if (source.kind === 'npm') await ensureNpm({ name, source, target }, context);
  if (source.kind === 'go') await ensureGo({ name, source, target }, context);
}

/** Whether a program in the cache would be found before, or instead of, the one that was found. */
function canHelp(finding: Finding, target: string): boolean {
  if (finding.state === 'missing') return true;
  if (finding.state === 'supported') return finding.path === target;
  return finding.place !== 'TEST_ASSET' && finding.place !== 'KUBEBUILDER_ASSETS';
}

const isBroken = (finding: Finding, target: string): boolean =>
  finding.state === 'unsupported' && finding.path === target;

async function ensureNpm(program: NpmProgram, context: BuildContext): Promise<void> {
  if (existsSync(program.target)) return;
  await locked(join(context.cacheDirectory, program.name), context, async () => {
    if (!existsSync(program.target)) await npmInstall(program, context);
  });
}

/** A program that was built before Go went away stays good. */
async function ensureGo(program: GoProgram, context: BuildContext): Promise<void> {
  const version = await goVersion(program, context);
  if (version === undefined) {
    if (existsSync(program.target)) return;
    throw goIsMissing();
  }
  const isCurrent = (): boolean => existsSync(program.target) && builtWith(program.target) === version;
  if (isCurrent()) return;
  await locked(program.target, context, async () => {
    if (isCurrent()) return;
    const draft = `${program.target}.draft`;
    await goBuild({ ...program, target: draft }, version, context);
    // The program last: whoever sees it also sees which Go built it.
    writeFileSync(stampFile(program.target), `${JSON.stringify({ go: version })}\n`);
    renameSync(draft, program.target);
  });
}

async function locked(target: string, context: BuildContext, work: () => Promise<void>): Promise<void> {
  ensureFolder(dirname(target));
  const lockFile = `${target}.lock`;
  const onWait = (holder: LockHolder): void =>
    context.progress.line(`${basename(target)}: ${waitingText(holder, lockFile)}`);
  using _ = await acquireLock(lockFile, { signal: context.signal, onWait });
  // Nobody else builds while the lock is held, so a draft is what a killed build left behind.
  rmSync(`${target}.draft`, { force: true, recursive: true });
  try {
    await work();
  } finally {
    rmSync(`${target}.draft`, { force: true, recursive: true });
  }
}

const waitingText = ({ process: { pid }, liveness }: LockHolder, lockFile: string): string =>
  liveness === 'alive'
    ? `waiting for process ${pid}, which is building it`
    : `waiting for process ${pid} of another container; if that is gone, remove ${lockFile}`;

/** A file or folder that cannot be written is the machine's problem; everything else that is thrown is ours. */
function environmentProblem(error: unknown, { cacheDirectory }: BuildContext): EnvironmentProblem {
  if (error instanceof EnvironmentProblem) return error;
  const isFileError =
    error instanceof Error && 'path' in error && 'syscall' in error && !String(error.syscall).startsWith('spawn');
  if (!isFileError) throw error;
  return new EnvironmentProblem(
    `Cannot write to ${cacheDirectory} (${error.message}). Set SLIPWAY_ORACLES_DIR to a directory that can be written.`,
    error,
  );
}

const stampFile = (target: string): string => `${target}.json`;

function builtWith(target: string): string | undefined {
  try {
    const stamp: unknown = JSON.parse(readFileSync(stampFile(target), 'utf8'));
    return typeof stamp === 'object' && stamp !== null && 'go' in stamp && typeof stamp.go === 'string'
      ? stamp.go
      : undefined;
  } catch {
    // No stamp or a damaged one: build again.
    return undefined;
  }
}

const goIsMissing = (): EnvironmentProblem =>
  new EnvironmentProblem(
    'Go is missing: etcd and the Kubernetes programs are compiled from the Go module proxy, and there is no `go` on PATH. ' +
      'Install Go 1.26 or newer and run `npm run oracles` again, or set KUBEBUILDER_ASSETS to a directory that holds them.',
  );

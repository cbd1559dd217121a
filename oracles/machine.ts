import { execFileSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { cacheDirectory, cachedFile, type Variables } from './cache.ts';
import type { Machine } from './find.ts';

/** A program that needs longer to say its version is broken or waits for input. */
const VERSION_TIMEOUT_MS = 20_000;

/** The host as the lookup sees it. Lookups are synchronous: node:test decides about a skip while it declares suites. */
export function hostMachine(variables: Variables): Machine {
  const cache = cacheDirectory(variables, homedir());
  return {
    variables,
    cacheDirectory: cache,
    cachedFile: (oracle) => cachedFile(oracle, cache, process.arch),
    isExecutable,
    versionOutput: (path, versionArguments) => versionOutput(path, versionArguments, variables),
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Absent, unreadable and not executable are the same answer.
    return false;
  }
}

function versionOutput(
  path: string,
  versionArguments: readonly string[],
  variables: Variables,
): string | undefined {
  try {
    // stderr is dropped: kubectl warns there about version skew.
    return execFileSync(path, versionArguments, {
      encoding: 'utf8',
      env: { ...variables },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: VERSION_TIMEOUT_MS,
    });
  } catch {
    // Whatever the cause (wrong architecture, missing library, non-zero exit), the caller says "does not run".
    return undefined;
  }
}

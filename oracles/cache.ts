import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GoSource, NpmSource, Oracle } from './registry.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** Our own folder: the Go modules are read from here. */
const ORACLES_FOLDER = import.meta.dirname;

/** Where built programs live: outside the tree, so that clones share them and `git clean` spares them. */
export function cacheDirectory(variables: Variables, homeDirectory: string): string {
  const chosen = variables['SLIPWAY_ORACLES_DIR'];
  if (chosen !== undefined && chosen !== '') return chosen;
  const base = variables['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homeDirectory, '.cache') : base, 'slipway', 'oracles');
}

/**
 * The program's file in the cache, whether or not it is there yet; undefined for programs that are never cached.
 * The folder carries the digest of everything of ours that decides the result, so clones with other pins do not
 * fight over it. The Go version is recorded beside the program instead: finding a program must not need Go.
 */
export function cachedFile(oracle: Oracle, cache: string, arch: string): string | undefined {
  switch (oracle.source.kind) {
    case 'go':
      return join(cache, `${oracle.source.module}-${goDigest(oracle.source)}`, oracle.name);
    case 'npm':
      return join(
        npmFolder(oracle.name, oracle.source, cache),
        'node_modules',
        packageName(oracle.source, arch),
        oracle.source.file,
      );
    case 'debian':
      return undefined;
  }
}

export const npmFolder = (name: string, source: NpmSource, cache: string): string =>
  join(cache, `${name}-${source.version}`);

export const packageName = (source: NpmSource, arch: string): string => source.package.replace('{arch}', arch);

export const moduleFolder = (source: GoSource): string => join(ORACLES_FOLDER, source.module);

function goDigest(source: GoSource): string {
  const folder = moduleFolder(source);
  const digest = createHash('sha256').update(JSON.stringify(source.stamp ?? null));
  for (const file of readdirSync(folder).toSorted()) {
    if (/^go\.(mod|sum)$|\.go$/.test(file)) digest.update(`\0${file}\0`).update(readFileSync(join(folder, file)));
  }
  return digest.digest('hex').slice(0, 12);
}

/** The version that a go.mod requires of a module, as written there (`v1.2.3`). */
export function requiredVersion(source: GoSource, module: string): string {
  const text = readFileSync(join(moduleFolder(source), 'go.mod'), 'utf8');
  const line = text.split('\n').find((candidate) =>
    candidate
      .replace(/^require/, '')
      .trim()
      .startsWith(`${module} v`),
  );
  const version = line === undefined ? undefined : /\s(v\S+)/.exec(line)?.[1];
  if (version === undefined) throw new Error(`oracles/${source.module}/go.mod does not require ${module}`);
  return version;
}

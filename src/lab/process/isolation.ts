import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Clock } from '../../base/clock.ts';
import { messageOf, userError } from '../../base/errors.ts';
import type { MountMode } from './launch.ts';
import { NamespaceMode } from './namespace-mode.ts';
import type { Isolation, ProcessSpec } from './process-host.ts';
import { signal } from './process-table.ts';
import { RewriteMode } from './rewrite-mode.ts';
import { spawnChild } from './spawned-child.ts';

const PROBE_MS = 5000;
const UNSHARE = ['/usr/bin/unshare', '/bin/unshare', '/usr/local/bin/unshare'];

export interface IsolationOptions {
  readonly isolation: 'auto' | Isolation;
  /** Of the lab. */
  readonly directory: string;
  /** Paths of this machine that no mount may hide. */
  readonly keep: readonly string[];
  /** Real time. */
  readonly clock: Clock;
  /** Where the program may be; for tests. */
  readonly unshare?: readonly string[];
}

export interface ChosenIsolation {
  readonly isolation: Isolation;
  readonly mode: MountMode;
  readonly text: string;
}

/** Decides once how containers see their mounts (P10). Rejects when namespaces are demanded and cannot be had. */
export async function chooseIsolation(options: IsolationOptions): Promise<ChosenIsolation> {
  const { isolation, keep } = options;
  const rewrite = { isolation: 'rewrite', mode: new RewriteMode(keep) } as const;
  if (isolation === 'rewrite') return { ...rewrite, text: isolationText('rewrite', 'the lab was told to') };
  const found = await findNamespaceMode(options);
  if (typeof found !== 'string') return { isolation: 'namespace', mode: found, text: isolationText('namespace') };
  if (isolation === 'auto') return { ...rewrite, text: isolationText('rewrite', found) };
  throw userError(
    'NamespaceRefused',
    `isolation "namespace" does not work on this machine: ${found}; allow unprivileged user namespaces or use "auto"`,
  );
}

/** For `doctor`: what is on, and why. */
export const isolationText = (isolation: Isolation, why = ''): string =>
  isolation === 'namespace'
    ? 'Containers see their volumes exactly where they are mounted (mount namespaces).'
    : `Paths of volumes are rewritten in arguments and variables instead of mounted: ${why}.`;

/**
 * What worked in this process, by the program: a few words for each. It need not be tried again for every lab; what did
 * not work may have been slow only, and is.
 */
const proven = new Map<string, readonly string[]>();

/** The first way that works, or why none does. */
async function findNamespaceMode(options: IsolationOptions): Promise<NamespaceMode | string> {
  if (process.platform !== 'linux') return 'only Linux has mount namespaces';
  const unshare = (options.unshare ?? UNSHARE).find((file) => existsSync(file));
  if (unshare === undefined) return 'the program unshare (util-linux) is not installed';
  // In a user namespace root could not listen on ports below 1024 any more; it needs none.
  const ways = process.getuid?.() === 0 ? [['-m'], ['-Urm']] : [['-Urm']];
  const known = proven.get(unshare);
  if (known !== undefined) return new NamespaceMode({ ...options, unshare, flags: known });
  let why = '';
  for (const flags of ways) {
    const mode = new NamespaceMode({ ...options, unshare, flags });
    const problem = await problemOf(mode, options);
    if (problem === undefined) {
      proven.set(unshare, flags);
      return mode;
    }
    why = problem;
  }
  return why;
}

const PROBE = 'probe-';

/** What a lab that was killed while it tried left in its directory. */
export async function removeProbes(directory: string): Promise<void> {
  const left = (await readdir(directory)).filter((name) => name.startsWith(PROBE));
  await Promise.all(left.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}

/** Tries it with a mount at a place that does not exist, which needs everything. */
async function problemOf(
  mode: NamespaceMode,
  { directory, clock }: IsolationOptions,
): Promise<string | undefined> {
  await mkdir(directory, { recursive: true });
  const probe = await mkdtemp(join(directory, PROBE));
  try {
    await writeFile(join(probe, 'answer'), 'yes');
    return (await answer(mode, probe, clock)) === 'yes' ? undefined : 'a mounted file could not be read';
  } catch (error) {
    return messageOf(error).replace(/\.$/, '');
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

async function answer(mode: NamespaceMode, probe: string, clock: Clock): Promise<string> {
  const launch = await mode.launch(probeSpec(probe), (env) => ({ ...env, PATH: '/usr/bin:/bin' }));
  const register = (pid: number) => clock.timer(PROBE_MS, () => signal(-pid, 'SIGKILL'));
  const { child, registration } = await spawnChild({ launch, clock, register });
  using _ = registration;
  child.stderr?.resume();
  return child.stdout === null ? '' : text(child.stdout);
}

const probeSpec = (probe: string): ProcessSpec => ({
  container: 'probe',
  argv: ['cat', '/slipway-probe/there/answer'],
  env: {},
  directory: join(probe, 'container'),
  mounts: [{ mountPath: '/slipway-probe/there', source: probe, isReadOnly: true }],
  output: { write: () => true, drained: async () => {}, end: () => {} },
});

import { mkdir, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { homeOf, temporaryOf } from './child-environment.ts';
import type { Mount } from './mounts.ts';
import { type ProcessSpec, StartFailure } from './process-host.ts';

/** What to hand to the system so that a program runs with its mounts. */
export interface Launch {
  /** Absolute, on this machine. */
  readonly file: string;
  readonly argv: readonly string[];
  readonly workdir: string;
  readonly env: Variables;
  readonly rewritten: readonly string[];
  /** The program is running only when `READY` came on descriptor 3. */
  readonly isAnnounced: boolean;
  /** Files that are not needed any more when the program runs. */
  readonly scripts: readonly string[];
}

export type Variables = Readonly<Record<string, string>>;

/** How a container gets to see its mounts (P8–P10). Rejects with a StartFailure. */
export interface MountMode {
  /**
   * `environment` adds what the lab itself tells its children. `beside`: the container runs already, and its files stay
   * as they are.
   */
  launch(spec: ProcessSpec, environment: (env: Variables) => Variables, when: 'start' | 'beside'): Promise<Launch>;
}

/** As container runtimes say that they did not get as far as the program. */
const NOT_CREATED = 128;
const NOT_FOUND = 127;

export const notCreated = (message: string): StartFailure =>
  new StartFailure('CreateContainerError', message, NOT_CREATED);

/** Makes what every container has, and checks what it asks for. */
export async function prepareDirectory({ directory, mounts }: ProcessSpec): Promise<readonly Mount[]> {
  await mkdir(homeOf(directory), { recursive: true });
  await mkdir(temporaryOf(directory), { recursive: true });
  return Promise.all(mounts.map(checkedMount));
}

async function checkedMount(mount: Mount): Promise<Mount> {
  const mountPath = posix.normalize(mount.mountPath).replace(/\/$/, '');
  if (!mountPath.startsWith('/')) {
    throw notCreated(`cannot mount at "${mount.mountPath}": it must be an absolute path other than /`);
  }
  const isThere = await stat(mount.source).then(
    () => true,
    () => false,
  );
  if (!isThere) throw notCreated(`cannot mount ${mount.source} at ${mountPath}: it does not exist on the node`);
  return { ...mount, mountPath };
}

/** `at` is the working directory on this machine, `shown` how the container sees it. */
export async function checkWorkdir(at: string, shown: string): Promise<void> {
  const facts = await stat(at).catch(() => undefined);
  if (facts?.isDirectory() === true) return;
  const why = facts === undefined ? 'does not exist' : 'is not a directory';
  throw new StartFailure('RunContainerError', `the working directory ${shown} ${why}`, NOT_FOUND);
}

import { join } from 'node:path';
import type { Variables } from './launch.ts';
import type { Bind, NamespaceView } from './namespace-view.ts';

/** Names per command: an argument list may be some megabytes long, a name 4 KiB. */
const NAMES_PER_COMMAND = 100;
/** The container's own may lead to other programs of these names. */
const TOOL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What the script says on file descriptor 3 when only the program is left to be started. */
export const READY = 'ready';

export interface NamespaceScriptOptions {
  readonly view: NamespaceView;
  /** An empty directory where the container's root is put together; only this container sees what is in it. */
  readonly root: string;
  /** Where `mountList` of the siblings and of the binds was written. */
  readonly siblingList: string;
  readonly bindList: string;
  /** The program `unshare`, which can also change the root. */
  readonly unshare: string;
  /** Of the program. */
  readonly env: Variables;
}

/** Those of this script, and those that shells set or keep for themselves. */
const TAKEN = new Set(
  (
    'path directory flags ' +
    'PWD OLDPWD SHLVL IFS OPTIND OPTERR PPID PS1 PS2 PS4 LINENO RANDOM SECONDS UID EUID GROUPS SHELLOPTS _'
  ).split(' '),
);

/** Manifests may use names that a shell does not know as such: it drops them, or says something else. */
const isLost = (name: string): boolean => TAKEN.has(name) || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

/**
 * A POSIX shell script that turns its mount namespace into the container's view and becomes the program: it is given
 * the working directory, the program and its arguments. Everything that goes wrong before is written to descriptor 3.
 */
export function namespaceScript(options: NamespaceScriptOptions): string {
  const { view, root, siblingList, bindList, unshare, env } = options;
  const lost = Object.entries(env).filter(([name]) => isLost(name));
  const again = lost.map(([name, value]) => `${quoted(`${name}=${value}`)} `).join('');
  const inRoot = (path: string) => quoted(join(root, path));
  const readOnly = [...view.siblings, ...view.binds].filter(({ isReadOnly }) => isReadOnly);
  return [
    'set -e',
    'exec 4>&2 2>&3',
    'path=$PATH',
    `PATH=${TOOL_PATH}`,
    READ_ONLY,
    ...(view.isExploded ? [`mount -t tmpfs -o mode=755 slipway ${quoted(root)}`] : []),
    ...commands('mkdir -p --', view.directories.map(inRoot)),
    ...commands('touch --', view.files.map(inRoot)),
    ...view.links.map(({ path, text }) => `ln -s -- ${quoted(text)} ${inRoot(path)}`),
    // One process for all of them: some hundred take a shell a third of a second.
    ...(view.siblings.length > 0 ? [`mount -a -T ${quoted(siblingList)} 2>/dev/null || :`] : []),
    `mount -a -T ${quoted(bindList)}`,
    ...readOnly.map(({ path }) => `read_only ${inRoot(path)}`),
    `printf ${READY} >&3`,
    'PATH=$path',
    'directory=$1',
    'shift',
    // Shells add them; a container has only what its manifest says.
    'unset PWD OLDPWD SHLVL',
    'exec 2>&4 3>&- 4>&-',
    `exec ${again === '' ? '' : `/usr/bin/env -- ${again}`}${quoted(unshare)} --root=${quoted(root)} --wd="$directory" -- "$@"`,
    '',
  ].join('\n');
}

/**
 * Some systems mount what they are given with flags that only they may take away; a remount has to repeat them. Newer
 * versions of `mount` do so on their own.
 */
const READ_ONLY = [
  'read_only() {',
  '  for flags in ro ro,nosuid ro,nosuid,nodev ro,nosuid,nodev,noexec; do',
  '    mount -o "remount,bind,$flags" "$1" 2>/dev/null && return',
  '  done',
  '  mount -o remount,bind,ro "$1"',
  '}',
].join('\n');

/** Binds in the format of fstab(5). */
export const mountList = (binds: readonly Bind[], root: string): string =>
  binds.map(({ path, source }) => `${field(source)} ${field(join(root, path))} none rbind 0 0\n`).join('');

const field = (path: string): string =>
  path.replaceAll(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function commands(command: string, names: readonly string[]): readonly string[] {
  const count = Math.ceil(names.length / NAMES_PER_COMMAND);
  return Array.from({ length: count }, (_, at) =>
    [command, ...names.slice(at * NAMES_PER_COMMAND, (at + 1) * NAMES_PER_COMMAND)].join(' '),
  );
}

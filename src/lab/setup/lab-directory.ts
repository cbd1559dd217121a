import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeProblem } from '../../apiserver/store/data-folder.ts';
import { lockDirectory } from '../../apiserver/store/directory-lock.ts';
import { layoutOf } from '../../apiserver/store/layout.ts';
import type { Clock } from '../../base/clock.ts';
import { terminalError, userError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { type LeftoverOptions, leftovers } from '../process/leftovers.ts';
import { EPHEMERAL_MARK, Warden } from '../process/warden.ts';
import { shortLink } from './short-link.ts';

/** Where a lab keeps everything. Disposing it lets others have it, and rejects when something is left (P16). */
export interface LabDirectory extends AsyncDisposable {
  /** Without links. */
  readonly path: string;
  /** The same, or a short link that leads there: below it, the paths of sockets have room (N34). */
  readonly short: string;
  /** It goes with the lab. */
  readonly isEphemeral: boolean;
  /** The network of the lab that was here before: addresses of Services and pods in its objects are of it. */
  readonly octet: number | undefined;
  /** Of the lab, unlike all others on this machine. */
  readonly identity: string;
  /** Takes the processes of the lab with it when it dies, and its temporary directory (P14). */
  readonly warden: Warden;
}

export interface LabDirectoryOptions {
  readonly real: Clock;
  readonly log: Log;
  /** Different for each lab in this place. */
  readonly life: string;
}

/**
 * A temporary directory with a short name, because the paths of sockets are limited to 107 bytes (N34), or the one that
 * is given, which no other lab has meanwhile: it would end the processes of this one.
 */
export function openLabDirectory(data: string | undefined, options: LabDirectoryOptions): Promise<LabDirectory> {
  return data === undefined ? temporaryDirectory(options) : keptDirectory(data, options);
}

async function temporaryDirectory({ real, log, life }: LabDirectoryOptions): Promise<LabDirectory> {
  await using opened = new AsyncDisposableStack();
  const path = join(await realpath(tmpdir()), `sw-${real.uuid().slice(0, 8)}`);
  const identity = `${path}-${life}`;
  // Before there is anything that somebody who is killed could leave.
  const warden = opened.use(await Warden.start({ identity, clock: real, log, temporaryDirectory: path }));
  opened.defer(async () => {
    await rm(path, { recursive: true, force: true });
    await requireNothing({ identity, directory: path });
  });
  try {
    await mkdir(path, { mode: 0o700 });
    await writeFile(join(path, EPHEMERAL_MARK), identity);
  } catch (error) {
    const text = `the temporary folder ${path} cannot be written: ${writeProblem(error)}`;
    throw terminalError('DataFolderUnusable', `${text}. Choose another one with TMPDIR`, { cause: error });
  }
  const all = opened.move();
  const end = () => all.disposeAsync();
  return { path, short: path, isEphemeral: true, octet: undefined, identity, warden, [Symbol.asyncDispose]: end };
}

async function keptDirectory(data: string, { real, log, life }: LabDirectoryOptions): Promise<LabDirectory> {
  await using opened = new AsyncDisposableStack();
  await mkdir(data, { recursive: true });
  const path = await realpath(data);
  const layout = { ...layoutOf(path), lock: join(path, 'lab.lock'), holder: join(path, 'lab.holder') };
  opened.use(lockDirectory(layout, { clock: real, program: 'a lab' }));
  const octet = await octetIn(path);
  const { path: short } = opened.use(shortLink(path));
  const identity = `${short}-${life}`;
  const warden = opened.use(await Warden.start({ identity, clock: real, log }));
  opened.defer(() => requireNothing({ identity }));
  const all = opened.move();
  const end = () => all.disposeAsync();
  return { path, short, isEphemeral: false, octet, identity, warden, [Symbol.asyncDispose]: end };
}

async function requireNothing(of: LeftoverOptions): Promise<void> {
  const left = await leftovers(of);
  if (left.length > 0) throw new Error(`the lab has ended, and left behind: ${left.join('; ')}`);
}

/** Throws when a network is asked for that is not the one of the objects in the directory. */
export function requireSameOctet(
  { path, octet: before }: Pick<LabDirectory, 'path' | 'octet'>,
  asked: number,
): void {
  if (before === undefined || before === asked) return;
  throw userError(
    'InvalidScenario',
    `the objects in ${path} have addresses 10.${before}.x.y, but octet ${asked} is asked for. Start with octet ${before} or without octet, or choose another --data`,
  );
}

/** Remembers the network of the lab for its next start. Throws when it is another one than it was. */
export async function keepOctet({ path, isEphemeral, octet: before }: LabDirectory, octet: number): Promise<void> {
  if (isEphemeral || octet === before) return;
  if (before !== undefined)
    throw terminalError(
      'LabNetworkTaken',
      `the objects in ${path} have addresses 10.${before}.x.y, and another lab on this machine has these now. End it, or choose another --data`,
    );
  const file = join(path, OCTET_FILE);
  await writeFile(`${file}.next`, `${octet}\n`);
  await rename(`${file}.next`, file);
}

const OCTET_FILE = 'octet';

/** Undefined when nobody was here, or nobody can tell. */
async function octetIn(directory: string): Promise<number | undefined> {
  try {
    const octet = Number.parseInt(await readFile(join(directory, OCTET_FILE), 'utf8'), 10);
    return Number.isInteger(octet) ? octet : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

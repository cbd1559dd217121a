import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { terminalError } from '../../../base/errors.ts';
import { onMachine } from '../plugins/node-sockets.ts';
import { whenMissing } from '../volumes/missing-file.ts';
import { podsDirectory } from '../volumes/pod-directory.ts';
import { attachmentName, type CsiVolume, podCsiDirectory, recordDirectory } from './csi-paths.ts';

const FILE = 'vol_data.json';

/** Upstream's names; the mode is ours. */
const RECORD = z.object({
  driverName: z.string().min(1),
  volumeHandle: z.string(),
  specVolID: z.string().min(1),
  volumeMode: z.enum(['Filesystem', 'Block']).default('Filesystem'),
});

/**
 * Which pod has which volume of a driver, written down in the directories of pods: what is read there is true whatever
 * happened to the node meanwhile.
 */
export interface VolumeRecords {
  readonly root: string;
  readonly node: string;
}

/** Before the driver is asked for anything: what may be there must be known to whoever takes it away. */
export async function writeRecord({ root, node }: VolumeRecords, uid: string, volume: CsiVolume): Promise<void> {
  const { driver, handle, pv, mode } = volume;
  const directory = onMachine(root, recordDirectory(uid, pv));
  await mkdir(directory, { recursive: true, mode: 0o750 });
  const record = {
    specVolID: pv,
    volumeHandle: handle,
    driverName: driver,
    nodeName: node,
    volumeLifecycleMode: 'Persistent',
    attachmentID: attachmentName(volume, node),
    volumeMode: mode,
  };
  const fresh = join(directory, `.${FILE}`);
  await writeFile(fresh, JSON.stringify(record), { mode: 0o600 });
  await rename(fresh, join(directory, FILE));
}

/** Volumes that a pod has, or may have. */
export async function recordsOf({ root }: VolumeRecords, uid: string): Promise<readonly CsiVolume[]> {
  const directory = onMachine(root, podCsiDirectory(uid));
  const names = (await readdir(directory).catch(whenMissing)) ?? [];
  const found = await Promise.all(names.sort().map((name) => recordAt(join(directory, name, FILE))));
  return found.flatMap((record) => record ?? []);
}

async function recordAt(path: string): Promise<CsiVolume | undefined> {
  const text = await readFile(path, 'utf8').catch(whenMissing);
  if (text === undefined) return undefined;
  const { data } = RECORD.safeParse(jsonOf(text));
  if (data === undefined) {
    throw terminalError(
      'DamagedRecord',
      `${path} does not say which volume is there; unmount it and remove ${dirname(path)}`,
    );
  }
  const { driverName: driver, volumeHandle: handle, specVolID: pv, volumeMode: mode } = data;
  return { driver, handle, pv, mode };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What one directory of a pod says of a volume. */
export interface FoundRecord {
  readonly uid: string;
  /** The name of the directory: that of the volume, whatever the file in it says. */
  readonly directory: string;
  readonly volume: CsiVolume | Error;
}

/** What all pods of the node have, with what cannot be read. */
export async function allRecords({ root }: VolumeRecords): Promise<readonly FoundRecord[]> {
  const uids = (await readdir(podsDirectory(root)).catch(whenMissing)) ?? [];
  const found = await Promise.all(uids.map((uid) => foundOf(root, uid)));
  return found.flat();
}

async function foundOf(root: string, uid: string): Promise<readonly FoundRecord[]> {
  const place = onMachine(root, podCsiDirectory(uid));
  const names = (await readdir(place).catch(whenMissing)) ?? [];
  const found = await Promise.all(
    names.map(async (directory) => {
      const volume = await recordAt(join(place, directory, FILE)).catch((error: unknown) =>
        error instanceof Error ? error : new Error(String(error)),
      );
      return volume === undefined ? [] : [{ uid, directory, volume }];
    }),
  );
  return found.flat();
}

/** The pod has the volume no more. Idempotent; what the driver left in the directory stays. */
export async function removeRecord({ root }: VolumeRecords, uid: string, { pv }: CsiVolume): Promise<void> {
  await rm(join(onMachine(root, recordDirectory(uid, pv)), FILE), { force: true });
}

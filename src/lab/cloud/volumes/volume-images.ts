import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CloudError } from '../cloud-error.ts';
import { copyDirectoryImage, removeDirectoryImage } from './directory-image.ts';
import { copySparse } from './sparse-copy.ts';

const GIB = 1024 ** 3;

/** The disks of volumes and snapshots: sparse files, each with its directory image beside it (C19–C21). */
export class VolumeImages {
  readonly #directory: string;

  /** `<data>/cloud` */
  constructor(directory: string) {
    this.#directory = directory;
  }

  volumePath(id: string): string {
    return join(this.#directory, 'volumes', `${id}.img`);
  }

  snapshotPath(id: string): string {
    return join(this.#directory, 'snapshots', `${id}.img`);
  }

  /** Makes the disk of a volume, or finishes what was begun; it is never smaller than it was. */
  async create(id: string, sizeGiB: number, snapshotId: string | undefined): Promise<void> {
    const path = this.volumePath(id);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (snapshotId !== undefined && !(await isThere(path))) await this.#restore(snapshotId, path);
    await grow(path, sizeGiB * GIB);
  }

  /** Does nothing when it is that large already, and when there is no disk yet. */
  async ensureSize(id: string, sizeGiB: number): Promise<void> {
    if (await isThere(this.volumePath(id))) await grow(this.volumePath(id), sizeGiB * GIB);
  }

  /** Takes the disk as it is now; does nothing when it was taken before. */
  async snapshot(id: string, volumeId: string): Promise<void> {
    const path = this.snapshotPath(id);
    if (await isThere(path)) return;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // The image last: it says that the snapshot is whole.
    await copyDirectoryImage(this.volumePath(volumeId), path);
    await copySparse(this.volumePath(volumeId), path);
  }

  async hasSnapshot(id: string): Promise<boolean> {
    return await isThere(this.snapshotPath(id));
  }

  async removeVolume(id: string): Promise<void> {
    await remove(this.volumePath(id));
  }

  async removeSnapshot(id: string): Promise<void> {
    await remove(this.snapshotPath(id));
  }

  async #restore(snapshotId: string, path: string): Promise<void> {
    const source = this.snapshotPath(snapshotId);
    if (!(await isThere(source))) throw new CloudError('NotFound', `the data of snapshot ${snapshotId} is gone`);
    await copyDirectoryImage(source, path);
    await copySparse(source, path);
  }
}

async function grow(path: string, sizeBytes: number): Promise<void> {
  await using file = await open(path, 'a', 0o600);
  if ((await file.stat()).size < sizeBytes) await file.truncate(sizeBytes);
}

async function remove(path: string): Promise<void> {
  await rm(path, { force: true });
  await removeDirectoryImage(path);
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

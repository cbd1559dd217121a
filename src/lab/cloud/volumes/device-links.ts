import { mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Boot } from '../boot.ts';
import type { ResourceRecord } from '../resources/resource-record.ts';
import { linkName, VOLUMES, type VolumeFields } from './volume-fields.ts';

export interface DeviceLinksOptions {
  readonly boot: Pick<Boot, 'rootOf'> | undefined;
  readonly list: (kind: typeof VOLUMES) => readonly ResourceRecord<VolumeFields>[];
  /** Of the image of a volume. */
  readonly imagePath: (volumeId: string) => string;
}

/** Attached volumes appear in `/dev/disk/by-id` of the node that an instance has become (C21). */
export class DeviceLinks {
  readonly #options: DeviceLinksOptions;
  /** By instance: one look at a directory at a time. Each goes when it is done. */
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: DeviceLinksOptions) {
    this.#options = options;
  }

  /** Makes the links of an instance what they should be now. Does nothing for an instance without a node. */
  async sync(instanceId: string): Promise<void> {
    const earlier = this.#running.get(instanceId) ?? Promise.resolve();
    const mine = earlier.catch(() => undefined).then(() => this.#sync(instanceId));
    this.#running.set(instanceId, mine);
    try {
      await mine;
    } finally {
      if (this.#running.get(instanceId) === mine) this.#running.delete(instanceId);
    }
  }

  async #sync(instanceId: string): Promise<void> {
    const root = this.#options.boot?.rootOf(instanceId);
    if (root === undefined) return;
    const directory = join(root, 'dev', 'disk', 'by-id');
    await mkdir(directory, { recursive: true });
    const wanted = this.#wanted(instanceId);
    const found = (await readdir(directory)).filter((name) => name.startsWith(linkName('')));
    const right = new Set<string>();
    for (const name of found) {
      const path = join(directory, name);
      // Also one that leads elsewhere: the lab may have moved.
      const isRight = wanted.has(name) && (await readlink(path).catch(() => '')) === wanted.get(name);
      if (isRight) right.add(name);
      else await rm(path, { recursive: true, force: true });
    }
    for (const [name, image] of wanted) if (!right.has(name)) await symlink(image, join(directory, name));
  }

  #wanted(instanceId: string): ReadonlyMap<string, string> {
    const { list, imagePath } = this.#options;
    const isHere = (each: { readonly instanceId: string; readonly state: string }) =>
      each.instanceId === instanceId && each.state !== 'detaching';
    return new Map(
      list(VOLUMES)
        .filter(({ fields }) => fields.attachments.some(isHere))
        .map(({ id }) => [linkName(id), imagePath(id)]),
    );
  }
}

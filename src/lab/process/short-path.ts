import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = 'c';
/** Enough that two of some thousand containers never share one. */
const NAME_LENGTH = 10;

/** A short path that leads to a directory; disposing it removes the path with its last user. */
interface ShortPath extends Disposable {
  readonly path: string;
}

/**
 * Short paths that lead to the directories of containers: that of a Unix socket has at most 107 bytes, and the
 * directories of pods alone are longer.
 */
export class ShortPaths {
  readonly #folder: string;
  /** How many use a directory; bounded by the processes of the lab. */
  readonly #users = new Map<string, number>();

  constructor(labDirectory: string) {
    this.#folder = join(labDirectory, FOLDER);
  }

  /** Two may use one directory: a node begins anew while what it ran before still ends. */
  async use(directory: string): Promise<ShortPath> {
    const name = createHash('sha256').update(directory).digest('hex').slice(0, NAME_LENGTH);
    const path = join(this.#folder, name);
    this.#users.set(directory, (this.#users.get(directory) ?? 0) + 1);
    try {
      await this.#make(path, directory);
    } catch (error) {
      this.#leave(path, directory);
      throw error;
    }
    return { path, [Symbol.dispose]: () => this.#leave(path, directory) };
  }

  async #make(path: string, directory: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await mkdir(directory, { recursive: true });
    await symlink(directory, path).catch(async (error: unknown) => {
      const known = await readlink(path).catch(() => undefined);
      if (known !== directory) throw error;
    });
  }

  #leave(path: string, directory: string): void {
    const left = (this.#users.get(directory) ?? 0) - 1;
    if (left > 0) return void this.#users.set(directory, left);
    this.#users.delete(directory);
    rmSync(path, { force: true });
  }
}

/** Forgets those of an earlier life. */
export const removeShortPaths = (labDirectory: string): Promise<void> =>
  rm(join(labDirectory, FOLDER), { recursive: true, force: true });

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface CellOptions {
  /** What programs in it see at `place`. */
  readonly folder: string;
  readonly place: string;
  /** Of servers on loopback that they reach; they see nothing else of the network. */
  readonly ports: readonly number[];
}

/**
 * A network and a place for files that are one program's own. Upstream's two programs want the same port for their
 * webhooks, and the same folder for the certificates of it; there they can be told neither.
 */
export class Cell implements AsyncDisposable {
  readonly #relay: ChildProcess;
  readonly #pid: number;
  readonly #place: string;

  private constructor(relay: ChildProcess, pid: number, place: string) {
    this.#relay = relay;
    this.#pid = pid;
    this.#place = place;
  }

  /** Needs Linux, and the programs unshare, nsenter and ip. */
  static async open({ folder, place, ports }: CellOptions): Promise<Cell> {
    const relay = fork(join(import.meta.dirname, 'cell-relay.ts'), [folder, place, ...ports.map(String)]);
    const failed = once(relay, 'exit').then(([code]) => {
      throw new Error(`no network for upstream's programs: unshare or ip failed with ${code}`);
    });
    const [{ pid }] = await Promise.race([once(relay, 'message'), failed]);
    failed.catch(() => {});
    return new Cell(relay, pid, place);
  }

  /** The words of a program that runs in it; it stays the same process. */
  inside(words: readonly string[]): readonly string[] {
    const namespaces = ['--user', '--preserve-credentials', '--net', '--mount', `--wd=${process.cwd()}`];
    return ['nsenter', `--target=${this.#pid}`, ...namespaces, ...words];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#relay, 'exit');
    this.#relay.disconnect();
    await ended;
    // Empty folders under its mount; somebody else may have been first, or need them still.
    await rmdir(this.#place).catch(() => {});
    await rmdir(dirname(this.#place)).catch(() => {});
  }
}

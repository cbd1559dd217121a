import type { ObjectKey } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { Channel } from '../../kube/controller/channel.ts';
import type { Runnable } from '../../kube/manager/runnable.ts';

export interface ImagesWatchOptions {
  readonly read: () => Promise<string>;
  readonly clock: Clock;
  /** What has to be looked at when the file is another one. */
  readonly key: ObjectKey;
}

/** A mounted ConfigMap changes within a minute or two after its object; this is soon enough after that. */
const LOOK_MS = 15_000;

/**
 * Tells of a new images.json: no event of the cluster does, and whoever mended it should not wait for a resync. Also one
 * that cannot be read, or can be read again, is another one.
 */
export class ImagesWatch implements Runnable {
  readonly name = 'images.json';
  readonly group = 'other';
  readonly changes = new Channel();
  readonly #options: ImagesWatchOptions;

  constructor(options: ImagesWatchOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, key } = this.#options;
    let last = await this.#text();
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      const text = await this.#text();
      if (text !== last) this.changes.send(key);
      last = text;
    }
  }

  #text(): Promise<string | undefined> {
    return this.#options.read().catch(() => undefined);
  }
}

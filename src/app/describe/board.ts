import type { ClusterPicture } from './picture.ts';

export type BoardListener = (picture: ClusterPicture) => void;

/** Where the newest picture of a cluster is put up for those who show it. */
export class ClusterBoard {
  /** Whether more than one picture is to come. */
  readonly isWatched: boolean;
  readonly #listeners = new Set<BoardListener>();

  constructor(options: { readonly isWatched: boolean }) {
    this.isWatched = options.isWatched;
  }

  publish(picture: ClusterPicture): void {
    for (const listener of this.#listeners) listener(picture);
  }

  subscribe(listener: BoardListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}

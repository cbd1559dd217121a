import type { VersionOfImage } from './cluster-version-controller.ts';
import { tagVersion } from './tag-version.ts';

/** Who knows the versions of images: a registry that may start later, and tags until then. */
export class ReleaseLookup {
  readonly #usual: VersionOfImage;
  #used: VersionOfImage | undefined;

  constructor(usual: VersionOfImage = tagVersion) {
    this.#usual = usual;
  }

  readonly versionOfImage: VersionOfImage = (image) => (this.#used ?? this.#usual)(image);

  /** The last one that is used is asked, until it is disposed. */
  use(versionOfImage: VersionOfImage): Disposable {
    this.#used = versionOfImage;
    return {
      [Symbol.dispose]: () => {
        if (this.#used === versionOfImage) this.#used = undefined;
      },
    };
  }
}

import { type LabRelease, releaseContent, releaseIndex, type StoredContent } from './release-content.ts';

/** Releases with the Kubernetes minor that each has, oldest first: some to install, some to go on to. Patch numbers are made up. */
export const USUAL_RELEASES: readonly LabRelease[] = [
  { version: '4.19.0', kubernetesVersion: '1.32.5' },
  { version: '4.19.9', kubernetesVersion: '1.32.7' },
  { version: '4.20.0', kubernetesVersion: '1.33.5' },
  { version: '4.20.1', kubernetesVersion: '1.33.5' },
  { version: '4.20.4', kubernetesVersion: '1.33.5' },
  { version: '4.21.0-ec.2', kubernetesVersion: '1.34.1' },
  { version: '4.21.0', kubernetesVersion: '1.34.2' },
  { version: '4.21.1', kubernetesVersion: '1.34.2' },
  { version: '4.20.0-okd-scos.9', kubernetesVersion: '1.33.4' },
];

/** Processors by their name in tags, with that of Kubernetes. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' };

/** What repositories with release images hold: the same in each. Bounded by the releases that it is made of. */
export class ReleaseCatalogue {
  readonly #byTag = new Map<string, StoredContent>();
  readonly #byDigest = new Map<string, StoredContent>();
  readonly #blobs = new Map<string, StoredContent>();
  readonly #releases = new Map<string, LabRelease>();

  constructor(releases: readonly LabRelease[]) {
    for (const release of releases) this.#add(release);
  }

  get tags(): readonly string[] {
    return [...this.#byTag.keys()];
  }

  /** By tag or digest. */
  manifest(reference: string): StoredContent | undefined {
    return this.#byTag.get(reference) ?? this.#byDigest.get(reference);
  }

  blob(digest: string): StoredContent | undefined {
    return this.#blobs.get(digest);
  }

  /** Of a manifest that is there. */
  release(reference: string): LabRelease | undefined {
    return this.#releases.get(this.manifest(reference)?.digest ?? '');
  }

  #add(release: LabRelease): void {
    const { version } = release;
    const images = new Map(Object.values(ARCHITECTURES).map((name) => [name, releaseContent(release, name)]));
    for (const [name, architecture] of Object.entries(ARCHITECTURES)) {
      const image = images.get(architecture);
      if (image === undefined) continue;
      for (const blob of image.blobs) this.#blobs.set(blob.digest, blob);
      this.#keep(release, image.manifest, `${version}-${name}`);
    }
    const index = releaseIndex(images);
    this.#keep(release, index, `${version}-multi`);
    // Tags of OKD name no processor (agent/R1).
    if (version.includes('okd-scos')) this.#byTag.set(version, index);
  }

  #keep(release: LabRelease, content: StoredContent, tag: string): void {
    this.#byTag.set(tag, content);
    this.#byDigest.set(content.digest, content);
    this.#releases.set(content.digest, release);
  }
}

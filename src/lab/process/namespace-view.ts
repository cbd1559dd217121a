import { posix } from 'node:path';
import { notCreated } from './launch.ts';
import { isWithin, located, type Mount, outerFirst } from './mounts.ts';
import type { StartFailure } from './process-host.ts';

/** What is in the directories of this machine, without following links. */
export interface DirectoryReader {
  kind(path: string): 'directory' | 'file' | 'link' | undefined;
  /** Names; empty when it cannot be read. */
  entries(path: string): readonly string[];
  linkText(path: string): string;
}

export interface Bind {
  /** As the container sees it. */
  readonly path: string;
  readonly source: string;
  readonly isReadOnly: boolean;
}

/** How to build what a container sees, in this order. Paths are those of the container. */
export interface NamespaceView {
  /** To be made on this machine first: a mount inside a volume needs a place in it. */
  readonly missing: readonly { readonly path: string; readonly kind: 'directory' | 'file' }[];
  readonly directories: readonly string[];
  readonly files: readonly string[];
  readonly links: readonly { readonly path: string; readonly text: string }[];
  /** Entries of exploded directories: one that is gone by then is not missed. */
  readonly siblings: readonly Bind[];
  readonly binds: readonly Bind[];
  /** Whether the root is a directory of its own; otherwise it is that of the machine. */
  readonly isExploded: boolean;
}

const EMPTY: NamespaceView = {
  missing: [],
  directories: [],
  files: [],
  links: [],
  siblings: [],
  binds: [],
  isExploded: false,
};
/** As the kernel: whoever needs more links is in a circle. */
const MOST_LINKS = 40;

/**
 * The machine as it is, with the mounts in their places (P9). A directory is bound as a whole where that serves; only
 * those that miss a place for a mount are "exploded", that is, built anew from their entries.
 */
export function namespaceView(mounts: readonly Mount[], options: ViewOptions): NamespaceView {
  return new Viewer(options).cover({ path: '/', source: '/', isReadOnly: false }, mounts);
}

export interface ViewOptions {
  readonly reader: DirectoryReader;
  /**
   * Whether a place for a mount may be made in this volume, as container runtimes do, also where the container may not
   * write. Elsewhere the lab leaves no trace.
   */
  readonly isOurs: (source: string) => boolean;
}

/** The mounts at the places that their paths really lead to: `/var/run` is often a link to `/run`. */
export function canonicalMounts(mounts: readonly Mount[], reader: DirectoryReader): readonly Mount[] {
  const canonical: Mount[] = [];
  for (const mount of outerFirst(mounts)) {
    canonical.push({ ...mount, mountPath: canonicalPath(mount.mountPath, canonical, reader) });
  }
  return canonical;
}

/** A path of the container with no link in it. */
export function canonicalPath(path: string, mounts: readonly Mount[], reader: DirectoryReader): string {
  let done = '/';
  let left = path.split('/').filter((part) => part !== '');
  for (let links = 0; left.length > 0; ) {
    const next = posix.join(done, left[0] ?? '');
    const at = located(next, mounts);
    left = left.slice(1);
    if (reader.kind(at) !== 'link') {
      done = next;
      continue;
    }
    if (++links > MOST_LINKS) throw notCreated(`${path} leads through too many symbolic links`);
    left = [
      ...posix
        .resolve(done, reader.linkText(at))
        .split('/')
        .filter((part) => part !== ''),
      ...left,
    ];
    done = '/';
  }
  return done;
}

const refusal = (path: string, why: string): StartFailure => notCreated(`cannot mount at ${path}: ${why}`);

/** A place of the container that shows something of this machine, or only what is mounted below it. */
interface Place {
  readonly path: string;
  readonly source?: string;
  readonly isReadOnly: boolean;
}

class Viewer {
  readonly #reader: DirectoryReader;
  readonly #isOurs: (source: string) => boolean;

  constructor({ reader, isOurs }: ViewOptions) {
    this.#reader = reader;
    this.#isOurs = isOurs;
  }

  cover(at: Place, below: readonly Mount[]): NamespaceView {
    const { source } = at;
    const outer = below.filter((mount) => !below.some(({ mountPath }) => isInside(mount, mountPath)));
    if (source === undefined) return this.#exploded(at, outer, below);
    if (outer[0] !== undefined && this.#reader.kind(source) === 'file')
      throw refusal(outer[0].mountPath, `${at.path} is a file`);
    const views = outer.map((mount) => this.cover(placeOfMount(mount), insideOf(mount.mountPath, below)));
    const places = outer.map((mount) => this.#placeIn({ ...at, source }, mount));
    const isWhole = !places.includes('none') && !views.some(({ isExploded }) => isExploded);
    if (!isWhole) return this.#exploded(at, outer, below);
    const missing = outer
      .filter((_, index) => places[index] === 'missing')
      .map((mount) => ({ path: innerSource({ ...at, source }, mount), kind: this.#kindOf(mount) }));
    return combined([{ ...EMPTY, missing, binds: [{ ...at, source }] }, ...views], false);
  }

  /** Whether a volume has a place for a mount inside it. */
  #placeIn(at: Bind, mount: Mount): 'there' | 'missing' | 'none' {
    const kind = this.#reader.kind(innerSource(at, mount));
    if (kind === this.#kindOf(mount)) return 'there';
    return kind === undefined && this.#isOurs(at.source) ? 'missing' : 'none';
  }

  #kindOf({ source }: Mount): 'directory' | 'file' {
    return this.#reader.kind(source) === 'directory' ? 'directory' : 'file';
  }

  #exploded(at: Place, outer: readonly Mount[], below: readonly Mount[]): NamespaceView {
    const heads = new Set(outer.map(({ mountPath }) => posix.relative(at.path, mountPath).split('/')[0] ?? ''));
    const entries = at.source === undefined ? [] : this.#reader.entries(at.source);
    const siblings = entries.filter((entry) => !heads.has(entry)).map((entry) => this.#sibling(at, entry));
    const children = [...heads].map((head) => this.#onTheWay(at, head, below));
    return combined([{ ...EMPTY, directories: [at.path] }, ...siblings, ...children], true);
  }

  /** An entry of an exploded directory that has nothing to do with the mounts. */
  #sibling(parent: Place, entry: string): NamespaceView {
    const path = posix.join(parent.path, entry);
    const source = posix.join(parent.source ?? '', entry);
    const kind = this.#reader.kind(source);
    if (kind === undefined) return EMPTY;
    if (kind === 'link') return { ...EMPTY, links: [{ path, text: this.#reader.linkText(source) }] };
    return { ...emptyPlace(path, kind), siblings: [{ path, source, isReadOnly: parent.isReadOnly }] };
  }

  /** An entry of an exploded directory that is a mount or has some below it. */
  #onTheWay(parent: Place, head: string, below: readonly Mount[]): NamespaceView {
    const path = posix.join(parent.path, head);
    const mount = below.find(({ mountPath }) => mountPath === path);
    const place = mount === undefined ? this.#directory(parent, path) : placeOfMount(mount);
    const view = this.cover(place, insideOf(path, below));
    if (view.isExploded) return view;
    return combined([emptyPlace(path, mount === undefined ? 'directory' : this.#kindOf(mount)), view], false);
  }

  /** A directory that leads to a mount; it need not exist on this machine. */
  #directory({ source: around, isReadOnly }: Place, path: string): Place {
    if (around === undefined) return { path, isReadOnly };
    const source = posix.join(around, posix.basename(path));
    const kind = this.#reader.kind(source);
    if (kind === 'file') throw refusal(`a place below ${path}`, `${path} is a file`);
    return { path, isReadOnly, ...(kind !== undefined && { source }) };
  }
}

const placeOfMount = ({ mountPath, source, isReadOnly }: Mount): Place => ({
  path: mountPath,
  source,
  isReadOnly,
});

const isInside = ({ mountPath }: Mount, directory: string): boolean =>
  mountPath !== directory && isWithin(mountPath, directory);

const insideOf = (directory: string, mounts: readonly Mount[]): readonly Mount[] =>
  mounts.filter((mount) => isInside(mount, directory));

/** Where a volume would show what is mounted inside it. */
const innerSource = (around: Bind, { mountPath }: Mount): string =>
  posix.join(around.source, posix.relative(around.path, mountPath));

const emptyPlace = (path: string, kind: 'directory' | 'file'): NamespaceView =>
  kind === 'directory' ? { ...EMPTY, directories: [path] } : { ...EMPTY, files: [path] };

const combined = (views: readonly NamespaceView[], isExploded: boolean): NamespaceView => ({
  missing: views.flatMap(({ missing }) => missing),
  directories: views.flatMap(({ directories }) => directories),
  files: views.flatMap(({ files }) => files),
  links: views.flatMap(({ links }) => links),
  siblings: views.flatMap(({ siblings }) => siblings),
  binds: views.flatMap(({ binds }) => binds),
  isExploded,
});

import { type FSWatcher, watch } from 'node:fs';
import { mkdir, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf, userError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { EventRecorder } from '../../../kube/events/event-recorder.ts';
import { every } from '../../clock/every.ts';
import { whenMissing } from '../volumes/missing-file.ts';
import { staticPod } from './static-pod.ts';
import type { StaticPodSource } from './static-pod-source.ts';

const DIRECTORY = '/etc/kubernetes/manifests';
const SCAN_MS = 20_000;
/** Whoever writes a file does it in several steps: what is read between them is half of it. */
const SETTLE_MS = 50;
const LARGEST_BYTES = 10 * 1024 * 1024;

export interface StaticPodsOptions {
  /** What the node takes for `/`. */
  readonly root: string;
  readonly node: string;
  /** Lab time: how often everything is read. */
  readonly clock: Clock;
  /** Real time: how long a file gets to be written. */
  readonly real: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  /** Keeps lab time still while files are read. */
  readonly hold?: (reason: string) => Disposable;
}

/**
 * The pods in the manifest directory of a node, read once before it resolves, then at every change and every 20 s (N37).
 * A file that holds no pod is told of once; a pod that was there stays until the next regular look, for the file may
 * be half written.
 */
export async function startStaticPods(options: StaticPodsOptions): Promise<StaticPodSource & AsyncDisposable> {
  const directory = new ManifestDirectory(options);
  await directory.start();
  return directory;
}

interface Manifest {
  /** Changes with every write; what has the same one is not read again. */
  readonly mark: string;
  readonly pod: Pod | undefined;
}

class ManifestDirectory implements StaticPodSource, AsyncDisposable {
  readonly #options: StaticPodsOptions;
  readonly #path: string;
  readonly #listeners = new Set<() => void>();
  /** By file: bounded by the files of the directory. */
  #manifests: ReadonlyMap<string, Manifest> = new Map();
  readonly #told = new Map<string, string>();
  #pods: readonly Pod[] = [];
  #watcher: FSWatcher | undefined;
  #watchedInode = 0;
  #scans: Disposable | undefined;
  #settling: Disposable | undefined;
  #last: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: StaticPodsOptions) {
    this.#options = options;
    this.#path = join(options.root, DIRECTORY);
  }

  async start(): Promise<void> {
    await mkdir(this.#path, { recursive: true, mode: 0o755 });
    await this.#scan('regular');
    this.#scans = every(this.#options.clock, SCAN_MS, () => void this.#scan('regular'));
  }

  pods(): readonly Pod[] {
    return this.#pods;
  }

  subscribe(changed: () => void): Disposable {
    const listener = () => changed();
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#scans?.[Symbol.dispose]();
    this.#settling?.[Symbol.dispose]();
    this.#watcher?.close();
    await this.#last;
  }

  /** One after the other. */
  #scan(look: 'regular' | 'change'): Promise<void> {
    this.#last = this.#last.then(async () => {
      if (this.#isStopped) return;
      using _hold = this.#options.hold?.('manifests of static pods');
      try {
        await this.#watch();
        await this.#read(look);
      } catch (err) {
        this.#options.log.error({ err, directory: this.#path }, 'Cannot read the manifests of static pods');
      }
    });
    return this.#last;
  }

  async #read(look: 'regular' | 'change'): Promise<void> {
    const manifests = new Map<string, Manifest>();
    const owners = new Map<string, string>();
    for (const name of await this.#names()) {
      const before = this.#manifests.get(name);
      const manifest = await this.#manifest(name, owners);
      if (manifest === undefined) continue;
      const isKept = manifest.pod === undefined && look === 'change';
      manifests.set(name, isKept && before?.pod !== undefined ? { ...before, mark: '' } : manifest);
    }
    for (const name of this.#told.keys()) if (!manifests.has(name)) this.#told.delete(name);
    this.#manifests = manifests;
    this.#show([...manifests.values()].flatMap(({ pod }) => pod ?? []));
  }

  /** Sorted; what begins with a dot is being written by somebody, or hidden. */
  async #names(): Promise<readonly string[]> {
    const names = (await readdir(this.#path).catch(whenMissing)) ?? [];
    return names.filter((name) => !name.startsWith('.')).sort();
  }

  /** Undefined when it is no file, or not any more. */
  async #manifest(name: string, owners: Map<string, string>): Promise<Manifest | undefined> {
    const path = join(this.#path, name);
    const found = await stat(path, { bigint: true }).catch(whenMissing);
    if (found?.isFile() !== true) return undefined;
    const mark = `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
    try {
      const before = this.#manifests.get(name);
      const isKnown = before?.pod !== undefined && before.mark === mark;
      const pod = isKnown ? before.pod : await this.#parsed(name, path);
      claim(owners, pod, name);
      this.#told.delete(name);
      return { mark, pod };
    } catch (error) {
      this.#tell(name, messageOf(error));
      return { mark, pod: undefined };
    }
  }

  async #parsed(name: string, path: string): Promise<Pod> {
    const { node, clock } = this.#options;
    const text = await textOf(path);
    const pod = staticPod(text, { file: join(DIRECTORY, name), node, seenAt: clock.now() });
    // The same content is the same pod, since when it was first seen.
    const known = this.#pods.find(({ metadata }) => metadata.uid === pod.metadata.uid);
    return known ?? pod;
  }

  /** Once for each file and problem. */
  #tell(name: string, problem: string): void {
    if (this.#told.get(name) === problem) return;
    this.#told.set(name, problem);
    const { log, events, node } = this.#options;
    const file = join(DIRECTORY, name);
    log.warn({ file, problem }, 'Ignoring the manifest of a static pod');
    const regarding = { apiVersion: 'v1', kind: 'Node', metadata: { name: node, uid: node } };
    events.warning(regarding, 'InvalidManifest', `Could not process manifest file ${file}: ${problem}`);
  }

  #show(pods: readonly Pod[]): void {
    const identities = (some: readonly Pod[]) => some.map(({ metadata }) => metadata.uid).join();
    const isSame = identities(pods) === identities(this.#pods);
    this.#pods = pods;
    if (isSame || this.#isStopped) return;
    for (const changed of this.#listeners) changed();
  }

  /** Follows the directory, also when it is another one than before. */
  async #watch(): Promise<void> {
    const inode = (await stat(this.#path).catch(whenMissing))?.ino ?? 0;
    if (inode === this.#watchedInode || this.#isStopped) return;
    this.#watcher?.close();
    this.#watchedInode = inode;
    this.#watcher = inode === 0 ? undefined : this.#watcherOf();
  }

  /** Undefined where changes are not told (no inotify left, some network file systems): the regular look is enough. */
  #watcherOf(): FSWatcher | undefined {
    const failed = (err: unknown) => this.#options.log.debug({ err }, 'Cannot watch the manifests of static pods');
    try {
      const watcher = watch(this.#path, { persistent: false }, () => this.#settle());
      watcher.on('error', failed);
      return watcher;
    } catch (err) {
      failed(err);
      return undefined;
    }
  }

  #settle(): void {
    this.#settling?.[Symbol.dispose]();
    if (this.#isStopped) return;
    this.#settling = this.#options.real.timer(SETTLE_MS, () => void this.#scan('change'));
  }
}

/** Two files must not run the same pod: the first one has it. */
function claim(owners: Map<string, string>, { metadata }: Pod, file: string): void {
  const key = `${metadata.namespace}/${metadata.name}`;
  const owner = owners.get(key);
  if (owner !== undefined) throw userError('InvalidManifest', `pod ${key} is in file ${owner} already`);
  owners.set(key, file);
}

const DECODER = new TextDecoder('utf-8', { fatal: true });

async function textOf(path: string): Promise<string> {
  await using file = await open(path);
  const { size } = await file.stat();
  if (size > LARGEST_BYTES) {
    throw userError('InvalidManifest', `it has ${size} bytes; ${LARGEST_BYTES} are allowed`);
  }
  const buffer = Buffer.alloc(size);
  const { bytesRead } = await file.read(buffer, 0, size, 0);
  try {
    return DECODER.decode(buffer.subarray(0, bytesRead));
  } catch (cause) {
    throw userError('InvalidManifest', 'it is not text in UTF-8', { cause });
  }
}

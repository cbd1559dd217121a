import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container, Pod, Volume } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { Mount } from '../../process/mounts.ts';
import { writeAtomically } from './atomic-writer.ts';
import { mountOf, subPathOf } from './container-mounts.ts';
import { etcHosts } from './etc-hosts.ts';
import { whenMissing } from './missing-file.ts';
import { containerDirectory, podDirectory, podsDirectory, subPathDirectory } from './pod-directory.ts';
import { PodSources } from './pod-sources.ts';
import { type PodVolumes, VolumeProblem } from './pod-volumes.ts';
import { ReferencedObjects } from './referenced-objects.ts';
import { removeTree } from './tree-removal.ts';
import { filesOf, isWritten } from './volume-files.ts';
import { makeOpen, VolumePlaces, type VolumePlacesOptions } from './volume-places.ts';

export interface PodVolumesOptions extends VolumePlacesOptions {
  /** Of the node: its pods' ConfigMaps, Secrets and tokens are read with it. */
  readonly client: Pick<KubeClient, 'live' | 'createToken'>;
  readonly clock: Clock;
  /** Real time (T6): how long the server may take. */
  readonly real: Clock;
  readonly log: Log;
  /** What the node can give: the limit of containers that have none, in downward API volumes. */
  readonly allocatable?: () => Readonly<Record<string, string>>;
}

/** Disposing it ends watches and timers; directories stay for the next life. */
export const podVolumes = (options: PodVolumesOptions): PodVolumes & AsyncDisposable =>
  new LivePodVolumes(options);

/** What is known of one pod from its first `setUp` to its `tearDown`. */
interface KnownPod {
  pod: Pod;
  readonly sources: PodSources;
  /** Everything that touches the pod's directory, one after the other. */
  last: Promise<unknown>;
  /** Everything was there once: from now on changes are written as they come. */
  isSetUp: boolean;
  /** A refresh waits for its turn: one is enough. */
  isRefreshDue: boolean;
}

class LivePodVolumes implements PodVolumes, AsyncDisposable {
  readonly #options: PodVolumesOptions;
  readonly #objects: ReferencedObjects;
  readonly #places: VolumePlaces;
  /** Bounded by the pods of the node. */
  readonly #pods = new Map<string, KnownPod>();

  constructor(options: PodVolumesOptions) {
    const { client, clock, real, log } = options;
    this.#options = options;
    this.#objects = new ReferencedObjects({ live: client.live, clock, real, log });
    this.#places = new VolumePlaces(options);
  }

  async setUp(pod: Pod): Promise<void> {
    const known = this.#knownPod(pod);
    await this.#inTurn(known, async () => {
      known.pod = pod;
      await this.#makeDirectories(pod);
      const [problem] = await problemsOf(usedVolumes(pod), (volume) => this.#layOut(known, volume));
      if (problem !== undefined) throw problem;
      known.isSetUp = true;
    });
  }

  async mountsFor(pod: Pod, container: Container, expand?: (text: string) => string): Promise<readonly Mount[]> {
    const known = this.#knownPod(pod);
    return await this.#inTurn(known, async () => {
      const mounts: Mount[] = [];
      for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
        const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
        if (volume === undefined) throw unknownVolume(mount.name, container);
        const path = subPathOf(mount, expand);
        const copy = join(subPathDirectory(this.#directory(pod), volume.name, container.name), String(index));
        mounts.push(
          await named(volume, async () =>
            mountOf(await this.#places.locate(known.pod, volume), mount, { path, copy }),
          ),
        );
      }
      return [...mounts, ...(await this.#hostsMount(pod, mounts))];
    });
  }

  async tearDown(uid: string): Promise<void> {
    const known = this.#pods.get(uid);
    // Before the turn: a volume that waits for an answer of the server must not delay the end.
    known?.sources[Symbol.dispose]();
    const remove = async () => {
      await this.#options.claims?.tearDown(uid);
      using _hold = this.#options.hold?.(`removal of the directory of pod ${uid}`);
      await removeTree(podDirectory(this.#options.root, uid));
      if (this.#pods.get(uid) === known) this.#pods.delete(uid);
      this.#places.forget(uid);
    };
    await (known === undefined ? remove() : this.#inTurn(known, remove));
  }

  async known(): Promise<readonly string[]> {
    return ((await readdir(podsDirectory(this.#options.root)).catch(whenMissing)) ?? []).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pods = [...this.#pods.values()];
    for (const { sources } of pods) sources[Symbol.dispose]();
    this.#pods.clear();
    await this.#objects[Symbol.asyncDispose]();
    await Promise.all(pods.map(({ last }) => last));
  }

  #knownPod(pod: Pod): KnownPod {
    const found = this.#pods.get(uidOf(pod));
    if (found !== undefined && !found.sources.isDisposed) return found;
    const { client, clock, log } = this.#options;
    const changed = () => void this.#refresh(known);
    const sources = new PodSources({ objects: this.#objects, client, clock, log, pod, changed });
    // After what was begun to take the pod away.
    const last = found?.last ?? Promise.resolve();
    const known: KnownPod = { pod, sources, last, isSetUp: false, isRefreshDue: false };
    this.#pods.set(uidOf(pod), known);
    return known;
  }

  async #inTurn<T>(known: KnownPod, act: () => Promise<T>): Promise<T> {
    const turn = known.last.then(act);
    known.last = turn.catch(() => undefined);
    return await turn;
  }

  /** Something that the files of a pod are made from has changed (N28). What cannot be written leaves the old files. */
  async #refresh(known: KnownPod): Promise<void> {
    if (known.isRefreshDue) return;
    known.isRefreshDue = true;
    await this.#inTurn(known, async () => {
      known.isRefreshDue = false;
      if (!known.isSetUp || known.sources.isDisposed) return;
      const written = usedVolumes(known.pod).filter(isWritten);
      for (const problem of await problemsOf(written, (volume) => this.#layOut(known, volume))) {
        this.#options.log.warn({ err: problem }, 'Kept the old files of a volume');
        this.#options.events.warning(known.pod, problem.reason, problem.message);
      }
    }).catch((err: unknown) => this.#options.log.error({ err }, 'Cannot update the volumes of a pod'));
  }

  /** Only while files are worked on: what comes from the server may take its time, and some waits end by lab time. */
  #hold({ metadata }: Pod): Disposable | undefined {
    return this.#options.hold?.(`volumes of pod ${metadata.name}`);
  }

  async #makeDirectories(pod: Pod): Promise<void> {
    using _hold = this.#hold(pod);
    await mkdir(this.#directory(pod), { recursive: true, mode: 0o750 });
    for (const { name } of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      await mkdir(containerDirectory(this.#options.root, uidOf(pod), name), { recursive: true, mode: 0o750 });
    }
  }

  async #layOut(known: KnownPod, volume: Volume): Promise<void> {
    await named(volume, async () => {
      if (!isWritten(volume)) return void (await this.#places.locate(known.pod, volume));
      const { source } = await this.#places.locate(known.pod, volume);
      const facts = await known.sources.factsFor(volume);
      const files = filesOf(known.pod, volume, { ...facts, allocatable: this.#options.allocatable?.() ?? {} });
      using _hold = this.#hold(known.pod);
      await makeOpen(source);
      await writeAtomically(source, files, this.#options.clock);
    });
  }

  /** Mounted only where it says more than the machine's own file: hiding `/etc/hosts` is not free (P9). */
  async #hostsMount(pod: Pod, mounts: readonly Mount[]): Promise<readonly Mount[]> {
    const source = join(this.#directory(pod), 'etc-hosts');
    const text = etcHosts(pod);
    if ((await readFile(source, 'utf8').catch(whenMissing)) !== text) {
      await mkdir(this.#directory(pod), { recursive: true, mode: 0o750 });
      await writeFile(source, text, { mode: 0o644 });
    }
    const isTaken = mounts.some(({ mountPath }) => mountPath === '/etc/hosts');
    if (isTaken || (pod.spec.hostAliases ?? []).length === 0) return [];
    return [{ mountPath: '/etc/hosts', source, isReadOnly: false }];
  }

  #directory(pod: Pod): string {
    return podDirectory(this.#options.root, uidOf(pod));
  }
}

const uidOf = ({ metadata }: Pod): string => metadata.uid ?? '';

/** As upstream: a volume that no container uses is left alone. */
function usedVolumes({ spec }: Pod): readonly Volume[] {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const names = new Set(
    containers.flatMap(({ volumeMounts = [], volumeDevices = [] }) =>
      [...volumeMounts, ...volumeDevices].map(({ name }) => name),
    ),
  );
  return (spec.volumes ?? []).filter(({ name }) => names.has(name));
}

/** All volumes get their turn, so that one that waits does not hide what is wrong with the next. */
async function problemsOf(
  volumes: readonly Volume[],
  act: (volume: Volume) => Promise<void>,
): Promise<readonly VolumeProblem[]> {
  const problems: VolumeProblem[] = [];
  for (const volume of volumes) {
    try {
      await act(volume);
    } catch (error) {
      if (!(error instanceof VolumeProblem)) throw error;
      problems.push(error);
    }
  }
  return problems;
}

/** Whatever goes wrong with a volume is a problem that names it, as upstream words it. */
async function named<T>({ name, persistentVolumeClaim }: Volume, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    // Who provides claims knows which step it was.
    if (persistentVolumeClaim !== undefined && error instanceof VolumeProblem) throw error;
    const reason = error instanceof VolumeProblem ? error.reason : 'FailedMount';
    throw new VolumeProblem(reason, `MountVolume.SetUp failed for volume "${name}" : ${messageOf(error)}`);
  }
}

const unknownVolume = (name: string, container: Container): VolumeProblem =>
  new VolumeProblem('FailedMount', `cannot find volume "${name}" to mount into container "${container.name}"`);

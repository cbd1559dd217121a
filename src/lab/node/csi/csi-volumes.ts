import { lstat, mkdir, realpath, rmdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Pod, Volume } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf, retryError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { locatePath, onMachine } from '../plugins/node-sockets.ts';
import type { FactsAddition } from '../registration/node-facts.ts';
import type { ClaimVolumes } from '../volumes/claim-volumes.ts';
import { codeOf, whenMissing } from '../volumes/missing-file.ts';
import { isInside } from '../volumes/node-root.ts';
import { VolumeProblem } from '../volumes/pod-volumes.ts';
import { type ClaimedVolume, fetchClaimedVolume } from './claimed-volume.ts';
import { type CsiVolume, recordDirectory, stagingPath, targetPath, uniqueVolumeName } from './csi-paths.ts';
import { DriverCall } from './driver-call.ts';
import { DriverObjects } from './driver-objects.ts';
import type { DriverStore } from './driver-store.ts';
import { KeyedTurns } from './keyed-turns.ts';
import { volumeCapability } from './volume-capability.ts';
import { allRecords, type FoundRecord, recordsOf, removeRecord, writeRecord } from './volume-record.ts';

const API_MS = 10_000;
/** Something is in it, or mounted there. */
const LEFT_ALONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EBUSY']);

export interface CsiVolumesOptions {
  /** What the node takes for `/`. */
  readonly root: string;
  /** The name of the node. */
  readonly node: string;
  /** As the node. */
  readonly client: Pick<KubeClient, 'live' | 'createToken'>;
  readonly drivers: Pick<DriverStore, 'find'>;
  /** Real time: drivers are programs. */
  readonly real: Clock;
  readonly log: Log;
  /** Directories of this machine outside of the root to which published volumes may lead, such as those of a cloud. */
  readonly realPaths?: readonly string[];
}

/** Claims of one node, and which volumes it uses. */
export interface CsiVolumes extends ClaimVolumes {
  /** `volumesInUse` of the node: whoever attaches must not take these away. */
  facts(): FactsAddition;
}

/** Claims on one node, served by the CSI drivers that are registered there (N36). */
export async function startCsiVolumes(options: CsiVolumesOptions): Promise<CsiVolumes> {
  const volumes = new NodeCsiVolumes(options);
  await volumes.recall();
  return volumes;
}

class NodeCsiVolumes implements CsiVolumes {
  readonly #options: CsiVolumesOptions;
  readonly #objects: DriverObjects;
  readonly #turns = new KeyedTurns();
  /** Names of volumes by pod: bounded by the pods of the node. */
  readonly #inUse = new Map<string, Set<string>>();
  /** Where volumes of pods are that were published in this life, by pod and name of the volume there. */
  readonly #published = new Map<string, Map<string, string>>();

  constructor(options: CsiVolumesOptions) {
    const { client, node } = options;
    this.#options = options;
    this.#objects = new DriverObjects({ client, node, call: { timeoutMs: API_MS } });
  }

  /** What pods of an earlier life have is in use. */
  async recall(): Promise<void> {
    const { log } = this.#options;
    const found = await allRecords(this.#options);
    for (const { uid, directory, volume } of found) {
      if (!(volume instanceof Error)) {
        this.#use(uid, volume);
        continue;
      }
      log.warn({ err: volume, pod: uid }, 'A volume of a pod is left to people');
      // The record of another pod may know which one it is.
      for (const one of found)
        if (one.directory === directory && !(one.volume instanceof Error)) this.#use(uid, one.volume);
    }
  }

  facts(): FactsAddition {
    return { volumesInUse: [...new Set([...this.#inUse.values()].flatMap((names) => [...names]))].sort() };
  }

  async setUp(pod: Pod, volume: Volume): Promise<string> {
    const { uid = '' } = pod.metadata;
    const known = this.#published.get(uid)?.get(volume.name);
    if (known !== undefined) return known;
    const claimed = await fetchClaimedVolume(this.#options.client.live, pod, volume, { timeoutMs: API_MS });
    this.#use(uid, claimed);
    return await this.#turns.take(uniqueVolumeName(claimed), async () => {
      await this.#publish(pod, claimed);
      const path = await this.#placeOf(claimed, uid);
      const published = this.#published.get(uid) ?? new Map();
      this.#published.set(uid, published.set(volume.name, path));
      return path;
    });
  }

  async tearDown(uid: string): Promise<void> {
    for (const volume of await recordsOf(this.#options, uid)) {
      await this.#turns.take(uniqueVolumeName(volume), () => this.#unpublish(uid, volume));
    }
    this.#published.delete(uid);
    this.#inUse.delete(uid);
  }

  /** Attached, staged, published: each when the one before is done. */
  async #publish(pod: Pod, volume: ClaimedVolume): Promise<void> {
    const { pv, handle: volumeId, source, isReadOnly } = volume;
    const { uid = '' } = pod.metadata;
    const spec = await this.#objects.driver(volume.driver);
    const publishContext = await this.#objects.publishContext(pod, volume, spec);
    using call = this.#call(volume, 'MountVolume.MountDevice', pv);
    const abilities = await call.abilities().catch(failed('MountVolume.MountDevice', pv));
    const shared = { volumeId, publishContext, volumeCapability: volumeCapability(volume, pod, abilities) };
    const volumeContext = source.volumeAttributes ?? {};
    const target = targetPath(volume, uid);
    const stagingTargetPath = abilities.canStage ? stagingPath(volume) : '';
    const stageSecrets = await this.#objects.secrets('NodeStageSecretRef', source.nodeStageSecretRef);
    const publishSecrets = await this.#objects.secrets('NodePublishSecretRef', source.nodePublishSecretRef);
    const podTexts = await this.#objects.podTexts(pod, spec);
    await writeRecord(this.#options, uid, volume);
    if (abilities.canStage) {
      await this.#makeDirectory(stagingTargetPath);
      const request = { ...shared, stagingTargetPath, volumeContext, secrets: stageSecrets };
      await call.stage(request).catch(failed('MountVolume.MountDevice', pv));
    }
    await this.#makeDirectory(dirname(target));
    const request = {
      ...shared,
      stagingTargetPath,
      targetPath: target,
      readonly: isReadOnly,
      volumeContext: { ...volumeContext, ...podTexts.context },
      secrets: { ...publishSecrets, ...podTexts.secrets },
    };
    await call.publish(request).catch(failed('MountVolume.SetUp', pv));
  }

  /** The record goes last: until then whoever asks again does everything again, which drivers allow. */
  async #unpublish(uid: string, volume: CsiVolume): Promise<void> {
    const { pv, handle: volumeId } = volume;
    using call = this.#call(volume, 'UnmountVolume.TearDown', pv);
    const target = targetPath(volume, uid);
    await call.unpublish({ volumeId, targetPath: target }).catch(failed('UnmountVolume.TearDown', pv));
    await this.#removeLeft(target);
    const others = await this.#othersWith(uid, volume);
    for (const other of others) this.#use(other, volume);
    if (others.length === 0) await this.#unstage(call, volume);
    await removeRecord(this.#options, uid, volume);
    await this.#removeLeft(recordDirectory(uid, pv));
  }

  async #unstage(call: DriverCall, volume: CsiVolume): Promise<void> {
    const { pv, handle: volumeId } = volume;
    const { canStage } = await call.abilities().catch(failed('UnmountDevice', pv));
    if (!canStage) return;
    const stagingTargetPath = stagingPath(volume);
    await call.unstage({ volumeId, stagingTargetPath }).catch(failed('UnmountDevice', pv));
    await this.#removeLeft(stagingTargetPath);
    if (volume.mode === 'Filesystem') await this.#removeLeft(dirname(stagingTargetPath));
  }

  /** Whoever's record cannot be read, but is called like this volume, counts as one who uses it. */
  async #othersWith(uid: string, volume: CsiVolume): Promise<readonly string[]> {
    const name = basename(recordDirectory(uid, volume.pv));
    const isSame = ({ directory, volume: one }: FoundRecord) =>
      one instanceof Error ? directory === name : uniqueVolumeName(one) === uniqueVolumeName(volume);
    const found = await allRecords(this.#options);
    return found.filter((one) => one.uid !== uid && isSame(one)).map((one) => one.uid);
  }

  #use(uid: string, volume: CsiVolume): void {
    this.#inUse.set(uid, (this.#inUse.get(uid) ?? new Set()).add(uniqueVolumeName(volume)));
  }

  #call({ driver }: CsiVolume, operation: string, pv: string): DriverCall {
    const { drivers, real, log } = this.#options;
    const found = drivers.find(driver);
    if (found !== undefined) return new DriverCall({ endpoint: found.endpoint, real, log });
    const why = `driver name ${driver} not found in the list of registered CSI drivers`;
    return failed(operation, pv)(new Error(why));
  }

  async #makeDirectory(path: string): Promise<void> {
    await mkdir(onMachine(this.#options.root, path), { recursive: true, mode: 0o750 });
  }

  /** Drivers remove what they made; some forget a directory or a link. What holds anything is never removed. */
  async #removeLeft(path: string): Promise<void> {
    const machine = onMachine(this.#options.root, path);
    const found = await lstat(machine).catch(whenMissing);
    if (found === undefined) return;
    const isEmptyFile = found.isFile() && found.size === 0;
    if (!found.isDirectory() && !found.isSymbolicLink() && !isEmptyFile) return;
    await (found.isDirectory() ? rmdir(machine) : unlink(machine)).catch((error: unknown) => {
      if (!LEFT_ALONE.has(codeOf(error) ?? '')) throw error;
    });
  }

  /** Where a published volume is on this machine: a driver may have published a link (C21). */
  async #placeOf(volume: CsiVolume, uid: string): Promise<string> {
    const { root, realPaths = [] } = this.#options;
    const target = targetPath(volume, uid);
    const inside = await locatePath(root, target);
    if ((await stat(inside).catch(whenMissing)) !== undefined) return inside;
    const real = await realpath(onMachine(root, target)).catch(() => undefined);
    if (real !== undefined && realPaths.some((allowed) => isInside(allowed, real))) return real;
    const where = `driver ${volume.driver} published volume ${volume.handle}, but nothing is at ${target}`;
    throw new VolumeProblem('FailedMount', `MountVolume.SetUp failed for volume "${volume.pv}" : ${where}`);
  }
}

/** Setting up fails with a problem of the volume, taking down with an error that is tried again. */
const failed =
  (operation: string, pv: string) =>
  (cause: unknown): never => {
    const message = `${operation} failed for volume "${pv}" : ${messageOf(cause)}`;
    if (operation.startsWith('MountVolume')) throw new VolumeProblem('FailedMount', message);
    throw retryError('FailedUnmount', message, { cause });
  };

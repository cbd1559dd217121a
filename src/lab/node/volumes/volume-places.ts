import { chmod, mkdir } from 'node:fs/promises';
import type { Pod, Volume } from '../../../api/generated/core-v1-types.ts';
import type { EventRecorder } from '../../../kube/events/event-recorder.ts';
import type { ClaimVolumes } from './claim-volumes.ts';
import type { LaidOutVolume } from './container-mounts.ts';
import { ensureHostPath } from './host-path.ts';
import { podDirectory, type VolumePlugin, volumeDirectory } from './pod-directory.ts';
import { VolumeProblem } from './pod-volumes.ts';

export interface VolumePlacesOptions {
  /** What the node takes for `/`. */
  readonly root: string;
  readonly events: EventRecorder;
  /** Without it no pod with a claim starts. */
  readonly claims?: ClaimVolumes;
  /** Paths of this machine that hostPath volumes may name and see as they are. */
  readonly realPaths?: readonly string[];
  /** Keeps lab time still while files are worked on. */
  readonly hold?: (reason: string) => Disposable;
}

const WRITTEN = {
  configMap: 'configmap',
  secret: 'secret',
  downwardAPI: 'downward-api',
  projected: 'projected',
} as const;

/** Where the volumes of a node's pods are on this machine, whatever their kind (N26). */
export class VolumePlaces {
  readonly #options: VolumePlacesOptions;
  /** Volumes, by pod, of which it was said that their limit is not kept: bounded by the pods of the node. */
  readonly #unlimited = new Map<string, Set<string>>();

  constructor(options: VolumePlacesOptions) {
    this.#options = options;
  }

  /** Makes the place, unless the node writes its files. Rejects with a VolumeProblem. Idempotent. */
  async locate(pod: Pod, volume: Volume): Promise<LaidOutVolume> {
    const { root, realPaths = [], hold } = this.#options;
    const directory = podDirectory(root, pod.metadata.uid ?? '');
    const at = (plugin: VolumePlugin) => volumeDirectory(directory, plugin, volume.name);
    for (const kind of ['configMap', 'secret', 'downwardAPI', 'projected'] as const) {
      if (volume[kind] !== undefined) return { volume, source: at(WRITTEN[kind]), isReadOnly: true };
    }
    const { emptyDir, hostPath } = volume;
    if (emptyDir === undefined && hostPath === undefined) return await this.#locateClaim(pod, volume);
    using _hold = hold?.(`volumes of pod ${pod.metadata.name}`);
    if (hostPath !== undefined) {
      const { source, isReal } = await ensureHostPath({ root, realPaths }, hostPath);
      return { volume, source, isReadOnly: isReal };
    }
    await makeOpen(at('empty-dir'));
    this.#tellLimit(pod, volume);
    return { volume, source: at('empty-dir'), isReadOnly: false };
  }

  /** The pod is gone. */
  forget(uid: string): void {
    this.#unlimited.delete(uid);
  }

  async #locateClaim(pod: Pod, volume: Volume): Promise<LaidOutVolume> {
    const { persistentVolumeClaim: claim } = volume;
    if (claim === undefined) throw unsupported(volume);
    const { claims } = this.#options;
    if (claims === undefined) {
      throw new VolumeProblem('FailedMount', `claim "${claim.claimName}": this node has no storage for claims`);
    }
    return { volume, source: await claims.setUp(pod, volume), isReadOnly: claim.readOnly === true };
  }

  /** N30: said once, since nothing will ever enforce it. */
  #tellLimit(pod: Pod, { name, emptyDir }: Volume): void {
    if (emptyDir?.sizeLimit === undefined) return;
    const { uid = '' } = pod.metadata;
    const told = this.#unlimited.get(uid) ?? new Set();
    this.#unlimited.set(uid, told);
    if (told.has(name)) return;
    told.add(name);
    const note = `The lab does not enforce sizeLimit ${emptyDir.sizeLimit} of emptyDir volume "${name}"`;
    this.#options.events.normal(pod, 'NotEnforced', note);
  }
}

/** Makes a directory for whoever runs in the container, whatever the umask of the lab says. */
export async function makeOpen(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  await chmod(directory, 0o777);
}

function unsupported(volume: Volume): VolumeProblem {
  const [kind = 'of no kind'] = Object.keys(volume).filter((key) => key !== 'name');
  const kinds = 'configMap, secret, projected, downwardAPI, emptyDir, hostPath and persistentVolumeClaim';
  return new VolumeProblem('FailedMount', `the lab has no ${kind} volumes; it has ${kinds}`);
}

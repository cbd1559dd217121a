import { PersistentVolume, PersistentVolumeClaim } from '../../../api/generated/core-v1.ts';
import type { CSIPersistentVolumeSource, Pod, Volume } from '../../../api/generated/core-v1-types.ts';
import { messageOf } from '../../../base/errors.ts';
import type { CallOptions, LiveReader } from '../../../kube/client/kube-client.ts';
import { VolumeProblem } from '../volumes/pod-volumes.ts';
import type { CsiVolume } from './csi-paths.ts';

/** The volume behind a claim of a pod. */
export interface ClaimedVolume extends CsiVolume {
  readonly source: CSIPersistentVolumeSource;
  readonly accessModes: readonly string[];
  readonly mountOptions: readonly string[];
  /** The pod wants to read only. */
  readonly isReadOnly: boolean;
}

/** Finds it. Rejects with a VolumeProblem while the claim is not bound, and for volumes that are no driver's. */
export async function fetchClaimedVolume(
  live: LiveReader,
  pod: Pod,
  { name, persistentVolumeClaim }: Volume,
  call: CallOptions,
): Promise<ClaimedVolume> {
  const { namespace = 'default' } = pod.metadata;
  const { claimName = '', readOnly: isReadOnly = false } = persistentVolumeClaim ?? {};
  try {
    const claim = await live
      .get(PersistentVolumeClaim, { namespace, name: claimName }, call)
      .catch(failed('failed to fetch PVC from API server'));
    const pv = boundVolume(claim);
    const volume = await live
      .get(PersistentVolume, { name: pv }, call)
      .catch(failed('failed to fetch PV from API server'));
    return { ...volumeOf(volume, claim), isReadOnly };
  } catch (error) {
    const volumes = `unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]`;
    const why = `error processing PVC ${namespace}/${claimName}: ${messageOf(error)}`;
    throw new VolumeProblem('FailedMount', `Unable to attach or mount volumes: ${volumes}: ${why}`);
  }
}

const failed =
  (what: string) =>
  (cause: unknown): never => {
    throw new Error(`${what}: ${messageOf(cause)}`, { cause });
  };

function boundVolume({ spec, status }: PersistentVolumeClaim): string {
  const { volumeName = '' } = spec ?? {};
  if (status?.phase !== 'Bound' || volumeName === '') throw new Error('PVC is not bound');
  return volumeName;
}

/** Pure: throws a sentence for a volume that the node cannot serve. */
function volumeOf({ metadata: { name: pv }, spec }: PersistentVolume, claim: PersistentVolumeClaim) {
  const { claimRef, csi: source, volumeMode, accessModes = [], mountOptions = [] } = spec;
  if (claimRef?.uid !== claim.metadata.uid) {
    throw new Error(`PV ${pv} is bound to another claim: ${claimRef?.namespace}/${claimRef?.name}`);
  }
  if (source === undefined) throw new Error(`PV ${pv} is not of a CSI driver, and the lab has no other volumes`);
  const mode = volumeMode === 'Block' ? ('Block' as const) : ('Filesystem' as const);
  return { pv, driver: source.driver, handle: source.volumeHandle, mode, source, accessModes, mountOptions };
}

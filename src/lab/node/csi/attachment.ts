import type { Node, Pod } from '../../../api/generated/core-v1-types.ts';
import type { VolumeAttachment } from '../../../api/generated/storage-v1-types.ts';
import { VolumeProblem } from '../volumes/pod-volumes.ts';
import { attachmentName, type CsiVolume, uniqueVolumeName } from './csi-paths.ts';

export interface AttachmentFacts {
  readonly volume: CsiVolume;
  readonly pod: Pod;
  readonly nodeName: string;
  readonly attachment: VolumeAttachment | undefined;
  readonly node: Node | undefined;
}

/** Pure: why a volume cannot be used on its node yet, in the words of upstream; undefined when it is attached (N36). */
export function attachmentProblem(facts: AttachmentFacts): VolumeProblem | undefined {
  const { volume, attachment } = facts;
  const { attached = false, attachError } = attachment?.status ?? {};
  if (attached && attachment?.metadata.deletionTimestamp === undefined) return statusProblem(facts);
  if (attachError === undefined) {
    const why = waitingFor(facts, attachment);
    return new VolumeProblem('FailedMount', `MountVolume.WaitForAttach failed for volume "${volume.pv}" : ${why}`);
  }
  const why = attachError.message ?? 'the driver does not say why';
  return new VolumeProblem('FailedAttachVolume', `AttachVolume.Attach failed for volume "${volume.pv}" : ${why}`);
}

function waitingFor({ volume, nodeName }: AttachmentFacts, attachment: VolumeAttachment | undefined): string {
  const { handle } = volume;
  const name = attachmentName(volume, nodeName);
  if (attachment === undefined) {
    const missing = `volumeattachments.storage.k8s.io "${name}" not found`;
    return `volume ${handle} has GET error for volume attachment ${name}: ${missing}`;
  }
  return attachment.metadata.deletionTimestamp === undefined
    ? `volume ${handle} is not attached for volume attachment ${name}`
    : 'volume attachment is being deleted';
}

/** The node must have been told, too: until then the attachment may be taken back. */
function statusProblem({ volume, pod, node }: AttachmentFacts): VolumeProblem | undefined {
  const unique = uniqueVolumeName(volume);
  if (node?.status?.volumesAttached?.some(({ name }) => name === unique) === true) return undefined;
  const { name, uid = '' } = pod.metadata;
  const which = `volume "${volume.pv}" (UniqueName: "${unique}") pod "${name}" (UID: "${uid}")`;
  return new VolumeProblem('FailedMount', `Volume not attached according to node status for ${which}`);
}

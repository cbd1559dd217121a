import { createHash } from 'node:crypto';
import { KUBELET } from '../plugins/node-sockets.ts';
import { VolumeProblem } from '../volumes/pod-volumes.ts';

/** A volume of a CSI driver, as the node needs to know it to find it again. */
export interface CsiVolume {
  readonly driver: string;
  /** What the driver calls it. */
  readonly handle: string;
  /** Name of the PersistentVolume. */
  readonly pv: string;
  readonly mode: 'Filesystem' | 'Block';
}

const CSI = `${KUBELET}/plugins/kubernetes.io/csi`;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Where a driver stages a volume, as the node sees it (storage §8). Throws a VolumeProblem for a name that leads elsewhere. */
export const stagingPath = ({ driver, handle, pv, mode }: CsiVolume): string =>
  mode === 'Block'
    ? `${CSI}/volumeDevices/staging/${segment(pv)}`
    : `${CSI}/${segment(driver)}/${sha256(handle)}/globalmount`;

/** Where a driver publishes a volume for a pod, as the node sees it (storage §8). */
export const targetPath = ({ pv, mode }: CsiVolume, uid: string): string =>
  mode === 'Block'
    ? `${CSI}/volumeDevices/publish/${segment(pv)}/${segment(uid)}`
    : `${recordDirectory(uid, pv)}/mount`;

/** Where the node writes down that a pod has a volume. */
export const recordDirectory = (uid: string, pv: string): string => `${podCsiDirectory(uid)}/${segment(pv)}`;

export const podCsiDirectory = (uid: string): string =>
  `${KUBELET}/pods/${segment(uid)}/volumes/kubernetes.io~csi`;

/** How a volume is called in the status of its node. */
export const uniqueVolumeName = ({ driver, handle }: Pick<CsiVolume, 'driver' | 'handle'>): string =>
  `kubernetes.io/csi/${driver}^${handle}`;

/** The VolumeAttachment of a volume on a node. */
export const attachmentName = ({ driver, handle }: Pick<CsiVolume, 'driver' | 'handle'>, node: string): string =>
  `csi-${sha256(`${handle}${driver}${node}`)}`;

function segment(name: string): string {
  if (/^[A-Za-z0-9][-._A-Za-z0-9]*$/.test(name) && name.length <= 253) return name;
  throw new VolumeProblem('FailedMount', `"${name}" cannot name a directory of the node`);
}

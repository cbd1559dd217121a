import { join } from 'node:path';
import { userError } from '../../../base/errors.ts';

const PODS = 'var/lib/kubelet/pods';

/** Upstream's names of the volume kinds that have a directory. */
export type VolumePlugin = 'configmap' | 'secret' | 'downward-api' | 'projected' | 'empty-dir';

/** Where the directories of all pods of a node are. */
export const podsDirectory = (root: string): string => join(root, PODS);

/** Everything that one pod has on its node (N32). Throws when the uid could lead elsewhere. */
export const podDirectory = (root: string, uid: string): string => join(root, PODS, segment(uid));

export const volumeDirectory = (pod: string, plugin: VolumePlugin, name: string): string =>
  join(pod, 'volumes', `kubernetes.io~${plugin}`, segment(name));

/** For what a container has of its own: its mounts, its termination message. */
export const containerDirectory = (root: string, uid: string, container: string): string =>
  join(podDirectory(root, uid), 'containers', segment(container));

/** Copies of what containers mount by `subPath`: numbered like the mounts of the container. */
export const subPathDirectory = (pod: string, volume: string, container: string): string =>
  join(pod, 'volume-subpaths', segment(volume), segment(container));

/** Names come from manifests, and static pods are checked by nobody else. */
function segment(name: string): string {
  if (/^[A-Za-z0-9][-.A-Za-z0-9]*$/.test(name) && name.length <= 255) return name;
  throw userError('UnsafeName', `"${name}" cannot name a directory; use letters, digits, dashes and dots`);
}

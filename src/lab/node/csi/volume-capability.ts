import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { VolumeCapabilitySent } from '../../../rpc/csi/volume.ts';
import type { ClaimedVolume } from './claimed-volume.ts';
import type { NodeAbilities } from './driver-call.ts';

const MODES = {
  ReadWriteOnce: { plain: 'SINGLE_NODE_WRITER', exact: 'SINGLE_NODE_MULTI_WRITER' },
  ReadWriteOncePod: { plain: 'SINGLE_NODE_WRITER', exact: 'SINGLE_NODE_SINGLE_WRITER' },
  ReadOnlyMany: { plain: 'MULTI_NODE_READER_ONLY', exact: 'MULTI_NODE_READER_ONLY' },
  ReadWriteMany: { plain: 'MULTI_NODE_MULTI_WRITER', exact: 'MULTI_NODE_MULTI_WRITER' },
} as const;

type Mode = keyof typeof MODES;
const isMode = (mode: string): mode is Mode => Object.hasOwn(MODES, mode);

/** Pure: what a driver is asked to make of a volume. The first access mode of the PersistentVolume counts, as upstream. */
export function volumeCapability(
  { mode, source, accessModes, mountOptions }: ClaimedVolume,
  { spec }: Pod,
  { knowsSingleNodeModes, canSetGroup }: NodeAbilities,
): VolumeCapabilitySent {
  const [first = 'ReadWriteOnce'] = accessModes;
  const names = MODES[isMode(first) ? first : 'ReadWriteOnce'];
  const accessMode = { mode: knowsSingleNodeModes ? names.exact : names.plain };
  if (mode === 'Block') return { block: {}, accessMode };
  const group = spec.securityContext?.fsGroup;
  return {
    mount: {
      fsType: source.fsType ?? '',
      mountFlags: mountOptions,
      ...(canSetGroup && group !== undefined && { volumeMountGroup: String(group) }),
    },
    accessMode,
  };
}

/** Pure: what a driver is told of a pod when its CSIDriver asks for it. */
export const podContext = ({ metadata, spec }: Pod): Readonly<Record<string, string>> => ({
  'csi.storage.k8s.io/pod.name': metadata.name,
  'csi.storage.k8s.io/pod.namespace': metadata.namespace ?? '',
  'csi.storage.k8s.io/pod.uid': metadata.uid ?? '',
  'csi.storage.k8s.io/serviceAccount.name': spec.serviceAccountName ?? '',
  'csi.storage.k8s.io/ephemeral': 'false',
});

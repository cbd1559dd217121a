import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import type { Mount } from '../../process/mounts.ts';
import type { PodParts } from '../kubelet/pod-parts.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import type { DeviceManager } from './device-manager.ts';

/** How containers of a node start: what is asked before each start, and what they mount. */
export type StartParts = Pick<PodParts, 'resolveStart' | 'volumes'>;

/**
 * The same, with what containers get with their devices: variables and mounts that they do not define themselves. A pod
 * whose volumes are taken away gives its devices back.
 */
export function withDevices(parts: StartParts, devices: Pick<DeviceManager, 'allocate' | 'release'>): StartParts {
  /** Of the newest start of each container: bounded by the containers of the node's pods. */
  const mounts = new Map<string, ReadonlyMap<string, readonly Mount[]>>();
  const { volumes } = parts;
  return {
    resolveStart: async (pod, container) => {
      const settings = await parts.resolveStart(pod, container);
      const given = await devices.allocate(pod, container);
      const ofPod = new Map(mounts.get(uidOf(pod))).set(container.name, given.mounts);
      mounts.set(uidOf(pod), ofPod);
      return { ...settings, env: { ...given.env, ...settings.env } };
    },
    volumes: {
      setUp: (pod) => volumes.setUp(pod),
      mountsFor: async (...given: Parameters<PodVolumes['mountsFor']>) => {
        const own = await volumes.mountsFor(...given);
        return [...own, ...notIn(own, mountsOf(mounts, given[0], given[1]))];
      },
      tearDown: async (uid) => {
        await volumes.tearDown(uid);
        mounts.delete(uid);
        await devices.release(uid);
      },
      known: () => volumes.known(),
    },
  };
}

const uidOf = ({ metadata }: Pod): string => metadata.uid ?? '';

const mountsOf = (
  mounts: ReadonlyMap<string, ReadonlyMap<string, readonly Mount[]>>,
  pod: Pod,
  { name }: Container,
): readonly Mount[] => mounts.get(uidOf(pod))?.get(name) ?? [];

const notIn = (own: readonly Mount[], more: readonly Mount[]): readonly Mount[] =>
  more.filter(({ mountPath }) => !own.some((mount) => mount.mountPath === mountPath));

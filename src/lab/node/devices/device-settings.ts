import type { AllocatedContainer } from '../../../rpc/kubelet/device-plugin.ts';
import type { Mount } from '../../process/mounts.ts';
import { locatePath } from '../plugins/node-sockets.ts';
import { cleanPath } from '../volumes/node-root.ts';

/** What a container gets with its devices, besides what its pod says. */
export interface DeviceSettings {
  /** For variables that the container does not set itself. */
  readonly env: Readonly<Record<string, string>>;
  /** Files, directories and device nodes; those that the container mounts itself win. */
  readonly mounts: readonly Mount[];
  /** For the container runtime. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Names of CDI devices, for the container runtime. */
  readonly cdiDevices: readonly string[];
}

export const NO_DEVICES: DeviceSettings = { env: {}, mounts: [], annotations: {}, cdiDevices: [] };

/** The answers of several plugins as one: of two that say different things the first one counts (D15). */
export async function deviceSettings(
  root: string,
  responses: readonly AllocatedContainer[],
): Promise<DeviceSettings> {
  const wanted = firsts([
    ...responses.flatMap(({ mounts }) =>
      mounts.map(
        ({ containerPath, hostPath, readOnly }) => [containerPath, { hostPath, isReadOnly: readOnly }] as const,
      ),
    ),
    ...responses.flatMap(({ devices }) =>
      devices.map(
        ({ containerPath, hostPath, permissions }) =>
          [containerPath, { hostPath, isReadOnly: !permissions.includes('w') }] as const,
      ),
    ),
  ]);
  return {
    env: Object.fromEntries(firsts(responses.flatMap(({ envs }) => Object.entries(envs)))),
    mounts: await Promise.all(
      [...wanted].map(async ([containerPath, { hostPath, isReadOnly }]) => ({
        mountPath: cleanPath(containerPath),
        source: await locatePath(root, hostPath),
        isReadOnly,
      })),
    ),
    annotations: Object.fromEntries(firsts(responses.flatMap(({ annotations }) => Object.entries(annotations)))),
    cdiDevices: [...new Set(responses.flatMap(({ cdiDevices }) => cdiDevices.map(({ name }) => name)))],
  };
}

function firsts<T>(entries: readonly (readonly [string, T])[]): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const [key, value] of entries) if (!found.has(key)) found.set(key, value);
  return found;
}

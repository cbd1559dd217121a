import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import { PodResourcesLister } from '../../../rpc/kubelet/pod-resources.ts';
import { served, serveRpc } from '../../../rpc/serve-rpc.ts';
import type { DeviceManager } from '../devices/device-manager.ts';
import { onMachine, POD_RESOURCES } from '../plugins/node-sockets.ts';
import { containerDevices, podResources } from './pod-resources.ts';

export interface PodResourcesOptions {
  /** What the node takes for `/`. */
  readonly root: string;
  /** Real time. */
  readonly real: Clock;
  /** Those of the node that have not ended. */
  readonly pods: () => readonly Pod[];
  readonly devices: Pick<DeviceManager, 'assigned' | 'healthy'>;
}

/** Serves PodResources v1: which container has which devices, and which devices the node has (N35). */
export async function startPodResources({
  root,
  real,
  pods,
  devices,
}: PodResourcesOptions): Promise<AsyncDisposable> {
  const directory = onMachine(root, POD_RESOURCES);
  await mkdir(directory, { recursive: true, mode: 0o750 });
  const resourcesOf = (pod: Pod) =>
    podResources(pod, (container) => devices.assigned(pod.metadata.uid ?? '', container));
  return await serveRpc({
    address: { socket: join(directory, 'kubelet.sock') },
    clock: real,
    services: [
      served(PodResourcesLister, {
        list: () => ({ podResources: pods().map(resourcesOf) }),
        getAllocatableResources: () => ({ devices: containerDevices(devices.healthy()) }),
        get: ({ podName, podNamespace }) => {
          const found = pods().find(
            ({ metadata: { name, namespace } }) => name === podName && namespace === podNamespace,
          );
          if (found === undefined) throw new Error(`pod ${podName} in namespace ${podNamespace} not found`);
          return { podResources: resourcesOf(found) };
        },
      }),
    ],
  });
}

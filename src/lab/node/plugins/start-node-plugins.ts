import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import { userError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { Controller } from '../../../kube/controller/controller.ts';
import { csiNode } from '../csi/csi-node-controller.ts';
import { startCsiVolumes } from '../csi/csi-volumes.ts';
import { DriverStore } from '../csi/driver-store.ts';
import { type DeviceManager, startDeviceManager } from '../devices/device-manager.ts';
import { startPodResources } from '../pod-resources/start-pod-resources.ts';
import type { FactsAddition } from '../registration/node-facts.ts';
import type { ClaimVolumes } from '../volumes/claim-volumes.ts';
import { nodeSocketProblem } from './node-sockets.ts';
import { startPluginWatcher } from './plugin-watcher.ts';

export interface NodePluginsOptions {
  /** What the node takes for `/`; a real path, without links. */
  readonly root: string;
  /** The name of the node. */
  readonly node: string;
  /** As the node. */
  readonly client: Pick<KubeClient, 'live' | 'createToken'>;
  readonly clock: Clock;
  /** Real time: plugins are programs. */
  readonly real: Clock;
  readonly log: Log;
  /** Keeps lab time still while plugins are asked. */
  readonly hold?: (reason: string) => Disposable;
  /** Pods of the node that have not ended; undefined while they are not known yet. */
  readonly pods: () => readonly Pod[] | undefined;
  /** Directories of this machine outside of the root to which published volumes may lead, such as those of a cloud. */
  readonly realPaths?: readonly string[];
}

/** What programs beside the kubelet give to a node: devices and volumes (N33–N36). */
export interface NodePlugins extends AsyncDisposable {
  readonly devices: DeviceManager;
  readonly claims: ClaimVolumes;
  /** What they add to the status of the node. */
  facts(): readonly FactsAddition[];
  /** To be run as the node. */
  readonly controllers: readonly Controller[];
}

/** Starts everything that plugins of a node talk to. Rejects with a user error when its sockets would not fit (N34). */
export async function startNodePlugins(options: NodePluginsOptions): Promise<NodePlugins> {
  const { root, node, real, log, pods } = options;
  const problem = nodeSocketProblem(root);
  if (problem !== undefined) throw userError('NodeRootTooLong', problem);
  await using started = new AsyncDisposableStack();
  const activePods = () => {
    const known = pods();
    return known === undefined ? undefined : new Set(known.map(({ metadata }) => metadata.uid ?? ''));
  };
  const drivers = new DriverStore({ real, log });
  const claims = await startCsiVolumes({ ...options, drivers });
  const devices = started.use(await startDeviceManager({ ...options, activePods }));
  started.use(await startPodResources({ root, real, devices, pods: () => pods() ?? [] }));
  const handlers = { CSIPlugin: drivers, DevicePlugin: devices.plugins };
  started.use(await startPluginWatcher({ ...options, handlers }));
  const running = started.move();
  return {
    devices,
    claims,
    facts: () => [devices.facts(), claims.facts()],
    controllers: [csiNode({ node, drivers })],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

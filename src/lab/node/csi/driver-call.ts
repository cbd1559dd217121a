import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { CsiNode, type NodeInfo } from '../../../rpc/csi/node.ts';
import type { VolumeCapabilitySent } from '../../../rpc/csi/volume.ts';
import { dialRpc } from '../../../rpc/dial-rpc.ts';
import type { RpcClient } from '../../../rpc/rpc-service.ts';
import { shownMessage } from '../../../rpc/shown-message.ts';

/** Upstream's: how long a driver may take for anything. */
const CALL_MS = 2 * 60_000;
const LIMITS = { timeoutMs: CALL_MS };

export interface DriverCallOptions {
  /** Where the driver serves, on this machine. */
  readonly endpoint: string;
  /** Real time. */
  readonly real: Clock;
  readonly log: Log;
}

/** What a driver can do on a node besides publishing. */
export interface NodeAbilities {
  readonly canStage: boolean;
  /** Knows the access modes with one pod and with many. */
  readonly knowsSingleNodeModes: boolean;
  /** Gives files to a group itself. */
  readonly canSetGroup: boolean;
}

export interface VolumeRequest {
  readonly volumeId: string;
  readonly publishContext: Readonly<Record<string, string>>;
  readonly volumeContext: Readonly<Record<string, string>>;
  readonly volumeCapability: VolumeCapabilitySent;
  readonly secrets: Readonly<Record<string, string>>;
}

/** A driver on the node, called over a connection of its own. Everything rejects with an RpcError. */
export class DriverCall implements Disposable {
  readonly #connection;
  readonly #node: RpcClient<typeof CsiNode>;
  readonly #log: Log;

  constructor({ endpoint, real, log }: DriverCallOptions) {
    this.#connection = dialRpc({ address: { socket: endpoint }, clock: real });
    this.#node = this.#connection.client(CsiNode);
    this.#log = log;
  }

  info(signal: AbortSignal): Promise<NodeInfo> {
    return this.#node.nodeGetInfo({}, { ...LIMITS, signal });
  }

  async abilities(): Promise<NodeAbilities> {
    const { capabilities } = await this.#node.nodeGetCapabilities({}, LIMITS);
    const names = new Set(capabilities.map(({ rpc }) => rpc?.type));
    return {
      canStage: names.has('STAGE_UNSTAGE_VOLUME'),
      knowsSingleNodeModes: names.has('SINGLE_NODE_MULTI_WRITER'),
      canSetGroup: names.has('VOLUME_MOUNT_GROUP'),
    };
  }

  async stage(request: VolumeRequest & { readonly stagingTargetPath: string }): Promise<void> {
    this.#tell('NodeStageVolume', shownMessage(CsiNode.methods.NodeStageVolume.request, { ...request }));
    await this.#node.nodeStageVolume(request, LIMITS);
  }

  async publish(
    request: VolumeRequest & {
      readonly stagingTargetPath: string;
      readonly targetPath: string;
      readonly readonly: boolean;
    },
  ): Promise<void> {
    this.#tell('NodePublishVolume', shownMessage(CsiNode.methods.NodePublishVolume.request, { ...request }));
    await this.#node.nodePublishVolume(request, LIMITS);
  }

  async unpublish(request: { readonly volumeId: string; readonly targetPath: string }): Promise<void> {
    this.#tell('NodeUnpublishVolume', request);
    await this.#node.nodeUnpublishVolume(request, LIMITS);
  }

  async unstage(request: { readonly volumeId: string; readonly stagingTargetPath: string }): Promise<void> {
    this.#tell('NodeUnstageVolume', request);
    await this.#node.nodeUnstageVolume(request, LIMITS);
  }

  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }

  #tell(method: string, request: object): void {
    this.#log.debug({ method, request }, 'Calling CSI driver');
  }
}

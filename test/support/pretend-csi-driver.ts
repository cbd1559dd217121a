import { lstat, mkdir, rmdir, symlink, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SystemClock } from '../../src/base/clock.ts';
import { CsiIdentity } from '../../src/rpc/csi/identity.ts';
import { CsiNode } from '../../src/rpc/csi/node.ts';
import { PluginRegistration } from '../../src/rpc/kubelet/plugin-registration.ts';
import { RpcError } from '../../src/rpc/rpc-error.ts';
import type { Handlers } from '../../src/rpc/rpc-service.ts';
import { served, serveRpc } from '../../src/rpc/serve-rpc.ts';

type Ability = 'STAGE_UNSTAGE_VOLUME' | 'SINGLE_NODE_MULTI_WRITER' | 'VOLUME_MOUNT_GROUP';

export interface PretendDriverOptions {
  readonly name?: string;
  readonly abilities?: readonly Ability[];
  readonly topology?: Readonly<Record<string, string>>;
  readonly maxVolumes?: bigint;
  readonly nodeId?: string;
  readonly versions?: readonly string[];
  /** How it publishes: as a directory of its own, or as a link to one (C21). */
  readonly publishes?: 'directory' | 'link';
  /** The caller does not hear the answer to this call: it dies before it is done, or after. */
  readonly loses?: (method: string) => 'before' | 'after' | undefined;
  readonly handlers?: Handlers<typeof CsiNode>;
}

const clock = new SystemClock();
const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );

/**
 * A CSI driver on real sockets of a node, as strict as the specification: nothing is published that is not staged, and
 * nothing is unstaged that is published. It sees the paths of the node below its root.
 */
export async function pretendCsiDriver(root: string, options: PretendDriverOptions = {}) {
  const {
    name = 'disk.csi.acme.example',
    abilities = ['STAGE_UNSTAGE_VOLUME'],
    publishes = 'directory',
  } = options;
  const canStage = abilities.includes('STAGE_UNSTAGE_VOLUME');
  const staged = new Map<string, string>();
  const published = new Map<string, string>();
  const calls: string[] = [];
  const requests: Record<string, object> = {};
  const at = (path: string) => join(root, path);
  const doing = async (method: string, path: string, request: object, act: () => Promise<void>) => {
    calls.push(`${method} ${path}`);
    requests[method] = request;
    const lost = options.loses?.(method);
    if (lost !== 'before') await act();
    if (lost !== undefined) throw new RpcError('UNAVAILABLE', 'nobody heard it');
    return {};
  };
  const handlers: Handlers<typeof CsiNode> = {
    nodeGetInfo: () => ({
      nodeId: options.nodeId ?? 'i-1',
      maxVolumesPerNode: options.maxVolumes ?? 0n,
      ...(options.topology !== undefined && { accessibleTopology: { segments: options.topology } }),
    }),
    nodeGetCapabilities: () => ({ capabilities: abilities.map((type) => ({ rpc: { type } })) }),
    nodeStageVolume: (request) => {
      const { volumeId, stagingTargetPath } = request;
      return doing('stage', stagingTargetPath, request, async () => {
        if (!(await exists(at(stagingTargetPath)))) throw new RpcError('INTERNAL', 'no staging directory');
        staged.set(volumeId, stagingTargetPath);
      });
    },
    nodePublishVolume: (request) => {
      const { volumeId, stagingTargetPath, targetPath } = request;
      return doing('publish', targetPath, request, async () => {
        const isStaged = !canStage || staged.get(volumeId) === stagingTargetPath;
        if (!isStaged) throw new RpcError('FAILED_PRECONDITION', 'not staged');
        if (!(await exists(at(dirname(targetPath))))) throw new RpcError('INTERNAL', 'no parent of the target');
        if (!(await exists(at(targetPath)))) await place(targetPath, volumeId);
        published.set(targetPath, volumeId);
      });
    },
    nodeUnpublishVolume: (request) => {
      const { targetPath } = request;
      return doing('unpublish', targetPath, request, async () => {
        published.delete(targetPath);
        if (!(await exists(at(targetPath)))) return;
        const isLink = (await lstat(at(targetPath))).isSymbolicLink();
        await (isLink ? unlink(at(targetPath)) : rmdir(at(targetPath)));
      });
    },
    nodeUnstageVolume: (request) => {
      const { volumeId, stagingTargetPath } = request;
      return doing('unstage', stagingTargetPath, request, async () => {
        if ([...published.values()].includes(volumeId))
          throw new RpcError('FAILED_PRECONDITION', 'still published');
        staged.delete(volumeId);
      });
    },
    ...options.handlers,
  };
  const place = async (targetPath: string, volumeId: string) => {
    if (publishes === 'directory') {
      await mkdir(at(targetPath));
      return;
    }
    const data = `/var/lib/pretend/${volumeId}`;
    await mkdir(at(data), { recursive: true });
    await symlink(data, at(targetPath));
  };
  const endpoint = `/var/lib/kubelet/plugins/${name}/csi.sock`;
  await mkdir(dirname(at(endpoint)), { recursive: true });
  await mkdir(at('/var/lib/kubelet/plugins_registry'), { recursive: true });
  const stack = new AsyncDisposableStack();
  const identity: Handlers<typeof CsiIdentity> = { getPluginInfo: () => ({ name, vendorVersion: '1' }) };
  const serve = async (socket: string, services: Parameters<typeof serveRpc>[0]['services']) =>
    stack.use(await serveRpc({ address: { socket: at(socket) }, services, clock, graceMs: 50 }));
  await serve(endpoint, [served(CsiNode, handlers), served(CsiIdentity, identity)]);
  const info = { type: 'CSIPlugin', name, endpoint, supportedVersions: options.versions ?? ['1.0.0'] };
  return {
    name,
    endpoint: at(endpoint),
    calls,
    requests,
    staged,
    published,
    /** As the registrar beside a driver does it. */
    announce: async () =>
      void (await serve(`/var/lib/kubelet/plugins_registry/${name}-reg.sock`, [
        served(PluginRegistration, { getInfo: () => info, notifyRegistrationStatus: () => ({}) }),
      ])),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

import { mkdir, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { DEVICE_PLUGIN_VERSION, DeviceRegistration } from '../../../rpc/kubelet/device-plugin.ts';
import { type RpcServer, served, serveRpc } from '../../../rpc/serve-rpc.ts';
import { DEVICE_PLUGINS, locatePath, onMachine } from '../plugins/node-sockets.ts';
import type { PluginHandler } from '../plugins/plugin-handler.ts';
import { whenMissing } from '../volumes/missing-file.ts';
import { isExtendedResource } from './device.ts';

/** Resolves when the plugin at a socket is connected; rejects with a sentence. */
export type ConnectPlugin = (resource: string, socket: string, signal: AbortSignal) => Promise<void>;

/** Removes the sockets of plugins, and nothing else: that is how they notice that they must register again (D2). */
export async function clearDeviceDirectory(root: string): Promise<string> {
  const directory = onMachine(root, DEVICE_PLUGINS);
  await mkdir(directory, { recursive: true, mode: 0o750 });
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const found = await stat(path).catch(whenMissing);
    if (found?.isSocket() === true) await unlink(path).catch(whenMissing);
  }
  return directory;
}

/** Serves the registration of plugins at `kubelet.sock`. */
export const serveRegistration = (root: string, real: Clock, connect: ConnectPlugin): Promise<RpcServer> =>
  serveRpc({
    address: { socket: join(onMachine(root, DEVICE_PLUGINS), 'kubelet.sock') },
    clock: real,
    services: [
      served(DeviceRegistration, {
        // Options that come with it are not looked at: the plugin is asked for them (D1).
        register: async ({ version, resourceName, endpoint }, { signal }) => {
          const problem = versionProblem([version]) ?? nameProblem(resourceName);
          if (problem !== undefined) throw new Error(problem);
          await connect(resourceName, await locatePath(root, `${DEVICE_PLUGINS}/${endpoint}`), signal);
          return {};
        },
      }),
    ],
  });

/** The other way to register: a socket in the registry of the node. */
export const deviceHandler = (
  connect: ConnectPlugin,
  disconnect: (resource: string, socket: string) => void,
): PluginHandler => ({
  problem: ({ name, versions }) => versionProblem(versions) ?? nameProblem(name),
  register: ({ name, endpoint }, signal) => connect(name, endpoint, signal),
  deregister: async ({ name, endpoint }) => disconnect(name, endpoint),
});

const versionProblem = (versions: readonly string[]): string | undefined =>
  versions.includes(DEVICE_PLUGIN_VERSION)
    ? undefined
    : `requested API version ${versions.map((one) => `"${one}"`).join(', ')} is not supported by kubelet. ` +
      `Supported version is "${DEVICE_PLUGIN_VERSION}"`;

const nameProblem = (name: string): string | undefined =>
  isExtendedResource(name)
    ? undefined
    : `the ResourceName "${name}" is invalid: an extended resource is called like vendor.example/device, ` +
      'without kubernetes.io/ and without requests. in front';

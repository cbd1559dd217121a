import { join } from 'node:path';
import { LONGEST_SOCKET_PATH } from '../../../rpc/rpc-address.ts';
import { cleanPath, isInside, pathInRoot } from '../volumes/node-root.ts';

/** Where the kubelet keeps everything, as the node sees it. */
export const KUBELET = '/var/lib/kubelet';
/** Plugins put the sockets here by which they register. */
export const PLUGIN_REGISTRY = `${KUBELET}/plugins_registry`;
/** Device plugins put their sockets here, beside the kubelet's own. */
export const DEVICE_PLUGINS = `${KUBELET}/device-plugins`;
export const POD_RESOURCES = `${KUBELET}/pod-resources`;

/** Room for `disk.csi.acme.example-reg.sock` and the like. */
const LONGEST_NAME = 32;

/**
 * Pure: why the sockets of a node with this root would not fit where the kernel keeps their paths (N34); undefined when
 * they do. `longestName` is the length of the longest name of a socket that plugins of the node will use.
 */
export function nodeSocketProblem(root: string, longestName = LONGEST_NAME): string | undefined {
  const [has, rest] = [Buffer.byteLength(root), PLUGIN_REGISTRY.length + 1 + longestName];
  if (has + rest <= LONGEST_SOCKET_PATH) return undefined;
  return (
    `the node root ${root} is ${has} bytes long, and ${PLUGIN_REGISTRY}/ with a socket name of ${longestName} bytes ` +
    `adds ${rest}, but the path of a Unix socket has at most ${LONGEST_SOCKET_PATH}: ` +
    `choose a data directory that is at least ${has + rest - LONGEST_SOCKET_PATH} bytes shorter`
  );
}

/**
 * Where a path of the node is on this machine. A plugin whose paths were rewritten (P8) names those of this machine:
 * they stay what they are. Links lead where they would lead on the node.
 */
export function locatePath(root: string, path: string): Promise<string> {
  const clean = cleanPath(path);
  return pathInRoot(root, isInside(root, clean) ? clean.slice(root.length) : clean);
}

/** A path of the node on this machine, links not looked at. */
export const onMachine = (root: string, path: string): string => join(root, path);

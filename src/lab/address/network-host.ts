import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { endianness } from 'node:os';
import { promisify } from 'node:util';
import type { Endpoint } from './address-plan.ts';
import { errorCode, listening } from './listening.ts';
import { listenerNames, tcpListeners } from './tcp-listeners.ts';

/** What the address plan asks of this machine. */
export interface NetworkHost {
  /** Tries to listen there; what it failed with, such as EACCES. */
  bindError(at: Endpoint): Promise<string | undefined>;
  /** Who listens on these ports, in words; empty where the machine does not tell. */
  listeners(ports: readonly number[]): Promise<readonly string[]>;
  /** Runs `ip`; rejects with what it says. */
  ip(args: readonly string[]): Promise<void>;
}

const IP_TIMEOUT_MS = 5000;

/** The machine that the lab runs on. */
export const thisHost: NetworkHost = {
  async bindError(at) {
    const server = createServer((socket) => socket.destroy());
    try {
      await listening(server, at);
      await new Promise((resolve) => server.close(resolve));
      return undefined;
    } catch (error) {
      return errorCode(error) ?? 'UNKNOWN';
    }
  },

  async listeners(ports) {
    const table = await readFile('/proc/net/tcp', 'utf8').catch(() => '');
    const found = tcpListeners(table, endianness()).filter(({ port }) => ports.includes(port));
    return listenerNames(found, await processesBySocket(new Set(found.map(({ inode }) => inode))));
  },

  async ip(args) {
    await promisify(execFile)('ip', args, { timeout: IP_TIMEOUT_MS });
  },
};

/** Processes of others cannot be looked into: they are missing. */
async function processesBySocket(inodes: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  if (inodes.size === 0) return found;
  for (const pid of (await readdir('/proc').catch(() => [])).map(Number).filter(Number.isInteger)) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const link = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
      const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
      if (inode !== undefined && inodes.has(inode)) found.set(inode, pid);
    }
  }
  return found;
}

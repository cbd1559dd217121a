import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { CommandError } from './failures.ts';

/** Where the page is served unless the user says otherwise. */
export const DASHBOARD_PORT = 7440;

const LOOPBACK = '127.0.0.1';

/** Whether we could listen on the port on the loopback address right now; 0 (any) is always free. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await listenProblem(port)) === undefined;
}

/** Throws when a port that the user asked for cannot be had (reliability D14, experience X27). */
export async function requirePort(port: number): Promise<void> {
  const problem = await listenProblem(port);
  if (problem === undefined) return;
  throw new CommandError('SW1101', 3, portMessage(port, problem, listenerOf(port)));
}

/** The sentence for an error code of `listen`; `pid` = who holds the port, if it can be known. */
export function portMessage(port: number, problem: string, pid: number | undefined): string {
  const way = 'Choose another with --port, or 0 for any free port';
  if (problem !== 'EADDRINUSE') return `port ${port} cannot be used here (${problem}). ${way}`;
  const who = pid === undefined ? '' : ` (process ${pid})`;
  return `port ${port} is in use by another program${who}. ${way}`;
}

/** The error code of an attempt to listen, or undefined when it worked. */
function listenProblem(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** The process that listens on a TCP port. Linux tells it in /proc, for our own processes or for root. */
function listenerOf(port: number): number | undefined {
  try {
    const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map(tableText).join('\n');
    const inodes = listeningInodes(tables, port);
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .find((pid) => holdsSocket(pid, inodes));
  } catch {
    return undefined;
  }
}

/** Empty where the kernel has no such table, as without IPv6. */
const tableText = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Columns of /proc/net/tcp: number, local address, remote address, state (0A = listening), …, inode in the tenth. */
export function listeningInodes(table: string, port: number): ReadonlySet<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/));
  const matching = rows.filter(([, local, , state]) => local?.endsWith(suffix) === true && state === '0A');
  return new Set(matching.flatMap((columns) => columns[9] ?? []));
}

function holdsSocket(pid: number, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) =>
      inodes.has(/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? ''),
    );
  } catch {
    // It ended meanwhile, or belongs to somebody else.
    return false;
  }
}

import { createServer } from 'node:net';
import { messageOf, terminalError } from '../../base/errors.ts';
import type { Endpoint, NetworkMode } from './address-plan.ts';
import { FIRST_OCTET, LAST_OCTET } from './address-scheme.ts';
import { errorCode, listening } from './listening.ts';
import type { NetworkHost } from './network-host.ts';

const LOCK_PORT = 49_151;

/** Where there is one address only, the octet is in the port; below the ports that macOS gives to connections. */
const FIRST_SHARED_LOCK_PORT = 48_900;

/** An octet that nobody else on this machine has until this is disposed, or the process is gone (X3). */
export interface OctetLock extends AsyncDisposable {
  readonly octet: number;
}

/** All octets, in a row that begins anywhere, so that labs that start together do not all try the same ones. */
export function octetOrder(random: number, preferred?: number): readonly number[] {
  const count = LAST_OCTET - FIRST_OCTET + 1;
  const start = Math.floor(random * count);
  const all = Array.from({ length: count }, (_, index) => FIRST_OCTET + ((start + index) % count));
  return preferred !== undefined && all.includes(preferred)
    ? [preferred, ...all.filter((octet) => octet !== preferred)]
    : all;
}

/** Where the lock of an octet is. */
export const lockPlace = (mode: NetworkMode, octet: number): Endpoint =>
  mode === 'ports'
    ? { host: '127.0.0.1', port: FIRST_SHARED_LOCK_PORT + octet }
    : { host: `127.${octet}.0.1`, port: LOCK_PORT };

/** The first octet that is free. Fails with who has them when none is. */
export async function lockOctet(
  octets: readonly number[],
  mode: NetworkMode,
  host: Pick<NetworkHost, 'listeners'>,
): Promise<OctetLock> {
  for (const octet of octets) {
    const lock = await tryLock(octet, mode);
    if (lock !== undefined) return lock;
  }
  const places = octets.map((octet) => lockPlace(mode, octet));
  const who = await host.listeners(places.map(({ port }) => port));
  const [only] = octets;
  const what = octets.length === 1 ? `lab network 10.${only}.0.0/16 is` : `all ${octets.length} lab networks are`;
  const text = `${what} in use: ${who.length === 0 ? 'nobody can tell by whom' : who.join(', ')}`;
  throw terminalError('NetworksInUse', `${text}; end a lab that you do not need`);
}

async function tryLock(octet: number, mode: NetworkMode): Promise<OctetLock | undefined> {
  const place = lockPlace(mode, octet);
  const server = createServer((socket) => socket.destroy());
  try {
    await listening(server, place);
  } catch (error) {
    if (errorCode(error) === 'EADDRINUSE') return undefined;
    const text = `network mode ${mode} does not work here: cannot listen on ${place.host}:${place.port}`;
    throw terminalError('NetworkUnavailable', `${text} (${messageOf(error)}); use network mode ports`, {
      cause: error,
    });
  }
  // The lock alone is no reason for a process to live.
  server.unref();
  return {
    octet,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

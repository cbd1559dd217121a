import { messageOf, terminalError } from '../../base/errors.ts';
import type { NetworkHost } from './network-host.ts';

/** Makes `10.L.0.0/16` lead to this machine until disposed (X9). Needs the right to change routes. */
export async function addLocalRoute(host: Pick<NetworkHost, 'ip'>, octet: number): Promise<AsyncDisposable> {
  const route = ['local', `10.${octet}.0.0/16`, 'dev', 'lo'];
  try {
    // Not `add`: a lab that was killed may have left its route.
    await host.ip(['route', 'replace', ...route]);
  } catch (error) {
    const text = `network mode anyip needs the right to run "ip route replace ${route.join(' ')}"`;
    const told = messageOf(error).trim().split('\n').at(-1);
    throw terminalError(
      'NetworkUnavailable',
      `${text}, which said: ${told}; run the lab as root, or without anyip`,
      {
        cause: error,
      },
    );
  }
  return {
    // The octet is locked: nobody else has put this route there.
    [Symbol.asyncDispose]: () => host.ip(['route', 'del', ...route]),
  };
}

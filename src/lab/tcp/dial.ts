import { connect, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { retryError } from '../../base/errors.ts';
import type { Endpoint } from '../address/address-plan.ts';

export interface DialOptions {
  /** Real time: the other side knows no other (T6). */
  readonly real: Clock;
  readonly timeoutMs: number;
  /** The address that the other side sees. */
  readonly localAddress?: string;
  readonly signal?: AbortSignal;
}

/**
 * A connection for `splice`, of which nothing is read yet. Rejects with what the kernel says, after `timeoutMs` with a
 * retryError `ConnectTimeout`, and with the reason of the signal. The host must be an address: names are not looked up.
 */
export function dial(to: Endpoint, { real, timeoutMs, localAddress, signal }: DialOptions): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  if (signal?.aborted === true) {
    reject(signal.reason);
    return promise;
  }
  const options = { ...to, allowHalfOpen: true, noDelay: true, lookup: refuseNames };
  const socket = connect({ ...options, ...(localAddress !== undefined && { localAddress }) });
  const giveUp = (reason: unknown) => {
    reject(reason);
    socket.destroy();
  };
  const late = () =>
    giveUp(retryError('ConnectTimeout', `${to.host}:${to.port} did not answer within ${timeoutMs} ms`));
  const timer = real.timer(timeoutMs, late);
  const onAbort = () => giveUp(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  // Stays: whoever takes the connection may look away for a moment.
  socket.on('error', reject);
  socket.once('connect', () => resolve(socket));
  return promise.finally(() => {
    timer[Symbol.dispose]();
    signal?.removeEventListener('abort', onAbort);
  });
}

function refuseNames(hostname: string, _options: unknown, done: (error: Error, address: string) => void): void {
  done(new Error(`${JSON.stringify(hostname)} is no address: connections of a lab look up no names`), '');
}

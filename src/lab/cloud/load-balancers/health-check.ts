import { request } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { withDeadline } from '../../../kube/deadline.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import { dial } from '../../tcp/dial.ts';
import type { HealthCheckConfig } from './balancer-config.ts';

export interface HealthCheckOptions {
  readonly check: Pick<HealthCheckConfig, 'protocol' | 'path' | 'timeoutSeconds'>;
  /** On this machine. */
  readonly at: Endpoint;
  /** As people know it, for the program that is asked. */
  readonly shown: Endpoint;
  /** The address of the balancer, where addresses can be chosen. */
  readonly localAddress?: string;
  /** Sent first (C17). */
  readonly header?: Buffer;
  readonly real: Clock;
  readonly signal: AbortSignal;
}

/** Why a target does not work, in words; undefined when it does. Never rejects. */
export async function healthProblem(options: HealthCheckOptions): Promise<string | undefined> {
  const { check, real, signal } = options;
  const timeoutMs = check.timeoutSeconds * 1000;
  const onTimeout = () => new Error(`no answer within ${check.timeoutSeconds} s`);
  try {
    return await withDeadline({ clock: real, timeoutMs, signal, onTimeout }, (deadline) =>
      probe(options, deadline),
    );
  } catch (error) {
    return messageOf(error);
  }
}

async function probe(options: HealthCheckOptions, signal: AbortSignal): Promise<string | undefined> {
  const { check, at, localAddress, header, real } = options;
  const timeoutMs = check.timeoutSeconds * 1000;
  const socket = await dial(at, { real, timeoutMs, signal, ...(localAddress !== undefined && { localAddress }) });
  const onAbort = () => socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (header !== undefined) socket.write(header);
    if (check.protocol === 'tcp') {
      // In order, with the header: a reset could overtake it.
      socket.end();
      return undefined;
    }
    return statusProblem(await statusOf(socket, options, signal));
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroySoon();
  }
}

const statusProblem = (status: number): string | undefined =>
  status >= 200 && status < 400 ? undefined : `answered with status ${status}`;

/** Who the other side is does not matter to a health check: certificates are not verified. */
function statusOf(socket: Socket, { check, shown }: HealthCheckOptions, signal: AbortSignal): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const stream = check.protocol === 'https' ? connectTls({ socket, rejectUnauthorized: false }) : socket;
  stream.on('error', reject);
  const asked = request({
    path: check.path,
    headers: { host: `${shown.host}:${shown.port}`, 'user-agent': 'lab-load-balancer', connection: 'close' },
    createConnection: () => stream,
    signal,
  });
  asked.on('error', reject);
  asked.once('response', (response) => {
    // Only the status counts.
    response.destroy();
    resolve(response.statusCode ?? 0);
  });
  asked.end();
  return promise;
}

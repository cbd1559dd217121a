import { connect } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import { type Dial, socketFailure } from './probe-network.ts';
import type { ProbeOutcome } from './probe-track.ts';

export interface CheckLimits {
  /** The time outside: a program that hangs does so in real time (N23). */
  readonly real: Pick<Clock, 'timer'>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Whether a connection can be opened (N21); `shown` is where it goes in the eyes of the cluster. Never rejects. */
export function tcpCheck(
  dial: Dial,
  shown: Endpoint,
  { real, timeoutMs, signal }: CheckLimits,
): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const socket = connect({ ...dial, signal });
    const timer = real.timer(timeoutMs, () =>
      socket.destroy(Object.assign(new Error('i/o timeout'), { code: 'PROBE_TIMEOUT' })),
    );
    const end = (outcome: ProbeOutcome) => {
      timer[Symbol.dispose]();
      socket.destroy();
      resolve(outcome);
    };
    socket.once('connect', () => end({ result: 'success', message: '' }));
    socket.on('error', (error) => end({ result: 'failure', message: socketFailure(error, shown) }));
  });
}

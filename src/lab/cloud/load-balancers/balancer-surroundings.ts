import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { AddressPlan } from '../../address/address-plan.ts';

/** What balancers stand in. */
export interface BalancerSurroundings {
  readonly network: Pick<AddressPlan, 'mode' | 'listen' | 'target' | 'toWire' | 'toApi'>;
  /** Where a target is now: an address of the lab; undefined when it is nowhere. */
  readonly addressOf: (target: string) => string | undefined;
  /** Lab time: health checks, idle connections, draining. */
  readonly clock: Clock;
  /** What hangs, hangs in real time (T6). */
  readonly real: Clock;
  /** Lab time must not jump until it is disposed (T3). */
  readonly hold: (reason: string) => Disposable;
  readonly log: Log;
}

/** Targets see the address of the balancer; in mode `ports` there is only one address. */
export const sourceOf = (network: BalancerSurroundings['network'], address: string) =>
  network.mode === 'ports' ? {} : { localAddress: network.toWire(address) };

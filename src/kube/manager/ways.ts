import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { accessFromObject } from '../config/explicit-access.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { userAgent } from '../config/user-agent.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { connect } from '../transport/connection.ts';
import type { Transport } from '../transport/transport.ts';

/** How a program reaches its API server. */
export interface Ways extends AsyncDisposable {
  readonly transport: Transport;
  /** Sockets of its own, so that a renewal never waits behind other traffic (E5). */
  readonly election: Transport;
  readonly host: string;
  readonly userAgent: string;
  /** Of the context or of the pod. */
  readonly namespace?: string;
  refreshCredentials(): void;
}

export interface WayOptions {
  readonly name: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Nothing is opened before the first request. */
export function waysTo(kube: NonNullable<RuntimeConfig['kube']>, options: WayOptions): Ways {
  const { name, version, clock, log, metrics } = options;
  const agent = (controller?: string) =>
    userAgent({ binary: name, version, commit: version, ...(controller !== undefined && { controller }) });
  if (typeof kube === 'function') {
    const nothing = { refreshCredentials: () => {}, [Symbol.asyncDispose]: async () => {} };
    return { transport: kube, election: kube, host: '', userAgent: agent(), ...nothing };
  }
  const access = 'credentials' in kube ? kube : accessFromObject(kube, clock);
  const requests = connect(access, { clock, log, metrics, userAgent: agent() });
  const election = connect(access, { clock, log, metrics, userAgent: agent('leader-election') });
  return {
    transport: requests.transport,
    election: election.transport,
    host: requests.host,
    userAgent: agent(),
    ...(access.namespace !== undefined && { namespace: access.namespace }),
    refreshCredentials: () => requests.refreshCredentials(),
    [Symbol.asyncDispose]: async () => {
      await requests[Symbol.asyncDispose]();
      await election[Symbol.asyncDispose]();
    },
  };
}

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ClusterAccess } from '../../kube/config/cluster-access.ts';
import { type AuthorizationSource, credentialsOf } from '../../kube/config/credential-parts.ts';
import { rateLimited } from '../../kube/config/rate-limit.ts';
import { userAgent } from '../../kube/config/user-agent.ts';
import type { Metrics } from '../../kube/metrics/metrics.ts';
import { connect } from '../../kube/transport/connection.ts';
import type { Transport } from '../../kube/transport/transport.ts';

export interface ControllerWayOptions {
  readonly kube: ClusterAccess | Transport;
  readonly program: string;
  readonly version: string;
  /** The name of the client, in the user agent. */
  readonly account: string;
  /** Instead of the credentials of the program. */
  readonly token?: AuthorizationSource;
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The way of one controller to the API server: as itself, within its own limit, with its own connections. */
export interface ControllerWay extends AsyncDisposable {
  readonly transport: Transport;
}

/** Nothing is opened before the first request. */
export function controllerWay(options: ControllerWayOptions): ControllerWay {
  const { program, version, account, rateLimit, clock } = options;
  const agent = userAgent({ binary: program, version, commit: version, controller: account });
  const { transport, [Symbol.asyncDispose]: end } = bareWay(options);
  const named: Transport = (request) =>
    transport({ ...request, headers: { ...request.headers, 'user-agent': agent } });
  return {
    transport: rateLimit === undefined ? named : rateLimited(named, { ...rateLimit, clock }),
    [Symbol.asyncDispose]: end,
  };
}

function bareWay({ kube, token, clock, log, metrics }: ControllerWayOptions): ControllerWay {
  if (typeof kube !== 'function') {
    const credentials = token === undefined ? kube.credentials : credentialsOf({ authorization: token });
    return connect({ ...kube, credentials }, { clock, log, metrics });
  }
  const end = { [Symbol.asyncDispose]: () => Promise.resolve() };
  if (token === undefined) return { transport: kube, ...end };
  const withToken: Transport = async (request) => {
    const authorization = (await token.authorization()) ?? '';
    return kube({ ...request, headers: { ...request.headers, authorization } });
  };
  return { transport: withToken, ...end };
}

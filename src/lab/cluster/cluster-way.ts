import type { ApiServer } from '../../apiserver/options.ts';
import type { UserInfo } from '../../apiserver/request.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ClusterAccess } from '../../kube/config/cluster-access.ts';
import { impersonationHeaders } from '../../kube/config/impersonation.ts';
import type { Activity } from '../../kube/quiet/activity.ts';
import { connect } from '../../kube/transport/connection.ts';
import type { Transport } from '../../kube/transport/transport.ts';

/** How the parts of a lab reach the API server of one cluster, each as the user it is (A5). */
export interface ClusterWay extends AsyncDisposable {
  /** Requests of a user; counted, so that time can stand still for them. `extra` is told to servers of the lab only. */
  as(user: string, groups: readonly string[], extra?: UserInfo['extra']): Transport;
}

/** To a server in this process: no sockets. */
export const wayInProcess = (server: ApiServer, activity: Activity): ClusterWay => ({
  as: (user, groups, extra) => activity.around(server.client(user, groups, extra)),
  [Symbol.asyncDispose]: async () => {
    // The server belongs to whoever started it.
  },
});

export interface ForeignWayOptions {
  /** Of a user who may act as others: an administrator. */
  readonly access: ClusterAccess;
  readonly activity: Activity;
  readonly clock: Clock;
  readonly log: Log;
}

/** To a server that somebody else runs: the administrator acts as each user, with a connection for each. */
export function wayToServer({ access, activity, clock, log }: ForeignWayOptions): ClusterWay {
  const connections = new AsyncDisposableStack();
  return {
    as: (user, groups) => {
      const impersonation = impersonationHeaders({ user, groups });
      const credentials = {
        ...access.credentials,
        headers: async (signal?: AbortSignal) => ({
          ...(await access.credentials.headers(signal)),
          ...impersonation,
        }),
      };
      const connection = connections.use(
        connect({ ...access, credentials }, { clock, log, userAgent: 'slipway-lab' }),
      );
      return activity.around(connection.transport);
    },
    [Symbol.asyncDispose]: () => connections.disposeAsync(),
  };
}

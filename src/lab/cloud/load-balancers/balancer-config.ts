/** How the backend is told who the client is: as text or in binary form (C17). */
export type ProxyProtocol = 'v1' | 'v2';

export interface ListenerConfig {
  readonly port: number;
  readonly targetPort: number;
  readonly proxyProtocol?: ProxyProtocol | undefined;
}

export interface HealthCheckConfig {
  readonly protocol: 'tcp' | 'http' | 'https';
  /** The target port of each listener unless told otherwise. */
  readonly port?: number | undefined;
  /** Of http and https. */
  readonly path: string;
  /** Lab time. */
  readonly intervalSeconds: number;
  /** Real time (T6). */
  readonly timeoutSeconds: number;
  /** So many successes in a row make a target healthy … */
  readonly healthyThreshold: number;
  /** … and so many failures unhealthy. */
  readonly unhealthyThreshold: number;
}

/** What one load balancer does. */
export interface BalancerConfig {
  /** Where it listens: an address of the lab, for as long as the balancer is there. */
  readonly address: string;
  /** No port twice. */
  readonly listeners: readonly ListenerConfig[];
  /** Names of targets; whoever runs the balancers knows their addresses. */
  readonly targets: readonly string[];
  readonly healthCheck: HealthCheckConfig;
  /** Who may connect; everybody when there are none. */
  readonly sourceRanges: readonly string[];
  /** Lab time, as the next one. */
  readonly idleTimeoutSeconds: number;
  /** How long connections to a target that was removed may go on. */
  readonly drainSeconds: number;
  /** With nobody healthy, clients go to anybody; without it they are turned away (C15). */
  readonly failOpen: boolean;
}

/** What becomes of listeners when one configuration follows another. */
export interface ListenerChanges {
  readonly opened: readonly ListenerConfig[];
  /** Same port, but clients go elsewhere: it goes on listening, and its connections end. */
  readonly changed: readonly ListenerConfig[];
  /** With all their connections (C18). */
  readonly kept: readonly ListenerConfig[];
  readonly closed: readonly ListenerConfig[];
}

/** Pure: the least that has to be done to listen as wanted. */
export function listenerChanges(
  open: readonly ListenerConfig[],
  wanted: readonly ListenerConfig[],
): ListenerChanges {
  const openByPort = new Map(open.map((listener) => [listener.port, listener]));
  const wantedPorts = new Set(wanted.map(({ port }) => port));
  const isSame = (listener: ListenerConfig) => {
    const before = openByPort.get(listener.port);
    return before?.targetPort === listener.targetPort && before.proxyProtocol === listener.proxyProtocol;
  };
  return {
    opened: wanted.filter(({ port }) => !openByPort.has(port)),
    changed: wanted.filter((listener) => openByPort.has(listener.port) && !isSame(listener)),
    kept: wanted.filter(isSame),
    closed: open.filter(({ port }) => !wantedPorts.has(port)),
  };
}

import type { Endpoint, NetworkMode } from './address-plan.ts';

/** Which mode is on, and what it was chosen by. */
export interface NetworkDecision {
  readonly requested: 'auto' | NetworkMode;
  readonly mode: NetworkMode;
  /** What binding another address of 127/8 failed with, such as EADDRNOTAVAIL. */
  readonly bindError?: string;
}

/** `auto` takes `loopback` where 127/8 can be bound, else `ports` (X10). */
export function decideNetwork(requested: 'auto' | NetworkMode, bindError: string | undefined): NetworkDecision {
  const mode = requested === 'auto' ? (bindError === undefined ? 'loopback' : 'ports') : requested;
  return { requested, mode, ...(bindError !== undefined && { bindError }) };
}

const ADDRESSES: Readonly<Record<NetworkMode, string>> = {
  loopback: 'every node, pod and service has an address 127.L.x.y of its own',
  anyip: 'the addresses 10.L.x.y themselves lead to this machine, by a local route',
  ports: 'every address of the lab is 127.0.0.1 with ports of its own, and foreign programs run once per port',
};

/** For `doctor`: which mode is on and why, in one sentence. */
export function networkSentence({ requested, mode, bindError }: NetworkDecision, lowPortOffset: number): string {
  const because =
    requested !== 'auto'
      ? 'it was asked for'
      : bindError === undefined
        ? 'all of 127.0.0.0/8 can be bound here'
        : `only 127.0.0.1 can be bound here (${bindError})`;
  const low =
    lowPortOffset === 0 ? '' : `; ports below 1024 cannot be bound here and are found at ${lowPortOffset} + port`;
  return `Network mode ${mode}, because ${because}: ${ADDRESSES[mode]}${low}.`;
}

/** A URL that works on this machine, with the port of the lab where it is another one (X7). */
export const printedUrl = (scheme: string, at: Endpoint, target: Endpoint): string =>
  `${scheme}://${target.host}:${target.port}` +
  (target.port === at.port ? '' : ` (port ${at.port} of ${at.host})`);

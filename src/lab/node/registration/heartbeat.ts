import { Node } from '../../../api/generated/core-v1.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { NodeFactsProvider } from './node-facts.ts';
import { NodeLease } from './node-lease.ts';
import type { NodeSettings } from './node-object.ts';
import { hasChanged, nodeStatus, statusPatch } from './node-status.ts';
import type { ServerVersion } from './server-version.ts';

/** How often the Lease is renewed and the status is computed; also how long one request may take. */
const BEAT_MS = 10_000;
/** A status that does not change is written so often (N4). */
const REPORT_MS = 5 * 60_000;

export interface HeartbeatOptions {
  readonly settings: NodeSettings;
  readonly facts: NodeFactsProvider;
  readonly version: ServerVersion;
  /** As the node. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** The Node as a watch saw it last; the server is asked when it saw none. */
  readonly seen?: () => Node | undefined;
  /** The server has the status from just now, because the Node was created with it. */
  readonly isReported?: boolean;
}

/** Tells the cluster that a node lives, until disposed. */
export interface Heartbeat extends AsyncDisposable {
  /** Neither Lease nor status until `resume`; everything else of the node goes on (N6). Idempotent. */
  stopHeartbeat(): Promise<void>;
  /** Beats at once, and every 10 s from then on. Idempotent. */
  resume(): void;
}

/**
 * Starts to renew the Lease every 10 s and to compute the status every 10 s, which is written when it is another, or
 * 5 min old (N4). Failures are logged and tried again at the next beat. A Node that is deleted is not created again
 * (N5): nothing is written then.
 */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const heartbeat = new NodeHeartbeat(options);
  heartbeat.resume();
  return heartbeat;
}

class NodeHeartbeat implements Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #lease: NodeLease;
  #reportedMs: number | undefined;
  #beating: { readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined;

  constructor(options: HeartbeatOptions) {
    const { settings, client, clock, isReported = false } = options;
    this.#options = options;
    this.#lease = new NodeLease({ name: settings.name, client, clock, timeoutMs: BEAT_MS });
    if (isReported) this.#reportedMs = clock.monotonicMs();
  }

  resume(): void {
    if (this.#beating !== undefined) return;
    const stop = new AbortController();
    const { signal } = stop;
    const ended = Promise.all([
      this.#beat('Lease', signal, () => this.#lease.renew(signal)),
      this.#beat('status', signal, () => this.#report(signal)),
    ]);
    this.#beating = { stop, ended };
  }

  async stopHeartbeat(): Promise<void> {
    const beating = this.#beating;
    this.#beating = undefined;
    beating?.stop.abort();
    await beating?.ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stopHeartbeat();
  }

  /** Resolves when it is stopped; one that takes long delays the next, so that there are never two. */
  async #beat(what: string, signal: AbortSignal, once: () => Promise<void>): Promise<void> {
    const { clock, log, settings } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await once();
        if (failures > 0) log.info({ node: settings.name, what, failures }, 'Heartbeat is back');
        failures = 0;
      } catch (err) {
        if (!signal.aborted && ++failures === 1) log.warn({ err, node: settings.name, what }, 'Heartbeat failed');
      }
      await clock.sleep(BEAT_MS, signal).catch(() => {});
    }
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { settings, facts, version, client, clock, seen } = this.#options;
    const [key, call] = [{ name: settings.name }, { signal, timeoutMs: BEAT_MS }];
    const node = seen?.() ?? (await client.live.find(Node, key, call));
    if (node === undefined) return;
    const { status: existing = {} } = node;
    const status = nodeStatus({ settings, facts: facts(), version, existing, now: clock.now() });
    const isDue = this.#reportedMs === undefined || clock.monotonicMs() - this.#reportedMs >= REPORT_MS;
    if (!isDue && !hasChanged(existing, status)) return;
    const body = statusPatch(existing, status);
    await client.patch(Node, key, { type: 'strategic', body }, { ...call, subresource: 'status' });
    this.#reportedMs = clock.monotonicMs();
  }
}

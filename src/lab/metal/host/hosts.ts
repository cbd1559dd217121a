import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { type Log, SILENT_LOG } from '../../../base/log.ts';
import type { HttpCall, HttpRequest } from '../../../oci/http-call.ts';
import type { WorkloadClusters } from '../workload/workload-clusters.ts';
import { inventoryOf } from './host-inventory.ts';
import type { BootedHost, HostPower } from './host-power.ts';
import { type DiscoveryOrder, discoveryOrder, readIgnition } from './ignition-config.ts';
import type { InstalledHosts, NodeIdentity } from './installed-hosts.ts';
import type { IdentityReader } from './node-identity.ts';

export interface HostsOptions {
  /** The way to assisted-service: `assistedRest`, or over a socket. */
  readonly http: HttpCall;
  readonly clock: Clock;
  readonly identify: IdentityReader;
  /** Learn that a machine is gone. */
  readonly clusters?: Pick<WorkloadClusters, 'leave'>;
  /** Multiplies all delays, as that of the controllers does. 1 unless told otherwise. */
  readonly pace?: number;
  readonly log?: Log;
}

/** A machine was switched on or off. */
export interface PowerEvent {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly event: 'on' | 'off';
  readonly at: Date;
}

/** A machine that is on. */
export interface PoweredHost {
  readonly host: BootedHost;
  readonly since: Date;
  readonly phase: 'booting' | 'registered' | 'installed';
  /** Why it does not register; undefined when nothing is wrong. */
  readonly problem?: string;
}

interface Running {
  host: BootedHost;
  readonly since: Date;
  phase: PoweredHost['phase'];
  problem: string | undefined;
  /** Of this start: ends with it. */
  readonly ended: AbortController;
}

const BOOT_MS = 90_000;
const RETRY_MS = 30_000;
const REQUEST_MS = 30_000;
const MOST_EVENTS = 10_000;
const MOST_IGNITION_BYTES = 4 * 1024 * 1024;

/**
 * Machines that boot a discovery image or a disk with its ignition, register with assisted-service, and are nodes after
 * their installation (S13, S17). Only what is on is known here: after a restart, whoever holds the switches says it again.
 */
export class Hosts implements HostPower, InstalledHosts, AsyncDisposable {
  readonly #options: HostsOptions;
  readonly #log: Log;
  /** By id; bounded by the machines of the lab. */
  readonly #running = new Map<string, Running>();
  /** The last ones. */
  readonly #record: PowerEvent[] = [];
  /** Bounded by the machines that are on. */
  readonly #work = new Set<Promise<void>>();

  constructor(options: HostsOptions) {
    this.#options = options;
    this.#log = options.log ?? SILENT_LOG;
  }

  /** Those that are on, in the order in which they were switched on. */
  get powered(): readonly PoweredHost[] {
    return [...this.#running.values()].map(({ host, since, phase, problem }) => ({
      host,
      since,
      phase,
      ...(problem !== undefined && { problem }),
    }));
  }

  /** What was switched, in order; the last ten thousand. */
  get record(): readonly PowerEvent[] {
    return this.#record;
  }

  async powerOn(host: BootedHost): Promise<void> {
    const running = this.#running.get(host.id);
    if (running !== undefined && isSameBoot(running.host, host)) {
      running.host = host;
      return;
    }
    running?.ended.abort();
    if (running === undefined) this.#note(host, 'on');
    this.#boot(host);
  }

  async wipe(id: string): Promise<void> {
    const running = this.#running.get(id);
    if (running !== undefined) {
      running.ended.abort();
      this.#running.delete(id);
      this.#note(running.host, 'off');
    }
    await this.#options.clusters?.leave(id);
  }

  find(id: string): BootedHost | undefined {
    return this.#running.get(id)?.host;
  }

  async identify(id: string, ignition: string | undefined): Promise<NodeIdentity | undefined> {
    const host = this.find(id);
    if (host === undefined) return undefined;
    // What a disk was given at first is still on it; an image in memory is gone.
    const before = host.boot.from === 'disk' ? [host.boot.userData] : [];
    return await this.#options.identify({ host, ignition: [...before, ignition ?? ''] });
  }

  installed(id: string): void {
    const running = this.#running.get(id);
    if (running !== undefined) running.phase = 'installed';
  }

  forgotten(id: string): void {
    const running = this.#running.get(id);
    if (running?.phase !== 'registered') return;
    running.ended.abort();
    this.#boot(running.host, running.since);
  }

  /** All are off, and nothing is under way any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { ended } of this.#running.values()) ended.abort();
    this.#running.clear();
    await Promise.all(this.#work);
  }

  #note({ id, namespace, name }: BootedHost, event: PowerEvent['event']): void {
    this.#record.push({ id, namespace, name, event, at: this.#options.clock.now() });
    if (this.#record.length > MOST_EVENTS) this.#record.shift();
  }

  #boot(host: BootedHost, since = this.#options.clock.now()): void {
    const running: Running = { host, since, phase: 'booting', problem: undefined, ended: new AbortController() };
    this.#running.set(host.id, running);
    const work = this.#discover(running)
      .catch((error: unknown) => {
        if (!running.ended.signal.aborted) this.#log.warn({ err: error, host: host.name }, 'A host has stopped');
      })
      .finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  /** Like the agent on a real machine, it does not give up. */
  async #discover(running: Running): Promise<void> {
    const { clock, pace = 1 } = this.#options;
    const { signal } = running.ended;
    await clock.sleep(BOOT_MS * pace, signal);
    for (;;) {
      const problem = await this.#register(running).catch((error: unknown) => messageOf(error));
      if (signal.aborted) return;
      running.problem = problem;
      if (problem === undefined) {
        if (running.phase === 'booting') running.phase = 'registered';
        return;
      }
      this.#log.debug({ host: running.host.name, problem }, 'A host could not register');
      await clock.sleep(RETRY_MS * pace, signal);
    }
  }

  /** What was wrong; undefined when it has registered. */
  async #register({ host, ended: { signal } }: Running): Promise<string | undefined> {
    const ignition = await this.#ignitionOf(host, signal);
    const config = readIgnition(ignition);
    const order = config === undefined ? undefined : discoveryOrder(config);
    if (order === undefined) return 'the ignition has no agent.service that names an InfraEnv';
    const { hostname } = await this.#options.identify({ host, ignition: [ignition] });
    const { status } = await this.#call(registration(host, hostname, order), signal);
    return status === 201 ? undefined : `the service answers ${status}`;
  }

  async #ignitionOf({ boot }: BootedHost, signal: AbortSignal): Promise<string> {
    if (boot.from === 'disk') return boot.userData;
    const { status, text } = await this.#call({ method: 'GET', url: boot.url }, signal);
    if (status !== 200) throw new Error(`the image is not there: the service answers ${status}`);
    return text;
  }

  async #call(
    request: HttpRequest,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { clock, http, pace = 1 } = this.#options;
    const late = new AbortController();
    using _timer = clock.timer(REQUEST_MS * pace, () => late.abort(new Error('the service does not answer')));
    const { status, body } = await http({ ...request, signal: AbortSignal.any([signal, late.signal]) });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > MOST_IGNITION_BYTES) throw new Error('the answer of the service is too large');
      chunks.push(chunk);
    }
    return { status, text: Buffer.concat(chunks).toString('utf8') };
  }
}

const isSameBoot = (a: BootedHost, b: BootedHost): boolean => JSON.stringify(a.boot) === JSON.stringify(b.boot);

const registration = (host: BootedHost, hostname: string, order: DiscoveryOrder): HttpRequest => ({
  method: 'POST',
  url: `${order.url}/api/assisted-install/v2/infra-envs/${order.infraEnvId}/hosts`,
  headers: {
    'content-type': 'application/json',
    ...(order.token !== undefined && { 'x-secret-key': order.token }),
  },
  body: JSON.stringify({ host_id: host.id, inventory: inventoryOf(host, hostname) }),
});

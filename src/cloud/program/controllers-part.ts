import { type Clock, SystemClock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import { messageOf, terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { aborted } from '../../kube/aborted.ts';
import type { ClusterAccess } from '../../kube/config/cluster-access.ts';
import type { Environment } from '../../kube/config/surroundings.ts';
import { createManager, type Manager } from '../../kube/manager/create-manager.ts';
import type { Runnable } from '../../kube/manager/runnable.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import type { ConnectedProvider } from '../../sdk/provider/connected-provider.ts';
import type { CloudController } from '../cloud-controller.ts';
import { AccountToken } from './account-token.ts';
import { isControllerEnabled } from './controller-list.ts';
import { controllerWay } from './controller-way.ts';
import { fencedProvider } from './fenced-provider.ts';
import { ownOfAccount } from './needs.ts';
import type { PermissionWatch } from './permission-watch.ts';
import { connected, type FoundProvider } from './provider.ts';
import type { ProgramSettings } from './settings.ts';

/** The name of the program: of its metrics, events, user agents and field managers. */
export const PROGRAM_NAME = 'cloud-controller-manager';

export interface ControllersOptions {
  /** Whose election, cache and ports the controllers share. */
  readonly primary: Manager;
  readonly kube: ClusterAccess | Transport;
  readonly controllers: readonly CloudController[];
  readonly found: FoundProvider;
  readonly settings: ProgramSettings;
  readonly permissions: PermissionWatch;
  readonly version: string;
  readonly hostname?: string;
  readonly env: Environment;
  /** Real time: an API server that starts knows no other (lab T6). That of the machine unless told otherwise. */
  readonly host?: Clock;
}

const HEALTHY_WITHIN_MS = 10_000;
const POLL_MS = 1000;

/** What the leader does: connects the provider and runs the controllers, each as a manager of its own (ccm §2.3). */
export class ControllersPart implements Runnable {
  readonly name = 'controllers';
  readonly group = 'leader';
  readonly #options: ControllersOptions;
  readonly #clock: Clock;
  readonly #host: Clock;
  readonly #log: Log;
  readonly #running;

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.#clock = options.primary.clock;
    this.#host = options.host ?? new SystemClock();
    this.#log = options.primary.log;
    this.#running = options.primary.metrics.gauge({
      name: 'running_managed_controllers',
      help: 'Whether a controller runs: 1 or 0.',
      labels: ['name', 'manager'],
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { found, settings, env, primary, permissions } = this.#options;
    try {
      await this.#untilHealthy(signal);
      await permissions.untilReadable(signal);
      const surroundings = { env, clock: this.#clock, log: this.#log, metrics: primary.metrics, signal };
      await using provider = await connected(found, settings, surroundings);
      await this.#runAll(provider, signal);
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    }
  }

  /** Any answer but a failure of its own: a server that refuses us is up. */
  async #untilHealthy(signal: AbortSignal): Promise<void> {
    await using way = this.#way(PROGRAM_NAME);
    const startMs = this.#host.monotonicMs();
    for (;;) {
      const problem = await this.#healthProblem(way.transport, signal);
      if (problem === undefined) return;
      if (this.#host.monotonicMs() - startMs >= HEALTHY_WITHIN_MS) {
        throw terminalError('ApiServerUnhealthy', `the API server is not healthy: ${problem}`);
      }
      await this.#host.sleep(POLL_MS, signal);
    }
  }

  async #healthProblem(transport: Transport, signal: AbortSignal): Promise<string | undefined> {
    const limit = new AbortController();
    using _timer = this.#host.timer(POLL_MS, () =>
      limit.abort(new Error(`no answer within ${goDuration(POLL_MS)}`)),
    );
    const both = AbortSignal.any([signal, limit.signal]);
    try {
      // The limit of a transport is in the time of the program, which a lab may let pass faster.
      const answer = await transport({ method: 'GET', target: '/healthz', timeoutMs: Infinity, signal: both });
      await answer.bytes();
      return answer.status < 500 ? undefined : `it answered ${answer.status}`;
    } catch (thrown) {
      return messageOf(limit.signal.aborted ? limit.signal.reason : thrown);
    }
  }

  /** Until the signal aborts. When one controller fails, the others stop too, and its error is thrown. */
  async #runAll(provider: ConnectedProvider, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const both = AbortSignal.any([signal, stop.signal]);
    const running: Promise<void>[] = [];
    let failure: { readonly error: unknown } | undefined;
    const start = (controller: CloudController) => {
      const run = this.#runOne(controller, provider, both).catch((error: unknown) => {
        failure ??= { error };
        stop.abort();
      });
      running.push(run);
    };
    try {
      await this.#startAll(provider, start, both);
      await aborted(both);
    } finally {
      stop.abort();
      await Promise.all(running);
    }
    if (failure !== undefined) throw failure.error;
  }

  async #startAll(
    provider: ConnectedProvider,
    start: (controller: CloudController) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { controllers, settings } = this.#options;
    const { controllers: entries, controllerStartIntervalMs } = settings.cloud;
    for (const controller of controllers) {
      const { name } = controller;
      if (signal.aborted) return;
      if (!isControllerEnabled(name, entries)) {
        this.#log.info({ controller: name }, 'Controller is disabled');
        continue;
      }
      const reason = controller.skipReason({ provider, settings: settings.cloud });
      if (reason !== undefined) {
        this.#log.warn({ controller: name, reason }, 'Controller is skipped');
        continue;
      }
      start(controller);
      const pauseMs = controllerStartIntervalMs * (1 + this.#clock.random());
      if (pauseMs > 0) await this.#clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  async #runOne(controller: CloudController, provider: ConnectedProvider, signal: AbortSignal): Promise<void> {
    const { primary, settings, permissions } = this.#options;
    const { name, metricName } = controller;
    await using way = this.#way(controller.account);
    await using manager = this.#manager(controller, way.transport);
    const fenced = fencedProvider(provider, manager.fence);
    for (const part of controller.parts({ manager, provider: fenced, settings: settings.cloud }))
      manager.add(part);
    const labels = { name: metricName, manager: PROGRAM_NAME };
    let isRunning = true;
    primary.healthz.add(name, () => {
      if (!isRunning) throw new Error(`${name} does not run`);
    });
    const subject = {
      who: `${name} as ${controller.account}`,
      client: manager.unfencedClient,
      needs: ownOfAccount(manager.needs),
    };
    const asking = settings.useServiceAccountCredentials ? permissions.follow(subject, signal) : undefined;
    this.#running.set(labels, 1);
    this.#log.info({ controller: name }, 'Started controller');
    try {
      await manager.start(signal);
    } finally {
      isRunning = false;
      this.#running.set(labels, 0);
    }
    await asking;
  }

  #manager(controller: CloudController, transport: Transport): Manager {
    const { primary, version, hostname } = this.#options;
    return createManager({
      kube: transport,
      name: controller.name,
      version,
      ...(hostname !== undefined && { hostname }),
      // Followed by the name of the controller.
      fieldManager: `slipway/${PROGRAM_NAME}`,
      eventSource: controller.eventSource,
      // The second text of a failure is news: the operator of the ingress shows the newest one.
      distinctNotes: true,
      fence: primary.fence,
      sharedCache: primary.cache,
      registry: primary.metrics,
      leaderElection: false,
      selfCheck: false,
      clock: this.#clock,
      log: this.#log.child({ controller: controller.name }),
    });
  }

  #way(account: string) {
    const { kube, primary, settings, version } = this.#options;
    const { rateLimit } = settings.api;
    const isOwn = account === PROGRAM_NAME;
    const token = new AccountToken({ account, client: primary.unfencedClient, clock: this.#clock });
    return controllerWay({
      kube,
      program: PROGRAM_NAME,
      version,
      account,
      ...(settings.useServiceAccountCredentials && !isOwn && { token }),
      ...(rateLimit !== undefined && { rateLimit }),
      clock: this.#clock,
      log: this.#log,
      metrics: primary.metrics,
    });
  }
}

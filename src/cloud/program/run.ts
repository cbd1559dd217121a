import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { createClient } from '../../kube/client/create-client.ts';
import { type AccessSurroundings, apiAccess } from '../../kube/config/api-access.ts';
import type { ClusterAccess } from '../../kube/config/cluster-access.ts';
import { type ComponentProgram, type ComponentStart, runComponent } from '../../kube/manager/component-run.ts';
import { createManager, type Manager } from '../../kube/manager/create-manager.ts';
import type { ExitCode } from '../../kube/manager/exit-code.ts';
import { watchProcess } from '../../kube/metrics/process-metrics.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import type { CloudController } from '../cloud-controller.ts';
import { NODE_CACHE } from '../node/index.ts';
import { ClientAuthority } from './client-authority.ts';
import { configz } from './configz.ts';
import { controllerWay } from './controller-way.ts';
import { ControllersPart, PROGRAM_NAME } from './controllers-part.ts';
import { cloudFlagHelp } from './flags.ts';
import { LeaseWatchdog } from './lease-watchdog.ts';
import { cloudNeeds, processNeeds } from './needs.ts';
import { PermissionWatch } from './permission-watch.ts';
import { type FindProvider, type FoundProvider, foundProvider } from './provider.ts';
import { plainServer, type SecureGuards, type ServedFacts, secureServer } from './secure-server.ts';
import { type ProgramSettings, type ReadSettings, readSettings, type SecureSettings } from './settings.ts';

/** One run of the cloud controller manager, and what it runs in. */
export interface CloudProgram extends ComponentProgram {
  /** Real time, where that of `clock` passes faster (lab T6); that of the machine unless told otherwise. */
  readonly host?: Clock;
  readonly findProvider: FindProvider;
}

/**
 * Runs until the signal aborts (0), a part fails or the leadership is lost (1), or something that was said does not fit
 * (2); 3 when objects cannot be read in time. Nothing is started while anything is wrong with the flags (P4).
 */
export async function runCloudControllerManager(
  program: CloudProgram,
  controllers: readonly CloudController[],
): Promise<ExitCode> {
  const read = readSettings(program.argv);
  if (read.isHelp || read.isVersion) return told(program, read);
  return runComponent(program, {
    ...read,
    name: PROGRAM_NAME,
    start: (settings, log) => new Start({ program, controllers, settings, log }),
  });
}

function told({ stdout, version, usage = PROGRAM_NAME }: CloudProgram, { isHelp }: ReadSettings): ExitCode {
  stdout(isHelp ? cloudFlagHelp(usage) : `${PROGRAM_NAME} of Slipway ${version}\n`);
  return 0;
}

interface StartOptions {
  readonly program: CloudProgram;
  readonly controllers: readonly CloudController[];
  readonly settings: ProgramSettings;
  readonly log: Log;
}

/** From the settings to the end of the program. */
class Start implements ComponentStart {
  readonly #options: StartOptions;
  hasStarted = false;

  constructor(options: StartOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { program, controllers, settings, log } = this.#options;
    this.#warn();
    const found = await foundProvider(settings, program.findProvider);
    const needs = cloudNeeds({ controllers, definition: found.definition, settings });
    const kube = program.kube ?? (await apiAccess(settings.api, this.#around()));
    await using primary = this.#primary(kube);
    const permissions = new PermissionWatch({ clock: program.clock, log });
    const subject = {
      who: 'this program',
      client: primary.unfencedClient,
      needs: processNeeds(needs, settings),
    };
    primary.readyz.addSource(() => permissions.checks());
    primary.add({ name: 'permissions', group: 'other', run: (signal) => permissions.follow(subject, signal) });
    await using ends = new AsyncDisposableStack();
    await this.#addServers(primary, ends);
    this.#addControllers(primary, { kube, found, permissions });
    this.hasStarted = true;
    await primary.start(program.signal);
  }

  /** What is accepted and has another way now (P6). */
  #warn(): void {
    const { settings, log } = this.#options;
    const deprecated = [
      'port',
      'address',
      'allow-untagged-cloud',
      'node-sync-period',
      'external-cloud-volume-plugin',
    ];
    const used = deprecated.filter((name) => settings.flags.isGiven(name)).map((name) => `--${name}`);
    if (used.length > 0) log.warn({ flags: used.join(', ') }, 'Flags are deprecated');
  }

  #around(): AccessSurroundings {
    const { env, homeDir, clock, stderr } = this.#options.program;
    return { env, homeDir, clock, stderr };
  }

  #primary(kube: ClusterAccess | Transport): Manager {
    const { program, settings, log } = this.#options;
    const { clock, version, hostname } = program;
    return createManager({
      kube,
      name: PROGRAM_NAME,
      version,
      ...(hostname !== undefined && { hostname }),
      eventSource: PROGRAM_NAME,
      leaderElection: settings.election,
      // Done by a part of its own, which does not give up.
      selfCheck: false,
      cache: { resyncMs: settings.api.minResyncMs * (1 + clock.random()), byKind: NODE_CACHE },
      clock,
      log,
    });
  }

  /** Up before there is a leader. */
  async #addServers(primary: Manager, ends: AsyncDisposableStack): Promise<void> {
    const { settings } = this.#options;
    const { clock, log, metrics, healthz, readyz } = primary;
    const { election, secure, plain } = settings;
    if (election !== false) {
      const watchdog = new LeaseWatchdog({ manager: primary, timing: election, clock });
      healthz.add('leaderElection', () => watchdog.check());
      primary.add(watchdog);
    }
    if (plain !== undefined) primary.add(plainServer(plain, { healthz, clock, log }));
    if (secure === undefined) return;
    const facts: ServedFacts = { healthz, readyz, metrics, clock, log, config: configz(settings) };
    const authority = new ClientAuthority({ client: primary.unfencedClient, clock, log });
    primary.add(authority);
    const guards = { authority, ...(await this.#reviewers(secure, primary, ends)) };
    primary.add(await secureServer(secure, facts, guards));
    primary.add({
      name: 'process metrics',
      group: 'http',
      run: (signal) => watchProcess({ metrics, clock, log }, signal),
    });
  }

  /** Who asks about callers: the program itself, or the users of other kubeconfigs. */
  async #reviewers(
    { authenticationKubeconfig, authorizationKubeconfig }: SecureSettings,
    primary: Manager,
    ends: AsyncDisposableStack,
  ): Promise<Pick<SecureGuards, 'authenticator' | 'authorizer'>> {
    const { program, settings, log } = this.#options;
    const reviewer = async (kubeconfig: string) => {
      if (kubeconfig === '') return primary.unfencedClient;
      const { clock, version } = program;
      const kube = await apiAccess({ ...settings.api, kubeconfig }, this.#around());
      const parts = { kube, program: PROGRAM_NAME, version, account: 'reviews', clock, log };
      const { transport } = ends.use(controllerWay({ ...parts, metrics: primary.metrics }));
      return createClient({ transport, fieldManager: PROGRAM_NAME, clock, log });
    };
    return {
      authenticator: await reviewer(authenticationKubeconfig),
      authorizer: await reviewer(authorizationKubeconfig),
    };
  }

  #addControllers(
    primary: Manager,
    parts: {
      readonly kube: ClusterAccess | Transport;
      readonly found: FoundProvider;
      readonly permissions: PermissionWatch;
    },
  ): void {
    const { program, controllers, settings } = this.#options;
    const { version, env, hostname, host } = program;
    const times = host === undefined ? {} : { host };
    const identity = { version, env, ...times, ...(hostname !== undefined && { hostname }) };
    primary.add(new ControllersPart({ ...parts, ...identity, primary, controllers, settings }));
  }
}

import type { Log } from '../../base/log.ts';
import { apiAccess } from '../../kube/config/api-access.ts';
import { type FactsOptions, resolvedTls } from '../../kube/manager/cluster-tls.ts';
import { type ComponentProgram, type ComponentStart, runComponent } from '../../kube/manager/component-run.ts';
import { createManager } from '../../kube/manager/create-manager.ts';
import type { ExitCode } from '../../kube/manager/exit-code.ts';
import { flagHelp } from '../../kube/manager/flag-parser.ts';
import type { TlsSettings } from '../../kube/serving/tls-profile.ts';
import { dependsOnTopology, electionTiming } from '../config/election.ts';
import type { ProviderRegistry } from '../registry/providers.ts';
import { assembled, type Beginning, foreignLeases, leaseNamespace, type ProgramParts } from './assembly.ts';
import { controlPlaneTopology } from './cluster-facts.ts';
import { PROGRAM_FLAGS } from './flags.ts';
import { refuseForeignLeader } from './foreign-leader.ts';
import { type OperatorSettings, readSettings } from './settings.ts';

/** One run of a program of the operator, and what it runs in. */
export interface OperatorProgram extends ComponentProgram {
  readonly registry: ProviderRegistry;
  /** Instead of the files of this machine. */
  readonly readText?: (file: string) => Promise<string>;
}

/**
 * Runs until the signal aborts or the cluster wants other TLS settings (0), a part fails, the leadership is lost or
 * somebody else is at work (1), or something that was said does not fit (2); 3 when objects cannot be read in time.
 */
export async function runOperatorProgram(program: OperatorProgram, parts: ProgramParts): Promise<ExitCode> {
  const { argv, env, registry, stdout, usage = parts.name } = program;
  const { name, flags, lease } = parts;
  const { isHelp, ...read } = readSettings({ argv, env, flags, lease, registry });
  if (isHelp) {
    stdout(flagHelp(usage, [...PROGRAM_FLAGS, ...flags], { asksEnvironment: false }));
    return 0;
  }
  return runComponent(program, {
    ...read,
    name,
    start: (settings, log) => new Start({ program, parts, settings, log }),
  });
}

interface StartOptions {
  readonly program: OperatorProgram;
  readonly parts: ProgramParts;
  readonly settings: OperatorSettings;
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
    const { program, settings, log } = this.#options;
    const { kubeconfig, environmentFile } = settings;
    const kube = program.kube ?? (await apiAccess({ kubeconfig, environmentFile, master: '' }, program));
    const beginning = await this.#begin(kube);
    const stop = new AbortController();
    await using manager = assembled({
      ...this.#options.program,
      ...this.#options,
      ...beginning,
      stop: () => stop.abort(),
    });
    const { mode, names, releaseVersion } = settings;
    log.info({ mode, namespace: names.managedNamespace, releaseVersion }, 'Starting');
    this.hasStarted = true;
    await manager.start(AbortSignal.any([program.signal, stop.signal]));
  }

  /** Asked before anything is started (R2). */
  async #begin(kube: Beginning['kube']): Promise<Beginning> {
    const { program, parts, settings, log } = this.#options;
    const { clock, version, signal } = program;
    await using scout = createManager({ kube, name: parts.name, version, clock, log });
    const { live: reader } = scout.unfencedClient;
    const facts: FactsOptions = { reader, log, signal };
    const lease = { name: settings.lease.name, namespace: leaseNamespace(settings, kube) };
    for (const place of foreignLeases(settings, parts.lease, kube))
      await refuseForeignLeader({ ...facts, lease: place, now: clock.now() });
    const { election: flags } = settings;
    const topology = dependsOnTopology(flags) ? await controlPlaneTopology(facts) : undefined;
    const { name: id, namespace } = lease;
    return {
      kube,
      election: flags.isEnabled && { id, namespace, ...electionTiming(flags, topology) },
      tls: parts.isServing ? await resolvedTls(settings.tls, facts) : { settings: NO_TLS },
    };
  }
}

const NO_TLS: TlsSettings = { minVersion: '', cipherSuites: '' };

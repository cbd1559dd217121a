import { messageOf, userError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { apiAccess } from '../../kube/config/api-access.ts';
import { type ComponentProgram, type ComponentStart, runComponent } from '../../kube/manager/component-run.ts';
import { createManager, type Manager } from '../../kube/manager/create-manager.ts';
import type { ExitCode } from '../../kube/manager/exit-code.ts';
import { flagHelp } from '../../kube/manager/flag-parser.ts';
import { type CertificateDirectoryOptions, certificateDirectory } from '../../kube/serving/certificate-source.ts';
import type { HttpCall } from '../../oci/http-call.ts';
import { outsideHttpCall } from '../outside/http-call.ts';
import { WorkloadConnections } from '../outside/workload-connections.ts';
import type { Provider } from '../provider.ts';
import { assembledManagers, type Beginning, programName } from './assembly.ts';
import { AGENT_FLAGS } from './flags.ts';
import { clusterTls } from './openshift.ts';
import { type AgentSettings, readSettings, speaksTls } from './settings.ts';

/** One run of one provider, or of both, and what it runs in. */
export interface AgentProgram extends ComponentProgram {
  /** Instead of the network of this machine. */
  readonly http?: HttpCall;
  readonly connectWorkload?: (kubeconfig: string) => Promise<KubeClient>;
}

/**
 * Runs until the signal aborts or the cluster wants other TLS settings (0), a part fails or the leadership is lost (1),
 * or something that was said does not fit (2); 3 when objects cannot be read in time.
 */
export async function runAgentProgram(program: AgentProgram, providers: readonly Provider[]): Promise<ExitCode> {
  const name = programName(providers);
  const { argv, env, stdout, usage = name } = program;
  const { isHelp, ...read } = readSettings(argv, env);
  if (isHelp) {
    stdout(flagHelp(usage, AGENT_FLAGS, { asksEnvironment: false }));
    return 0;
  }
  return runComponent(program, {
    ...read,
    name,
    start: (settings, log) => new Start({ program, providers, settings, log }),
  });
}

interface StartOptions {
  readonly program: AgentProgram;
  readonly providers: readonly Provider[];
  readonly settings: AgentSettings;
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
    const { program, providers, settings, log } = this.#options;
    const { clock, env, version } = program;
    const name = programName(providers);
    await using connections = new WorkloadConnections({
      env,
      clock,
      log,
      userAgent: `${name}/${version}`,
      fieldManager: name,
    });
    const stop = new AbortController();
    await using managers = disposing(
      assembledManagers({
        ...program,
        ...(await this.#begin()),
        providers,
        settings,
        log,
        http: program.http ?? outsideHttpCall({ env }),
        connectWorkload: program.connectWorkload ?? connections.connect,
        stop: () => stop.abort(),
      }),
    );
    log.info({ providers: providers.join(), namespace: settings.namespace || 'all' }, 'Starting');
    this.hasStarted = true;
    await startAll(managers.all, AbortSignal.any([program.signal, stop.signal]));
  }

  /** Asked before anything is started: whether this is OpenShift, and how it wants TLS to be spoken (agent/P4). */
  async #begin(): Promise<Beginning> {
    const { program, providers, settings, log } = this.#options;
    const { kubeconfig, environmentFile } = settings;
    const kube = program.kube ?? (await apiAccess({ kubeconfig, environmentFile, master: '' }, program));
    const { webhook } = settings;
    const { clock, version, signal } = program;
    if (webhook.port !== 0) await requireCertificate({ directory: webhook.certDir, clock, log });
    if (!speaksTls(settings)) return { kube };
    await using scout = createManager({ kube, name: programName(providers), version, clock, log });
    return { kube, tls: await clusterTls(scout.unfencedClient, { clock, log, signal }) };
  }
}

/** Said before anything is asked of the cluster: whoever tries this on a laptop has no certificate, and needs none. */
async function requireCertificate(options: CertificateDirectoryOptions): Promise<void> {
  try {
    await certificateDirectory(options).load();
  } catch (thrown) {
    throw userError(
      'NoWebhookCertificate',
      `the webhooks have no certificate: ${messageOf(thrown)}; name its folder with --webhook-cert-dir, or serve no webhooks with --webhook-port=0`,
      { cause: thrown },
    );
  }
}

/** One that ends takes the others with it. */
async function startAll(managers: readonly Manager[], signal: AbortSignal): Promise<void> {
  const end = new AbortController();
  const all = AbortSignal.any([signal, end.signal]);
  await Promise.all(managers.map((manager) => manager.start(all).finally(() => end.abort())));
}

const disposing = (all: readonly Manager[]) => ({
  all,
  [Symbol.asyncDispose]: async () => {
    for (const manager of all) await manager[Symbol.asyncDispose]();
  },
});

import { homedir } from 'node:os';
import { agent, type Provider } from '../../src/agent/index.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import type { Controller } from '../../src/kube/controller/controller.ts';
import { createManager } from '../../src/kube/manager/create-manager.ts';
import type { ExitCode } from '../../src/kube/manager/exit-code.ts';
import type { Transport } from '../../src/kube/transport/transport.ts';
import { assistedControllers } from '../../src/lab/metal/assisted/controllers.ts';
import { assistedRest } from '../../src/lab/metal/assisted/rest.ts';
import { Hosts } from '../../src/lab/metal/host/hosts.ts';
import { scriptedIdentity } from '../../src/lab/metal/host/node-identity.ts';
import { metal3Controllers } from '../../src/lab/metal/metal3/controllers.ts';
import { LabRegistry } from '../../src/lab/metal/registry/lab-registry.ts';
import type { HttpCall } from '../../src/oci/http-call.ts';
import { ListeningWorkloads } from './agent-oracle-workloads.ts';
import { NO_BUNDLE } from './agent-programs.ts';
import { scratchDirectory } from './scratch.ts';

const clock = new SystemClock();
const ASSISTED_URL = 'https://assisted.example.com';
/** Installations of the better part of an hour take seconds. */
const PACE = 0.005;
const HOST_MS = 100;

/** Everything around the hub but Cluster API itself, on the time of this machine. */
export interface OracleOutside extends AsyncDisposable {
  readonly hosts: Hosts;
  readonly workloads: ListeningWorkloads;
  /** To assisted-service and the registry. */
  readonly http: HttpCall;
}

/** Metal3, assisted-service, machines and a registry, as the administrator of the kubeconfig. */
export async function startOutside(
  client: KubeClient,
  kubeconfigFlag: string,
  more: (workloads: ListeningWorkloads) => readonly Controller[] = () => [],
): Promise<OracleOutside> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.use(await scratchDirectory());
  const registry = new LabRegistry({ clock });
  const address = { baseUrl: ASSISTED_URL, secret: 'test' };
  const rest = assistedRest({ client, address });
  const http: HttpCall = (request) => (request.url.startsWith(ASSISTED_URL) ? rest : registry.call)(request);
  const versionOfImage = (image: string) => Promise.resolve(registry.versionOfImage(image));
  const workloads = parts.use(new ListeningWorkloads());
  parts.use(workloads.useReleases(async (image) => (await versionOfImage(image))?.version));
  const identify = scriptedIdentity({ directory: scratch.path });
  const hosts = parts.use(new Hosts({ http, clock, pace: PACE, clusters: workloads, identify }));
  const connectWorkload = (kubeconfig: string): Promise<KubeClient> => workloads.connect(kubeconfig);
  const pace = {
    registering: HOST_MS,
    inspecting: HOST_MS,
    preparing: HOST_MS,
    provisioning: HOST_MS,
    deprovisioning: HOST_MS,
  };
  const controllers = [
    ...metal3Controllers({ hosts, connectWorkload, pace }),
    ...assistedControllers({ address, clusters: workloads, hosts, versionOfImage, pace: PACE }),
    ...more(workloads),
  ];
  await startManager(controllers, kubeconfigFlag, parts);
  const all = parts.move();
  return { hosts, workloads, http, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function startManager(
  controllers: readonly Controller[],
  kubeconfigFlag: string,
  parts: AsyncDisposableStack,
): Promise<void> {
  const kube = await loadKubeconfig({ env: {}, homeDir: homedir(), kubeconfigFlag });
  const stop = new AbortController();
  const manager = parts.use(createManager({ kube, name: 'stand-ins', clock, log: SILENT_LOG, selfCheck: false }));
  for (const controller of controllers) manager.add(controller);
  const ended = manager.start(stop.signal);
  parts.defer(async () => {
    stop.abort();
    await ended.catch(() => {});
  });
  await Promise.race([manager.whenReady(), ended]);
}

/** A provider, or both, that runs in this process as it would in a pod. */
export interface OracleProgram extends AsyncDisposable {
  readonly log: string;
  stop(): Promise<ExitCode>;
}

export interface OracleProgramOptions {
  readonly providers: readonly Provider[];
  readonly argv: readonly string[];
  readonly outside: Pick<OracleOutside, 'http'>;
  /** Instead of what the flags lead to. */
  readonly kube?: Transport;
}

/** The way to installed clusters is its own, through the kubeconfigs that are published for them. */
export function startProviders({ providers, argv, outside, kube }: OracleProgramOptions): OracleProgram {
  const end = new AbortController();
  let log = '';
  const exit = agent.run(
    {
      argv: ['--metrics-bind-address=0', '--health-probe-bind-address=0', '--logging-format=json', ...argv],
      env: NO_BUNDLE,
      homeDir: homedir(),
      version: '0.0.0',
      clock,
      signal: end.signal,
      stdout: () => {},
      stderr: (text) => {
        log += text;
      },
      http: outside.http,
      ...(kube !== undefined && { kube }),
    },
    providers,
  );
  const stop = async (): Promise<ExitCode> => {
    end.abort();
    return await exit;
  };
  return {
    get log() {
      return log;
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

/** Polls; rejects with what was not so, and what `explain` finds. */
export async function eventually(
  what: string,
  isTrue: () => Promise<boolean>,
  { seconds = 120, explain = () => Promise.resolve('') }: EventuallyOptions = {},
): Promise<void> {
  for (const beganMs = performance.now(); !(await isTrue().catch(() => false)); await clock.sleep(250)) {
    if (performance.now() - beganMs > seconds * 1000)
      throw new Error(`not within ${seconds} s: ${what}\n${await explain()}`);
  }
}

interface EventuallyOptions {
  readonly seconds?: number;
  readonly explain?: () => Promise<string>;
}

interface Told {
  readonly phase?: string;
  readonly conditions?: readonly Readonly<Record<'type' | 'status' | 'reason' | 'message', string | undefined>>[];
}

/** Some lines for each object, for people who look for why a test has failed. */
export function conditionLines(objects: readonly KubeObject[]): string {
  return objects
    .map((object) => {
      const { phase = '', conditions = [] } = (object as KubeObject & { readonly status?: Told }).status ?? {};
      const told = conditions.map((one) => `${one.type}=${one.status} ${one.reason} ${one.message ?? ''}`);
      return `${object.kind} ${object.metadata.name} ${phase}\n  ${told.join('\n  ')}`;
    })
    .join('\n');
}

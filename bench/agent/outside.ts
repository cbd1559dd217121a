import { ScaledClock, SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { createManager } from '../../src/kube/manager/create-manager.ts';
import type { Transport } from '../../src/kube/transport/transport.ts';
import { assistedControllers } from '../../src/lab/metal/assisted/controllers.ts';
import { assistedRest } from '../../src/lab/metal/assisted/rest.ts';
import { type RestServer, startRestServer } from '../../src/lab/metal/assisted/rest-server.ts';
import { coreControllers } from '../../src/lab/metal/core/controllers.ts';
import { Hosts } from '../../src/lab/metal/host/hosts.ts';
import type { IdentityReader } from '../../src/lab/metal/host/node-identity.ts';
import { metal3Controllers } from '../../src/lab/metal/metal3/controllers.ts';
import { USUAL_PACE } from '../../src/lab/metal/metal3/host-states.ts';
import { LabRegistry } from '../../src/lab/metal/registry/lab-registry.ts';
import { startRegistryServer } from '../../src/lab/metal/registry/registry-server.ts';
import { InProcessWorkloads } from '../../src/lab/metal/workload/in-process-workloads.ts';
import type { HttpCall } from '../../src/oci/http-call.ts';

/** What the scripts of a host would find out. Running them takes longer than all the rest, and is not the question. */
export const toldByMetal3: IdentityReader = async ({ host: { name, metadata } }) => ({
  hostname: name,
  labels: { 'metal3.io/uuid': metadata['uuid'] ?? '' },
  problems: [],
  notRun: [],
});

export interface OutsideOptions {
  /** To the hub, as an administrator. */
  readonly transport: Transport;
  /** Where the API server of the cluster that is installed will listen. */
  readonly workloadPort: number;
  /** Multiplies how long machines and their installation take. */
  readonly pace: number;
}

/** Cluster API, Metal3, assisted-service and a registry at work for a hub, as fast as they may be. */
export interface Outside extends AsyncDisposable {
  /** `host:port/repository`. */
  readonly releaseRepository: string;
  /** On loopback, that both providers need. */
  readonly ports: readonly number[];
}

/** Controllers of others look again after 10 or 30 seconds at what nobody tells them of; here that is soon. */
const HASTE = 20;

const HOST = '127.0.0.1';
const ANY_PORT = { host: HOST, port: 0 };

/** On the clock of this machine, and reached over sockets. */
export async function startOutside({ transport, workloadPort, pace }: OutsideOptions): Promise<Outside> {
  await using parts = new AsyncDisposableStack();
  const [clock, log] = [new SystemClock(), SILENT_LOG];
  const now = clock.now();
  const hasty = new ScaledClock({ factor: HASTE, start: now, hostStart: now });
  const client = createClient({ transport, fieldManager: 'bench', clock, log });
  const registry = new LabRegistry({ clock });
  const registryServer = parts.use(await startRegistryServer({ registry, listen: ANY_PORT, log }));
  const { address, rest } = await startAssisted(client, parts);
  const versionOfImage = async (image: string) => registry.versionOfImage(image);
  const workloads = parts.use(
    new InProcessWorkloads({
      clock,
      listen: { host: HOST, port: workloadPort },
      versionOfImage: async (image) => (await versionOfImage(image))?.version,
    }),
  );
  const slowPace = pace * HASTE;
  const hosts = parts.use(
    new Hosts({ http: rest, clock: hasty, pace: slowPace, clusters: workloads, identify: toldByMetal3 }),
  );
  const connectWorkload = (kubeconfig: string): Promise<KubeClient> => workloads.connect(kubeconfig);
  const hostPace = Object.fromEntries(Object.entries(USUAL_PACE).map(([state, ms]) => [state, ms * slowPace]));
  const manager = createManager({
    kube: transport,
    name: 'bench-outside',
    clock: hasty,
    log,
    selfCheck: false,
  });
  for (const controller of [
    ...coreControllers({ connectWorkload }),
    ...metal3Controllers({ hosts, connectWorkload, pace: hostPace }),
    ...assistedControllers({ address, clusters: workloads, hosts, versionOfImage, pace: slowPace }),
  ])
    manager.add(controller);
  const stop = new AbortController();
  const running = manager.start(stop.signal);
  parts.defer(() => running);
  parts.defer(() => stop.abort());
  await manager.whenReady();
  const all = parts.move();
  return {
    releaseRepository: `${registryServer.host}/openshift-release-dev/ocp-release`,
    ports: [portOf(`http://${registryServer.host}`), portOf(address.baseUrl), workloadPort],
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Its address is in what it answers, and known only when it listens. */
async function startAssisted(client: KubeClient, parts: AsyncDisposableStack) {
  const started = Promise.withResolvers<HttpCall>();
  const front: HttpCall = async (request) => (await started.promise)(request);
  const server: RestServer = parts.use(await startRestServer({ rest: front, listen: ANY_PORT, log: SILENT_LOG }));
  const address = { baseUrl: server.url, secret: 'bench' };
  const rest = assistedRest({ client, address });
  started.resolve(rest);
  return { address, rest };
}

export const portOf = (url: string): number => Number(new URL(url).port);

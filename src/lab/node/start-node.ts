import type { Pod } from '../../api/generated/core-v1-types.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { isNetwork } from '../../kube/client/api-error.ts';
import { createClient } from '../../kube/client/create-client.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { createEventRecorder } from '../../kube/events/create-event-recorder.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import type { AddressPlan, LabAddress } from '../address/address-plan.ts';
import type { LabClock } from '../clock/lab-clock.ts';
import { withDevices } from './devices/device-starts.ts';
import { resolveStart } from './environment/start-resolution.ts';
import { liveStartSources, type StartSources } from './environment/start-sources.ts';
import { HostPorts } from './host-ports/host-ports.ts';
import type { PodParts } from './kubelet/pod-parts.ts';
import { type NodePods, startPods } from './kubelet/start-pods.ts';
import { LateTransport } from './late-transport.ts';
import { ContainerLogs } from './logs/container-logs.ts';
import { NodeEntry } from './node-entry.ts';
import { type NodePlugins, startNodePlugins } from './plugins/start-node-plugins.ts';
import { createProber } from './probes/container-prober.ts';
import { grpcCheck } from './probes/grpc-check.ts';
import { hostSystem } from './registration/host-system.ts';
import { basicFacts, factsWith, type NodeFactsProvider } from './registration/node-facts.ts';
import type { NodeSettings } from './registration/node-object.ts';
import type { WayIn } from './registration/way-in.ts';
import type { ContainerRuntime } from './runtime/container-runtime.ts';
import type { NodeServe } from './server/node-request.ts';
import { nodeRoutes } from './server/node-routes.ts';
import { NODE_PORT, startOwnServer } from './server/start-own-server.ts';
import { startStaticPods } from './static-pods/manifest-directory.ts';
import { podVolumes } from './volumes/live-pod-volumes.ts';
import { provideSystemTrust } from './volumes/system-trust.ts';

export interface NodeOptions {
  readonly settings: NodeSettings & { readonly address: LabAddress };
  /** Everything that the node has on this machine is below; kept between starts. */
  readonly root: string;
  readonly way: WayIn;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly runtime: ContainerRuntime;
  readonly plan: AddressPlan;
  readonly clock: LabClock;
  readonly real: Clock;
  readonly log: Log;
  readonly crashLoopMaxMs: number;
  readonly maxGraceMs: number;
  /** Serves the node over HTTPS to an API server outside of this process, which an authority vouches for (N40). */
  readonly server?: { readonly clientCaPem: string };
}

/** A node that runs. Disposing it ends its work in the cluster; its processes end with the process host. */
export interface RunningNode extends AsyncDisposable {
  readonly name: string;
  readonly address: LabAddress;
  /** What its server answers (N40). */
  readonly serve: NodeServe;
  readonly pods: NodePods;
  /** It is in its cluster and knows its pods. Rejects when it never will be. Static pods do not wait for it (N37). */
  readonly ready: Promise<void>;
  /** Neither Lease nor status until `resumeHeartbeat` (N6). */
  stopHeartbeat(): Promise<void>;
  resumeHeartbeat(): void;
  /** No way to the API server while it is on; containers run on. */
  partition(isOn: boolean): void;
}

/** Versions are only known when the server answers; what runs before that is asked by a kubelet of this one. */
const PROBE_VERSION = '1.36';

/** Starts a node (§3): static pods at once, the rest when the API server answers. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { settings, root, clock, real, plan, server } = options;
  const { name } = settings;
  const log = options.log.child({ node: name });
  await using parts = new AsyncDisposableStack();
  const stop = new AbortController();
  const late = new LateTransport();
  const { client, events } = parts.use(startVoice(name, { clock, log, transport: late.transport }));
  const common = { root, clock, real, log, events, hold: (reason: string) => clock.hold(reason) };
  await provideSystemTrust(root);
  const staticPods = parts.use(await startStaticPods({ ...common, node: name }));
  const logs = parts.use(new ContainerLogs({ root, clock, log }));
  const met: { pods?: NodePods } = {};
  const plugins = parts.use(
    await startNodePlugins({ ...common, node: name, client, pods: () => met.pods?.pods.filter(isActive) }),
  );
  const { devices, claims, controllers } = plugins;
  const facts = await factsOf(options, plugins);
  const volumes = parts.use(podVolumes({ ...common, client, claims }));
  const sources = liveStartSources({ client, node: () => seenByPods(settings.address, facts) });
  const entry = parts.use(new NodeEntry({ ...options, log }, { late, facts, staticPods, controllers }));
  const place = { name, address: settings.address };
  const pods = parts.use(
    startPods({
      ...options,
      ...withDevices({ volumes, resolveStart: startsFrom(sources) }, devices),
      log,
      events,
      client,
      staticPods,
      node: { ...place, root },
      self: () => devices.nodeForAdmission(entry.node),
      admitDevices: (pod) => devices.admit(pod),
      startProbes: proberOf(options),
      openLog: (pod, container, run) => logs.open({ pod, container: container.name }, run),
      keepLogs: (uids) => logs.keepOnly(uids),
      addresses: plan,
      hostPorts: parts.use(new HostPorts({ ...options, node: place, log })),
    }),
  );
  const started = entry.start(stop.signal).then(() => pods.synced);
  const ready = started.then(() => void (met.pods = pods));
  ready.catch(() => {});
  // Whoever still waits for the API server gives up first.
  parts.defer(() => stop.abort(new Error(`node ${name} has ended`)));
  const serve = nodeRoutes({ node: { name, startedAt: clock.now() }, pods: () => pods.pods, logs, clock });
  if (server !== undefined) parts.use(await startOwnServer({ ...common, ...settings, ...server, plan, serve }));
  const running = parts.move();
  return {
    ...place,
    pods,
    ready,
    serve,
    stopHeartbeat: () => entry.stopHeartbeat(),
    resumeHeartbeat: () => entry.resumeHeartbeat(),
    partition: (isOn) => entry.partition(isOn),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const proberOf = ({ clock, real, plan, settings: { address } }: NodeOptions) =>
  createProber({
    clock,
    real,
    version: PROBE_VERSION,
    plan,
    // In mode `ports` the wire address is that of everybody.
    nodeWire: plan.mode === 'ports' ? address.api : address.wire,
    grpcCheck: grpcCheck(real),
  });

interface Voice extends AsyncDisposable {
  readonly client: KubeClient;
  readonly events: EventRecorder;
}

/** How a node speaks to its API server. Disposing it lets the last events out. */
function startVoice(name: string, way: Pick<NodeOptions, 'clock' | 'log'> & { transport: Transport }): Voice {
  const stop = new AbortController();
  const client = createClient({ fieldManager: 'slipway/lab/node', ...way });
  const events = createEventRecorder({
    client,
    controller: 'kubelet',
    instance: `kubelet-${name}`,
    metrics: new PrometheusMetrics(),
    distinctNotes: true,
    ...way,
  });
  const telling = events.run(stop.signal);
  return {
    client,
    events,
    [Symbol.asyncDispose]: async () => {
      stop.abort(new Error(`node ${name} has ended`));
      await telling;
    },
  };
}

const seenByPods = ({ api }: LabAddress, facts: NodeFactsProvider) => {
  const { capacity, allocatable } = facts();
  return { hostIPs: [api], allocatable: { ...capacity, ...allocatable } };
};

const isStatic = ({ metadata }: Pod): boolean => metadata.annotations?.['kubernetes.io/config.source'] === 'file';

const startsFrom =
  (sources: StartSources): PodParts['resolveStart'] =>
  (pod, container) =>
    resolveStart(pod, container, isStatic(pod) ? withoutServer(sources) : sources);

/** A static pod runs without an API server (N37): it then sees no services. */
function withoutServer(sources: StartSources): StartSources {
  const unlessAway = async <T>(asked: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await asked;
    } catch (error) {
      if (isNetwork(error)) return otherwise;
      throw error;
    }
  };
  return {
    ...sources,
    service: (key) => unlessAway(sources.service(key), undefined),
    services: (namespace) => unlessAway(sources.services(namespace), []),
  };
}

/** Whether it may still hold devices. */
const isActive = ({ status }: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

async function factsOf(
  { settings, plan, capacity, runtime, server }: NodeOptions,
  plugins: NodePlugins,
): Promise<NodeFactsProvider> {
  const system = await hostSystem(`${plan.octet}/${settings.name}`);
  const { images } = runtime;
  const basic = { system, images, ...(capacity !== undefined && { capacity }) };
  const portOf = () => plan.target({ host: settings.address.api, port: NODE_PORT }).port;
  return () => {
    const served = server === undefined ? {} : { kubeletPort: portOf() };
    return factsWith(basicFacts({ ...basic, ...served }), plugins.facts());
  };
}

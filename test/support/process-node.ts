import { dirname, join } from 'node:path';
import process from 'node:process';
import { type Node, Pod } from '../../src/api/generated/core-v1.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { createEventRecorder } from '../../src/kube/events/create-event-recorder.ts';
import { PrometheusMetrics } from '../../src/kube/metrics/metrics.ts';
import { Activity } from '../../src/kube/quiet/activity.ts';
import { type StartedAddressPlan, startAddressPlan } from '../../src/lab/address/start-address-plan.ts';
import { AutoLabClock } from '../../src/lab/clock/auto-lab-clock.ts';
import { type NodePods, startPods } from '../../src/lab/node/kubelet/start-pods.ts';
import { ContainerLogs } from '../../src/lab/node/logs/container-logs.ts';
import { createProber } from '../../src/lab/node/probes/container-prober.ts';
import { containerRuntime } from '../../src/lab/node/runtime/chosen-runtime.ts';
import type { ImageCatalogue } from '../../src/lab/node/runtime/image-catalogue.ts';
import { processRuntime } from '../../src/lab/node/runtime/process-runtime.ts';
import { simulatedRuntime } from '../../src/lab/node/runtime/simulated-runtime.ts';
import { podVolumes } from '../../src/lab/node/volumes/live-pod-volumes.ts';
import type { ProcessHost } from '../../src/lab/process/process-host.ts';
import { startProcessHost } from '../../src/lab/process/start-process-host.ts';
import { scratchDirectory } from './scratch.ts';

const NODE = 'n1';
const LONGEST_MS = 10 * 60_000;

/** A node whose containers are processes of this machine, on automatic time against an API server in this process. */
export interface ProcessNode extends AsyncDisposable {
  readonly client: KubeClient;
  readonly clock: AutoLabClock;
  readonly host: ProcessHost;
  readonly pods: NodePods;
  readonly plan: StartedAddressPlan;
  create(name: string, spec: Omit<Pod['spec'], 'nodeName'>): Promise<Pod>;
  pod(name: string): Promise<Pod | undefined>;
  /** Lets lab time pass until the pod is so. */
  until(name: string, isSo: (pod: Pod | undefined) => boolean): Promise<void>;
  log(name: string, container: string, run?: number): Promise<string>;
}

export async function processNode(catalogue: ImageCatalogue, maxGraceMs = 2000): Promise<ProcessNode> {
  await using started = new AsyncDisposableStack();
  const { path } = started.use(await scratchDirectory());
  const real = new SystemClock();
  const activity = new Activity();
  const log = SILENT_LOG;
  const clock = started.use(new AutoLabClock({ start: real.now(), seed: 1, activity }));
  const server = started.use(
    await startApiServer({ storage: 'memory', listen: false, clock, auth: { mode: 'AlwaysAllow' } }),
  );
  const client = createClient({ transport: activity.around(server.client()), fieldManager: 'test', clock, log });
  const plan = started.use(await startAddressPlan({ directory: path }));
  const host = started.use(
    await startProcessHost({
      directory: join(path, 'lab'),
      isEphemeral: false,
      isolation: 'rewrite',
      stopGraceMs: 500,
      preload: new URL('../../src/lab/process/preload.ts', import.meta.url).href,
      environment: plan.environment,
      real,
      log,
      identity: `test-${real.uuid()}`,
    }),
  );
  const root = join(path, 'n');
  const stop = new AbortController();
  const events = createEventRecorder({
    client,
    clock,
    log,
    metrics: new PrometheusMetrics(),
    controller: 'kubelet',
    instance: NODE,
  });
  const recording = events.run(stop.signal);
  started.defer(async () => {
    stop.abort();
    await clock.through(recording, LONGEST_MS);
  });
  const logs = started.use(new ContainerLogs({ root, clock, log }));
  const volumes = started.use(podVolumes({ root, client, clock, real, log, events }));
  const address = plan.node(1, 1);
  const node = (): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: NODE }, spec: {} });
  const processes = processRuntime({ host, clock, real, path: `${dirname(process.execPath)}:/usr/bin:/bin` });
  const pods = started.use(
    startPods({
      client,
      clock,
      real,
      log,
      events,
      volumes,
      maxGraceMs,
      addresses: plan,
      crashLoopMaxMs: 300_000,
      node: { name: NODE, address, root },
      self: node,
      runtime: containerRuntime({
        catalogue,
        processes,
        simulated: simulatedRuntime(clock),
        unknownImages: 'simulate',
      }),
      startProbes: createProber({ clock, real, version: '1.38', plan, nodeWire: address.wire }),
      resolveStart: async (_pod, { command, args, env = [] }) => ({
        env: Object.fromEntries(env.map(({ name, value = '' }) => [name, value])),
        ...(command !== undefined && { command }),
        ...(args !== undefined && { args }),
      }),
      openLog: (pod, { name }, run) => logs.open({ pod, container: name }, run),
    }),
  );
  await clock.through(pods.synced, LONGEST_MS);
  const owned = started.move();
  const find = (name: string) => client.find(Pod, { namespace: 'default', name });
  return {
    client,
    clock,
    host,
    pods,
    plan,
    pod: find,
    create: (name, spec) =>
      client.create(Pod, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'default', name },
        spec: { automountServiceAccountToken: false, ...spec, nodeName: NODE },
      }),
    until: async (name, isSo) => {
      const endMs = clock.monotonicMs() + LONGEST_MS;
      while (!isSo(await find(name))) {
        if (clock.monotonicMs() > endMs) throw new Error(`not so: ${JSON.stringify((await find(name))?.status)}`);
        await clock.advance(100);
      }
    },
    log: async (name, container, run = 0) => {
      const pod = await find(name);
      if (pod === undefined) throw new Error(`no pod ${name}`);
      const chunks: Uint8Array[] = [];
      for await (const chunk of logs.read({ pod, container }, run, {})) chunks.push(chunk);
      return Buffer.concat(chunks).toString('utf8');
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

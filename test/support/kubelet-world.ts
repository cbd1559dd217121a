import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ContainerState,
  type ContainerStateTerminated,
  type ContainerStatus,
  type Node,
  Pod,
  type PodStatus,
} from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import { ClusterRoleBinding } from '../../src/api/generated/rbac-v1.ts';
import type { Clock } from '../../src/base/clock.ts';
import { type Log, SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import { createEventRecorder } from '../../src/kube/events/create-event-recorder.ts';
import { PrometheusMetrics } from '../../src/kube/metrics/metrics.ts';
import type { Transport } from '../../src/kube/transport/transport.ts';
import type { AddressPlan } from '../../src/lab/address/address-plan.ts';
import { every } from '../../src/lab/clock/every.ts';
import { milliseconds, timeUntil } from '../../src/lab/clock/idle.ts';
import type { LabClock } from '../../src/lab/clock/lab-clock.ts';
import {
  type NodePods,
  type PodsOptions,
  type StaticPods,
  startPods,
} from '../../src/lab/node/kubelet/start-pods.ts';
import type { ContainerLog } from '../../src/lab/node/logs/container-log.ts';
import { createProber } from '../../src/lab/node/probes/container-prober.ts';
import type {
  ContainerProbes,
  Probed,
  ProbeEvents,
  ProbeState,
  StartProbes,
} from '../../src/lab/node/probes/prober.ts';
import { containerRuntime } from '../../src/lab/node/runtime/chosen-runtime.ts';
import type { ImageCatalogue } from '../../src/lab/node/runtime/image-catalogue.ts';
import { processRuntime } from '../../src/lab/node/runtime/process-runtime.ts';
import { simulatedRuntime } from '../../src/lab/node/runtime/simulated-runtime.ts';
import type { PodVolumes } from '../../src/lab/node/volumes/pod-volumes.ts';
import { TestEnv } from '../../src/testing/test-env.ts';
import { PretendHost } from './pretend-host.ts';

/** The clock of a test environment as a lab has it. */
export const labClockOf = (
  env: Pick<TestEnv, 'activity' | 'settle' | 'advance' | 'throughTime'>,
  clock: Clock,
): LabClock => ({
  mode: 'auto',
  factor: 1,
  now: () => clock.now(),
  monotonicMs: () => clock.monotonicMs(),
  sleep: (ms, signal) => clock.sleep(ms, signal),
  timer: (ms, fire) => clock.timer(ms, fire),
  random: () => clock.random(),
  uuid: () => clock.uuid(),
  interval: (ms, fire) => every(clock, ms, fire),
  hold: (reason) => env.activity.hold(reason),
  follow: () => ({ settled: () => {}, [Symbol.dispose]: () => {} }),
  settle: () => env.settle(),
  advance: (time) => env.advance(milliseconds(time)),
  advanceTo: (moment) => env.advance(timeUntil(clock, moment)),
  runUntilIdle: () => Promise.reject(new Error('only a whole lab is idle')),
  through: (promise) => env.throughTime(promise),
  [Symbol.asyncDispose]: async () => {},
});

/** Volumes that are nowhere. */
export class PretendVolumes implements PodVolumes {
  readonly laidOut = new Set<string>();
  /** Thrown by the next calls of `setUp`, one each. */
  readonly problems: Error[] = [];
  /** Thrown by the next calls of `tearDown`. */
  readonly tearDownProblems: Error[] = [];
  readonly seen: Pod[] = [];

  async setUp(pod: Pod): Promise<void> {
    this.seen.push(pod);
    const problem = this.problems.shift();
    if (problem !== undefined) throw problem;
    this.laidOut.add(pod.metadata.uid ?? '');
  }

  async mountsFor() {
    return [];
  }

  async tearDown(uid: string): Promise<void> {
    const problem = this.tearDownProblems.shift();
    if (problem !== undefined) throw problem;
    this.laidOut.delete(uid);
  }

  async known() {
    return [...this.laidOut];
  }
}

const PLAN: Pick<AddressPlan, 'mode' | 'owns' | 'target'> = {
  mode: 'loopback',
  owns: () => true,
  target: (to) => to,
};

/** Probes that a test answers. */
export class PretendProbes {
  readonly #runs: { readonly name: string; state: ProbeState; readonly events: ProbeEvents; calls: string[] }[] =
    [];
  /** Of containers that start from now on. */
  initial: ProbeState = { isStarted: true, isReady: true };

  /** Those of simulated containers go by the clock. */
  startAt =
    (clock: LabClock): StartProbes =>
    (probed, events) =>
      probed.run.isSimulated
        ? createProber({ clock, real: clock, version: '1', nodeWire: '127.16.1.1', plan: PLAN })(probed, events)
        : this.#start(probed, events);

  #start({ container }: Probed, events: ProbeEvents): ContainerProbes {
    const run = { name: container.name, state: this.initial, events, calls: [] as string[] };
    this.#runs.push(run);
    return {
      get state() {
        return run.state;
      },
      nudge: () => void run.calls.push('nudge'),
      terminating: () => void run.calls.push('terminating'),
      [Symbol.dispose]: () => void run.calls.push('disposed'),
    };
  }

  /** Of the newest run of a container. */
  of(name: string) {
    const run = this.#runs.findLast((one) => one.name === name);
    if (run === undefined) throw new Error(`nobody probes ${name}`);
    return {
      calls: run.calls,
      events: run.events,
      become: (state: ProbeState) => {
        run.state = state;
        run.events.changed();
      },
    };
  }
}

/** Addresses 10.16.32.1 and so on. */
export function pretendAddresses(): Pick<AddressPlan, 'pods' | 'owns' | 'toWire' | 'target'> & {
  readonly taken: Set<string>;
} {
  const taken = new Set<string>();
  let last = 0;
  return {
    taken,
    owns: (address) => address.startsWith('10.16.'),
    toWire: (address) => address.replace(/^10\./, '127.'),
    target: (to) => to,
    pods: {
      take: () => {
        do last++;
        while (taken.has(`10.16.32.${last}`));
        taken.add(`10.16.32.${last}`);
        return { api: `10.16.32.${last}`, wire: `127.16.32.${last}` };
      },
      keep: (api) => {
        taken.add(api);
        return true;
      },
      release: (api) => void taken.delete(api),
    },
  };
}

export interface MemoryLog extends ContainerLog {
  readonly lines: string[];
  isOver: boolean;
}

export function memoryLog(path: string): MemoryLog {
  const lines: string[] = [];
  return {
    path,
    lines,
    isOver: false,
    line: (text) => void lines.push(text),
    write: (_stream, bytes) => {
      lines.push(Buffer.from(bytes).toString('utf8'));
      return true;
    },
    drained: async () => {},
    end() {
      this.isOver = true;
    },
    tail: async (count) => lines.slice(-count).join('\n'),
  };
}

export interface KubeletOptions {
  readonly catalogue?: ImageCatalogue;
  readonly unknownImages?: 'simulate' | 'fail';
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly staticPods?: StaticPods;
  readonly crashLoopMaxMs?: number;
  readonly maxGraceMs?: number;
  readonly admitDevices?: PodsOptions['admitDevices'];
  readonly keepLogs?: PodsOptions['keepLogs'];
  readonly log?: Log;
}

const DEFAULTS = {
  catalogue: {},
  unknownImages: 'simulate',
  log: SILENT_LOG,
  crashLoopMaxMs: 300_000,
  maxGraceMs: 60_000,
} as const;

export const NODE = 'n1';
const USER = { name: `system:node:${NODE}`, groups: ['system:nodes', 'system:authenticated'] };

export interface Brief {
  readonly pod: PodStatus;
  readonly restartCount: number;
  readonly ready: boolean;
  /** Reason, empty when it does not wait, and message. */
  readonly waiting: string;
  readonly message: string;
  /** How it ended; code -1 when it did not. */
  readonly ended: ContainerStateTerminated;
  readonly last: ContainerStateTerminated;
}

const NOTHING: ContainerStatus = { name: '', image: '', imageID: '', ready: false, restartCount: 0 };
const NOT_ENDED = { exitCode: -1 };

function containerBrief({ state, lastState, restartCount, ready }: ContainerStatus): Omit<Brief, 'pod'> {
  const { reason = '', message = '' } = state?.waiting ?? {};
  return { restartCount, ready, waiting: reason, message, ended: endIn(state), last: endIn(lastState) };
}

const endIn = (state: ContainerState | undefined): ContainerStateTerminated => state?.terminated ?? NOT_ENDED;

/** A node whose pods run on virtual time against a real API server, with the rights that a cluster gives to nodes. */
export class KubeletWorld implements AsyncDisposable {
  readonly env: TestEnv;
  /** Of the node, on this machine. */
  readonly root: string;
  readonly host = new PretendHost();
  readonly volumes = new PretendVolumes();
  readonly probes = new PretendProbes();
  readonly logs: MemoryLog[] = [];
  addresses = pretendAddresses();
  /** What a container starts with; may throw. */
  resolveStart: PodsOptions['resolveStart'] = async (_pod, { command, args }) => ({
    env: {},
    ...(command !== undefined && { command }),
    ...(args !== undefined && { args }),
  });
  readonly #options: KubeletOptions;
  readonly #stop = new AbortController();
  readonly #recording: Promise<void>[] = [];
  #pods: NodePods | undefined;

  private constructor(env: TestEnv, root: string, options: KubeletOptions) {
    this.env = env;
    this.root = root;
    this.#options = options;
  }

  static async start(options: KubeletOptions = {}): Promise<KubeletWorld> {
    const env = await TestEnv.start();
    await env.client.create(ClusterRoleBinding, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'nodes' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:nodes' }],
    });
    const world = new KubeletWorld(env, await mkdtemp(join(tmpdir(), 'slipway-kubelet-')), options);
    await world.begin();
    return world;
  }

  get pods(): NodePods {
    if (this.#pods === undefined) throw new Error('the node is off');
    return this.#pods;
  }

  /** Another life of the node, after `powerOff` or `dispose`. */
  async begin(): Promise<void> {
    const { env } = this;
    const transport = env.faults.around(
      env.activity.around(env.recorder.around(env.server.client(USER.name, USER.groups))),
    );
    this.#pods = startPods(this.#parts(transport));
    await env.throughTime(this.#pods.synced);
    await env.settle();
  }

  /** The lab stops and starts again: its children are dead, its store is not (N18). */
  async restart(): Promise<void> {
    await this.pods[Symbol.asyncDispose]();
    this.host.killAll();
    this.addresses = pretendAddresses();
    await this.begin();
  }

  async create(
    name: string,
    spec: Omit<Pod['spec'], 'nodeName'>,
    metadata: Partial<Pod['metadata']> = {},
  ): Promise<Pod> {
    const pod = await this.env.client.create(Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'default', ...metadata, name },
      spec: { automountServiceAccountToken: false, ...spec, nodeName: NODE },
    });
    await this.env.settle();
    return pod;
  }

  async pod(name: string): Promise<Pod> {
    return await this.env.client.get(Pod, { namespace: 'default', name });
  }

  /** What the server has of a pod and of one of its containers, in short. */
  async brief(name: string, container = 'c'): Promise<Brief> {
    const { status: pod = {} } = await this.pod(name);
    const { initContainerStatuses = [], containerStatuses = [] } = pod;
    const found = [...initContainerStatuses, ...containerStatuses].find((one) => one.name === container);
    return { pod, ...containerBrief(found ?? NOTHING) };
  }

  find(name: string): Promise<Pod | undefined> {
    return this.env.client.find(Pod, { namespace: 'default', name });
  }

  async delete(name: string, gracePeriodSeconds?: number): Promise<void> {
    const options = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    await this.env.client.delete(Pod, { namespace: 'default', name }, options);
    await this.env.settle();
  }

  /** `Normal Started: Started container a`, oldest first; with ` (×2)` when it happened again. */
  async events(reason?: string): Promise<readonly string[]> {
    await this.env.settle();
    const { items } = await this.env.client.live.list(Event, { namespace: 'default' });
    return items
      .toSorted((a, b) => ((a.eventTime ?? '') < (b.eventTime ?? '') ? -1 : 1))
      .filter((event) => reason === undefined || event.reason === reason)
      .map(({ type, reason: why, note, series }) => {
        const times = series === undefined ? '' : ` (×${series.count})`;
        return `${type} ${why}: ${note}${times}`;
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pods?.[Symbol.asyncDispose]();
    this.#stop.abort();
    for (const recording of this.#recording) await this.env.throughTime(recording);
    await this.env[Symbol.asyncDispose]();
    await rm(this.root, { recursive: true });
  }

  #parts(transport: Transport): PodsOptions {
    const { env, root, host, volumes, probes, addresses } = this;
    const options = this.#options;
    const { catalogue, unknownImages, log, crashLoopMaxMs, maxGraceMs } = { ...DEFAULTS, ...options };
    const clock = labClockOf(env, env.clock);
    const client = createClient({ transport, fieldManager: 'slipway/lab/kubelet', clock, log });
    const events = createEventRecorder({
      client,
      clock,
      log,
      metrics: new PrometheusMetrics(),
      controller: 'kubelet',
      instance: NODE,
    });
    this.#recording.push(events.run(this.#stop.signal));
    const processes = processRuntime({ host, clock, real: env.clock, path: '/bin' });
    return {
      client,
      clock,
      real: env.clock,
      log,
      events,
      volumes,
      addresses,
      crashLoopMaxMs,
      maxGraceMs,
      node: { name: NODE, address: { api: '10.16.1.1', wire: '127.16.1.1' }, root },
      runtime: containerRuntime({ catalogue, processes, simulated: simulatedRuntime(clock), unknownImages }),
      startProbes: probes.startAt(clock),
      resolveStart: (pod, container) => this.resolveStart(pod, container),
      openLog: (pod, container, restartCount) => {
        const opened = memoryLog(`${pod.metadata.name}/${container.name}/${restartCount}`);
        this.logs.push(opened);
        return opened;
      },
      self: () => this.#node(),
      ...(options.staticPods !== undefined && { staticPods: options.staticPods }),
      ...(options.admitDevices !== undefined && { admitDevices: options.admitDevices }),
      ...(options.keepLogs !== undefined && { keepLogs: options.keepLogs }),
    };
  }

  #node(): Node {
    const { labels = {}, allocatable = { cpu: '4', memory: '8Gi', pods: '110' } } = this.#options;
    return { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE, labels }, spec: {}, status: { allocatable } };
  }
}

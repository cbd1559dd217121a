import { type Node, Pod } from '../../../api/generated/core-v1.ts';
import { messageOf } from '../../../base/errors.ts';
import type { ObjectEvent } from '../../../kube/cache/cache.ts';
import { createCache } from '../../../kube/cache/create-cache.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { ApiGate } from './api-gate.ts';
import { rejected, rejection } from './node-admission.ts';
import { holdTime, type PodParts } from './pod-parts.ts';
import type { EndReason } from './pod-status.ts';
import { PodWorker } from './pod-worker.ts';
import { StaticPodRecords } from './static-pod-records.ts';

/** Pods that files of the node tell of (N37). */
export interface StaticPods {
  pods(): readonly Pod[];
  /** `changed` is called when there may be others. */
  subscribe(changed: () => void): Disposable;
}

export interface PodsOptions extends PodParts {
  /** Acts as `system:node:<name>`. */
  readonly client: KubeClient;
  readonly staticPods?: StaticPods;
  /** Labels and what the node can give, for admission (N16). */
  readonly self: () => Node;
  /** Gives a pod the devices that it asks for, after everything else was found good; why it cannot, as a sentence. */
  readonly admitDevices?: (pod: Pod) => Promise<string | undefined>;
  /** Removes the logs of all pods but these: a log goes with the object of its pod. */
  readonly keepLogs?: (uids: ReadonlySet<string>) => Promise<void>;
}

/** The pods of one node. Disposing ends nothing that runs: the process host does that (P15). */
export interface NodePods extends AsyncDisposable {
  /** As the node sees them, whatever the server has. */
  readonly pods: readonly Pod[];
  /** Resolves when all pods are known that the server has for the node. */
  readonly synced: Promise<void>;
  /** Everything is dead at once, and nobody hears of it; what follows is a new start (N6, N18). */
  powerOff(): void;
  /** No way to the API server, while it is on; containers run on (N6). */
  partition(isOn: boolean): void;
}

/** Runs the pods that the API server and files give to a node. What an earlier life left behind is taken up (N18). */
export function startPods(options: PodsOptions): NodePods {
  const pods = new Pods(options);
  pods.start();
  return pods;
}

const MIRROR = 'kubernetes.io/config.mirror';

class Pods implements NodePods {
  readonly #options: PodsOptions;
  readonly #gate = new ApiGate();
  readonly #stop = new AbortController();
  readonly #met = Promise.withResolvers<void>();
  /** By uid; bounded by the pods of the node: each leaves when it is finished and its object is gone. */
  readonly #workers = new Map<string, PodWorker>();
  /** Uids whose object is there, or whose file is. */
  readonly #present = new Set<string>();
  /** Objects that show static pods, by namespace and name. */
  readonly #mirrors = new Map<string, Pod>();
  readonly #meeting: Pod[] = [];
  readonly #records: StaticPodRecords;
  #hasMet = false;
  #staticUids: ReadonlySet<string> = new Set();
  #running: Promise<void> | undefined;
  #files: Disposable | undefined;

  constructor(options: PodsOptions) {
    this.#options = options;
    this.#records = new StaticPodRecords(options.node.root, options.log);
  }

  /** Once. */
  start(): void {
    const { client, clock, log, node, staticPods } = this.#options;
    const live = this.#gate.around(client.live);
    const byKind = { pods: { fields: `spec.nodeName=${node.name}` } };
    const cache = createCache({ live, clock, log, options: { byKind, consistency: 'eventual' } });
    const subscription = cache.informer(Pod).subscribe((event) => this.#observe(event));
    this.#running = cache.run(this.#stop.signal);
    this.#files = staticPods?.subscribe(() => this.#readFiles());
    if (staticPods !== undefined)
      this.#records.keepOnly(new Set(staticPods.pods().map(({ metadata }) => metadata.uid ?? '')));
    this.#readFiles();
    this.#met.resolve(subscription.synced.then(() => this.#meet()));
    this.#met.promise.catch(() => {});
  }

  get pods(): readonly Pod[] {
    return [...this.#workers.values()].map((worker) => worker.current());
  }

  get synced(): Promise<void> {
    return this.#met.promise;
  }

  powerOff(): void {
    this.#end();
    for (const worker of this.#workers.values()) worker.powerOff();
  }

  partition(isOn: boolean): void {
    if (isOn) this.#gate.close();
    else this.#gate.open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    for (const worker of this.#workers.values()) worker[Symbol.dispose]();
    await this.#running;
  }

  #end(): void {
    this.#stop.abort(new Error('the node does not work any more'));
    this.#files?.[Symbol.dispose]();
  }

  #observe({ type, object }: ObjectEvent<Pod>): void {
    if (this.#stop.signal.aborted) return;
    if (object.metadata.annotations?.[MIRROR] !== undefined) return this.#mirror(object, type === 'delete');
    const { uid = '' } = object.metadata;
    if (type === 'delete') return this.#lose(uid, object);
    this.#present.add(uid);
    const worker = this.#workers.get(uid);
    if (worker !== undefined) return worker.update(object);
    if (this.#hasMet) this.#begin(object, false);
    else this.#meeting.push(object);
  }

  /** Those that run already come first: they need no permission, and others must fit in beside them. */
  async #meet(): Promise<void> {
    this.#hasMet = true;
    const rank = ({ status, metadata }: Pod) =>
      `${status?.startTime === undefined ? 1 : 0}${metadata.creationTimestamp ?? ''}`;
    const sorted = this.#meeting.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
    this.#meeting.length = 0;
    // One may have gone, or have a newer state by now.
    const newest = new Map(sorted.map((pod) => [pod.metadata.uid ?? '', pod]));
    for (const [uid, pod] of newest) if (this.#present.has(uid)) this.#begin(pod, false);
    await this.#tidy();
  }

  #begin(pod: Pod, isStatic: boolean): PodWorker {
    const { client, ...parts } = this.#options;
    const { uid = '' } = pod.metadata;
    const admit = (asked: Pod) => this.#admit(asked);
    const keep = (status: NonNullable<Pod['status']>) => this.#records.save(uid, status);
    const options = { parts, client, gate: this.#gate, isStatic, admit, ...(isStatic && { keep }) };
    const worker = new PodWorker(pod, options);
    this.#workers.set(uid, worker);
    void worker.finished.then(() => this.#leave(uid, worker));
    worker.start();
    return worker;
  }

  #lose(uid: string, last?: Pod): void {
    this.#present.delete(uid);
    const worker = this.#workers.get(uid);
    if (worker === undefined) return;
    worker.gone(last);
    // Its work may have been done long ago.
    void worker.finished.then(() => this.#leave(uid, worker));
  }

  #leave(uid: string, worker: PodWorker): void {
    // Nothing that ended comes back, but a file may: what it tells of has the same uid.
    const isBack = this.#staticUids.has(uid);
    if (this.#workers.get(uid) !== worker || (this.#present.has(uid) && !isBack)) return;
    this.#workers.delete(uid);
    this.#records.delete(uid);
    // A file may have waited for this.
    this.#readFiles();
    void this.#keepLogs();
  }

  async #keepLogs(): Promise<void> {
    const { keepLogs, log } = this.#options;
    if (keepLogs === undefined || !this.#hasMet || this.#stop.signal.aborted) return;
    using _hold = holdTime(this.#options, 'logs of pods that are gone');
    await keepLogs(new Set(this.#workers.keys())).catch((error: unknown) => {
      log.warn({ err: error }, 'Cannot remove the logs of pods that are gone');
    });
  }

  /** Never rejects: what cannot be found out is no reason to let a pod in. */
  async #admit(pod: Pod): Promise<EndReason | undefined> {
    try {
      return await this.#rejection(pod);
    } catch (error) {
      return rejected('UnexpectedAdmissionError', messageOf(error));
    }
  }

  async #rejection(pod: Pod): Promise<EndReason | undefined> {
    const { self, admitDevices } = this.#options;
    const { uid } = pod.metadata;
    const others = [...this.#workers.values()]
      .filter((worker) => worker.isActive)
      .map((worker) => worker.pod())
      .filter((other) => other.metadata.uid !== uid);
    const problem = rejection({ pod, node: self(), others });
    if (problem !== undefined) return problem;
    const why = await admitDevices?.(pod);
    return why === undefined ? undefined : rejected('UnexpectedAdmissionError', why);
  }

  #mirror(pod: Pod, isGone: boolean): void {
    const key = keyOf(pod);
    if (isGone) this.#mirrors.delete(key);
    else this.#mirrors.set(key, pod);
    for (const file of this.#options.staticPods?.pods() ?? [])
      if (keyOf(file) === key) this.#workers.get(file.metadata.uid ?? '')?.mirror(this.#mirrors.get(key));
  }

  /** Files decide: what they tell of runs, and what they do not tell of any more ends. */
  #readFiles(): void {
    if (this.#stop.signal.aborted) return;
    const files = this.#options.staticPods?.pods() ?? [];
    const uids = new Set(files.map(({ metadata }) => metadata.uid ?? ''));
    for (const uid of this.#staticUids) if (!uids.has(uid)) this.#lose(uid);
    this.#staticUids = uids;
    for (const pod of files) {
      const { uid = '' } = pod.metadata;
      this.#present.add(uid);
      if (this.#workers.has(uid) || this.#isEnding(keyOf(pod))) continue;
      this.#begin(this.#remembered(pod), true).mirror(this.#mirrors.get(keyOf(pod)));
    }
  }

  /** With what became of it in an earlier life (N18). */
  #remembered(pod: Pod): Pod {
    const status = this.#records.find(pod.metadata.uid ?? '');
    return status === undefined ? pod : { ...pod, status };
  }

  /** A static pod begins when nothing is left of the one that its file told of before: it wants the same ports. */
  #isEnding(key: string): boolean {
    return [...this.#workers].some(([uid, worker]) => !this.#present.has(uid) && keyOf(worker.pod()) === key);
  }

  /** Takes away what pods left behind that nobody knows any more. */
  async #tidy(): Promise<void> {
    const { volumes, log } = this.#options;
    using _hold = holdTime(this.#options, 'volumes of pods that are gone');
    for (const uid of await volumes.known()) {
      if (this.#workers.has(uid) || this.#stop.signal.aborted) continue;
      await volumes.tearDown(uid).catch((error: unknown) => {
        log.warn({ err: error, uid }, 'Cannot take the volumes of a pod away that is gone');
      });
    }
    await this.#keepLogs();
  }
}

const keyOf = ({ metadata: { namespace = '', name } }: Pod): string => `${namespace}/${name}`;

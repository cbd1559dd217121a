import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { JsonObject } from '../../../api/json.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { hasEnded } from '../../workloads/pods/pod-state.ts';
import type { ApiGate } from './api-gate.ts';
import { containerActions } from './container-actions.ts';
import { type ContainersSeen, UNSEEN } from './container-seen.ts';
import { type PodAround, PodContainer } from './pod-container.ts';
import { deletePod, stopInOrder } from './pod-departure.ts';
import { PodEvents } from './pod-events.ts';
import { type PodParts, podTitle } from './pod-parts.ts';
import { PodSandbox } from './pod-sandbox.ts';
import { DEADLINE_EXCEEDED, type EndReason, type OwnedStatus, type PodStage, podStatus } from './pod-status.ts';
import { PodStatusWriter } from './pod-status-writer.ts';
import { recoveredContainers } from './recovered-containers.ts';
import { podPatch } from './status-patch.ts';
import { activeUntilMs, graceMs, specGraceMs } from './termination-order.ts';

export interface PodWorkerOptions {
  readonly parts: PodParts;
  readonly client: Pick<KubeClient, 'patch' | 'delete' | 'live'>;
  readonly gate: ApiGate;
  /** Of a file of the node: nobody but the file decides about it (N37). */
  readonly isStatic: boolean;
  /** Keeps the status of a static pod for the next life of the node. */
  readonly keep?: (status: NonNullable<Pod['status']>) => void;
  /** Why the node does not take the pod (N16); undefined when it does. */
  readonly admit: (pod: Pod) => Promise<EndReason | undefined>;
}

/**
 * Keeps one pod as its newest object says, from the moment at which the node sees it until nothing of it is left. It
 * looks at what is and does what is missing: whatever woke it up, the same look follows.
 */
export class PodWorker implements PodAround {
  readonly parts: PodParts;
  readonly events: PodEvents;
  readonly #options: PodWorkerOptions;
  readonly #writer: PodStatusWriter;
  readonly #sandbox: PodSandbox;
  /** Bounded by the containers of the pod. */
  readonly #containers: ReadonlyMap<string, PodContainer>;
  readonly #off = new AbortController();
  readonly #deletion = Promise.withResolvers<void>();
  readonly #finished = Promise.withResolvers<void>();
  readonly #startTime: Date;
  #pod: Pod;
  #stage: PodStage = { kind: 'going' };
  /** It ended, and that was told, now or in an earlier life: its status is what it is. */
  #isFinal: boolean;
  #isAdmitted = false;
  #isGone = false;
  #isScheduled = false;
  /** Starts never reject. */
  #turn: Promise<void> = Promise.resolve();
  #timer: Disposable | undefined;

  constructor(pod: Pod, options: PodWorkerOptions) {
    const { parts, client, gate } = options;
    const { clock, log } = parts;
    this.parts = parts;
    this.#options = options;
    this.#pod = pod;
    this.#isFinal = hasEnded(pod);
    this.events = new PodEvents(parts.events, () => this.#pod);
    this.#startTime = pod.status?.startTime === undefined ? clock.now() : new Date(pod.status.startTime);
    this.#sandbox = new PodSandbox(parts, this.events, () => this.changed());
    this.#writer = new PodStatusWriter({
      client,
      gate,
      clock,
      log,
      signal: this.#off.signal,
      patchFor: (onServer) => this.#patchFor(onServer),
      wrote: () => {
        for (const container of this.#containers.values()) container.told();
      },
    });
    const seen = recoveredContainers(pod, clock.now());
    this.#containers = new Map(
      Object.keys(seen).map((name) => [name, new PodContainer(name, seen[name] ?? UNSEEN, this)]),
    );
  }

  /** Begins to work. Once. */
  start(): void {
    if (!this.#options.isStatic) this.#writer.observe(this.#pod);
    if (this.#isFinal) return this.#end({ kind: 'ended', ...endReason(this.#pod) });
    this.#sandbox.recover(this.#pod);
    if (this.#pod.status?.startTime === undefined) void this.#admit();
    else this.#isAdmitted = true;
    this.update(this.#pod);
  }

  /** Never rejects. */
  async #admit(): Promise<void> {
    const why = await this.#options.admit(this.#pod);
    this.#isAdmitted = true;
    if (!this.isGoing || this.isOff) return;
    if (why === undefined) return this.changed();
    this.events.warning(why.reason, why.message.replace('Pod was rejected: ', ''));
    this.#end({ kind: 'rejected', why });
  }

  /** Resolves when nothing of the pod is left on the node, and its object was deleted if it was to be. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  get isOff(): boolean {
    return this.#off.signal.aborted;
  }

  /** It takes of what the node has. */
  get isActive(): boolean {
    return this.isGoing || this.#stage.kind === 'ending';
  }

  get isGoing(): boolean {
    return this.#stage.kind === 'going';
  }

  get wire(): string {
    return (this.#sandbox.address ?? this.parts.node.address).wire;
  }

  pod(): Pod {
    return this.#sandbox.addressed(this.#pod);
  }

  /** The pod as the node sees it now, whatever the server has. */
  current(): Pod {
    const before = this.#pod.status ?? {};
    return this.#isToldFinally ? this.#pod : { ...this.#pod, status: { ...before, ...this.#status(before) } };
  }

  /** A newer object. */
  update(pod: Pod): void {
    if (!this.#options.isStatic) this.#writer.observe(pod);
    if (pod.metadata.deletionTimestamp !== undefined) this.#deletion.resolve();
    this.#follow(pod);
  }

  /** Its object is not there any more, and this was its last state: everything of it goes. */
  gone(last: Pod = this.#pod): void {
    this.#isGone = true;
    if (!this.#options.isStatic) this.#writer.forget();
    this.#deletion.resolve();
    this.#follow(last);
  }

  /** Of a static pod: the object that shows its status; undefined while there is none. */
  mirror(pod: Pod | undefined): void {
    if (pod === undefined) return this.#writer.forget();
    this.#writer.observe(pod);
    this.changed();
  }

  changed(): void {
    if (this.#isScheduled || this.isOff) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      try {
        this.#look();
      } catch (error) {
        this.#tellFailure(error);
      }
    });
  }

  told(): Promise<void> {
    return this.#writer.told();
  }

  inTurn(start: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(start);
    return this.#turn;
  }

  /** Everything of it is dead at once, and nobody hears of it (N6). */
  powerOff(): void {
    this[Symbol.dispose]();
    for (const container of this.#containers.values()) container.kill();
    this.#sandbox.release();
  }

  /** Nothing is decided or told any more; what runs goes on until somebody ends it (P15). */
  [Symbol.dispose](): void {
    this.#off.abort(new Error('the node does not work any more'));
    this.#timer?.[Symbol.dispose]();
    for (const container of this.#containers.values()) container[Symbol.dispose]();
  }

  /** Whoever wants it gone sooner gets that, though it is being stopped already. */
  #follow(pod: Pod): void {
    const lessMs = graceMs(pod);
    const isShorter = this.#stage.kind === 'ending' && lessMs < graceMs(this.#pod);
    this.#pod = pod;
    if (isShorter) for (const container of this.#containers.values()) container.hurry(lessMs);
    this.changed();
  }

  #seen(): ContainersSeen {
    return Object.fromEntries([...this.#containers].map(([name, container]) => [name, container.seen]));
  }

  #look(): void {
    if (this.isOff) return;
    if (this.isGoing) this.#proceed();
    // Of a pod that may not be let in nothing is told yet.
    if (!this.isGoing || this.#isAdmitted) this.#tell();
  }

  #tell(): void {
    // Who was not let in may be the next time.
    if (this.#stage.kind !== 'rejected') this.#options.keep?.(this.current().status ?? {});
    this.#writer.touch();
  }

  #proceed(): void {
    const { spec, metadata } = this.#pod;
    const deadlineMs = activeUntilMs(spec, this.#startTime);
    // Whoever says that it has ended, such as an eviction, means that it shall.
    if (this.#isGone || metadata.deletionTimestamp !== undefined || hasEnded(this.#pod))
      return this.#end({ kind: 'ending' });
    if (this.parts.clock.now().getTime() >= deadlineMs) {
      this.events.normal(DEADLINE_EXCEEDED.reason, DEADLINE_EXCEEDED.message);
      return this.#end({ kind: 'ending', why: DEADLINE_EXCEEDED });
    }
    if (!this.#isAdmitted) return;
    const preparedMs = this.#sandbox.prepare(this.#pod);
    if (!this.#sandbox.isReady) return this.#wake([deadlineMs, preparedMs]);
    const actions = containerActions(spec, this.#seen());
    if (actions.isOver) return this.#end({ kind: 'ending' });
    for (const { name, message } of actions.replace) {
      const stop = { message, graceMs: specGraceMs(this.#pod), isReplaced: true };
      this.#containers
        .get(name)
        ?.stop(stop)
        .catch((error: unknown) => this.#tellFailure(error));
    }
    this.#wake([deadlineMs, ...actions.start.map((one) => this.#containers.get(one.name)?.tryStart(one))]);
  }

  /** Looks again at the first of these times. */
  #wake(times: readonly (number | undefined)[]): void {
    this.#timer?.[Symbol.dispose]();
    const { clock } = this.parts;
    const nextMs = Math.min(...times.filter((ms) => ms !== undefined));
    if (Number.isFinite(nextMs))
      this.#timer = clock.timer(Math.max(0, nextMs - clock.now().getTime()), () => this.changed());
  }

  #end(stage: PodStage): void {
    this.#stage = stage;
    this.#timer?.[Symbol.dispose]();
    this.#finish().catch((error: unknown) => this.#tellFailure(error));
  }

  #tellFailure(error: unknown): void {
    if (!this.isOff) this.parts.log.error({ err: error, pod: podTitle(this.#pod) }, 'Cannot work on a pod');
  }

  /** Containers, status, volumes, object: in this order, each when the one before is done (N14). */
  async #finish(): Promise<void> {
    if (this.#stage.kind === 'ending') {
      const { why } = this.#stage;
      await stopInOrder(this.#pod, this.#containers);
      if (this.isOff) return;
      this.#stage = { kind: 'ended', ...(why !== undefined && { why }) };
    }
    this.#tell();
    if (!this.#isFinal) await this.#writer.told();
    this.#isFinal = true;
    await this.#sandbox.tearDown(this.#pod, this.#off.signal);
    if (this.#pod.metadata.deletionTimestamp !== undefined) this.#deletion.resolve();
    await this.#deletion.promise;
    const { client, gate, isStatic } = this.#options;
    const isLeft = () => !this.#isGone && !isStatic;
    await deletePod(this.#pod, { client, gate, parts: this.parts, signal: this.#off.signal, isLeft });
    if (!this.isOff) this.#finished.resolve();
  }

  /** Its object has the last status. A static pod may get another object at any time. */
  get #isToldFinally(): boolean {
    return this.#isFinal && !this.#options.isStatic;
  }

  #patchFor(onServer: Pod): JsonObject | undefined {
    if (this.#isToldFinally) return undefined;
    const { status = {}, metadata } = onServer;
    const wanted = this.#status(status, this.#options.isStatic ? metadata.generation : undefined);
    const simulated = [...this.#containers.values()].filter(({ isSimulated }) => isSimulated);
    return podPatch(onServer, wanted, new Set(simulated.map(({ name }) => name)));
  }

  #status(before: NonNullable<Pod['status']>, mirrored?: number): OwnedStatus {
    const { node, runtime, clock } = this.parts;
    const { metadata } = this.#pod;
    const generation = mirrored ?? metadata.generation;
    return podStatus({
      pod: { ...this.#pod, metadata: { ...metadata, ...(generation !== undefined && { generation }) } },
      before,
      seen: this.#seen(),
      stage: this.#stage,
      isReadyToStart: this.#sandbox.isReady,
      podIp: this.#sandbox.address?.api,
      hostIp: node.address.api,
      startTime: this.#startTime,
      imageId: (image) => runtime.imageId(image),
      now: clock.now(),
    });
  }
}

/** Why a pod of an earlier life ended, where its containers do not tell. */
function endReason({ status = {} }: Pod): { readonly why?: EndReason } {
  const { reason, message = '' } = status;
  return reason === undefined ? {} : { why: { reason, message } };
}

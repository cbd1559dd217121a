import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { goDuration } from '../../../base/duration.ts';
import type { EndedRun, GoingRun, Waiting } from './container-seen.ts';
import type { PodEvents } from './pod-events.ts';
import { podTitle } from './pod-parts.ts';
import { pullDelayMs, type RestartMemory, restartDecision, retryDelayMs } from './restart-backoff.ts';

/** A start that is asked for. */
export interface AskedStart {
  readonly pod: Pod;
  readonly name: string;
  readonly image: string;
  /** The newest run before it. */
  readonly run: GoingRun | EndedRun | undefined;
  readonly nowMs: number;
}

/** So long an image is told as not to be had before it is told as backed off from. */
const PULL_TOLD_MS = 1000;

/** When one container may start, and what its status says until then (N12, N13). */
export class StartPatience {
  readonly #events: PodEvents;
  readonly #maxMs: number;
  /** Of the image that it ran with: another one begins anew (N13). */
  #memory: { readonly image: string; readonly restarts: RestartMemory } | undefined;
  #waiting: Waiting | undefined;
  #failures = 0;
  #failedAtMs = 0;
  #retryAtMs = 0;
  /** Of the start that is waited for: another image is not kept waiting. */
  #image = '';

  constructor(events: PodEvents, maxMs: number) {
    this.#events = events;
    this.#maxMs = maxMs;
  }

  /** Why it has not started. */
  get waiting(): Waiting | undefined {
    return this.#waiting;
  }

  /** Until when the start has to wait; undefined when it may begin now, which is then remembered as begun. */
  untilMs(asked: AskedStart): number | undefined {
    const { image, run, nowMs } = asked;
    if (image !== this.#image) this.#forgive();
    this.#image = image;
    if (nowMs < this.#retryAtMs) return this.#backedOff(image, nowMs);
    if (run?.kind !== 'ended') return undefined;
    const memory = this.#memory?.image === image ? this.#memory.restarts : undefined;
    const finishedAtMs = run.finishedAt?.getTime() ?? nowMs;
    const decision = restartDecision({ memory, finishedAtMs, nowMs, maxMs: this.#maxMs });
    if (decision.kind === 'wait') {
      this.#tellCrashLoop(asked, decision.delayMs);
      return decision.untilMs;
    }
    this.#memory = { image, restarts: decision.memory };
    return undefined;
  }

  /** It runs. */
  begun(): void {
    this.#waiting = undefined;
    this.#forgive();
  }

  /** It ran, and does not any more. */
  ended(): void {
    this.#waiting = undefined;
  }

  /** It did not start. True when that was not known yet. */
  failed(waiting: Required<Waiting>): boolean {
    const isNew = this.#waiting?.message !== waiting.message;
    this.#waiting = waiting;
    return isNew;
  }

  /** Nothing ran: it is tried again by itself. */
  retryFrom(nowMs: number): void {
    this.#failures++;
    this.#failedAtMs = nowMs;
    const isPull = this.#waiting?.reason === 'ErrImagePull';
    this.#retryAtMs = nowMs + (isPull ? pullDelayMs(this.#failures) : retryDelayMs(this.#failures));
  }

  #forgive(): void {
    this.#failures = 0;
    this.#retryAtMs = 0;
  }

  #tellCrashLoop({ pod, name }: AskedStart, delayMs: number): void {
    const title = podTitle(pod);
    if (this.#waiting?.reason !== 'CrashLoopBackOff')
      this.#events.warning('BackOff', `Back-off restarting failed container ${name} in pod ${title}`);
    const message = `back-off ${goDuration(delayMs)} restarting failed container=${name} pod=${title}`;
    this.#waiting = { reason: 'CrashLoopBackOff', message };
  }

  /** An image that could not be had is told as such for a moment, then as backed off from (N12). */
  #backedOff(image: string, nowMs: number): number {
    if (this.#waiting?.reason !== 'ErrImagePull') return this.#retryAtMs;
    if (nowMs < this.#failedAtMs + PULL_TOLD_MS) return this.#failedAtMs + PULL_TOLD_MS;
    const message = `Back-off pulling image "${image}"`;
    this.#events.normal('BackOff', message);
    this.#waiting = { reason: 'ImagePullBackOff', message: `${message}: ${this.#waiting.message ?? ''}` };
    return this.#retryAtMs;
  }
}

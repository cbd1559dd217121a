import { Worker } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { JournalFailure } from './journal.ts';
import type { WorkerReply, WorkerRequest } from './worker-protocol.ts';

export interface WorkerLogEvents {
  readonly onReady: () => void;
  /** Something failed while no request was under way. */
  readonly onFailure: (failure: JournalFailure) => void;
}

// Sources run as they are; the built package has JavaScript beside each other instead.
const PROGRAM = import.meta.url.endsWith('.ts')
  ? new URL('./commit-worker.ts', import.meta.url)
  : new URL('./commit-worker.js', import.meta.url);

/** A thread with the writing side of the store. */
export class WorkerLog {
  readonly #worker: Worker;
  readonly #events: WorkerLogEvents;
  #waiting: PromiseWithResolvers<void> | undefined;

  constructor(events: WorkerLogEvents) {
    this.#events = events;
    this.#worker = new Worker(PROGRAM, { name: 'slipway-store' });
    this.#worker.on('message', (reply: WorkerReply) => this.#onReply(reply));
    this.#worker.on('error', (error) => this.#onEnd(messageOf(error)));
  }

  /** One at a time. */
  request(request: WorkerRequest): Promise<void> {
    this.#waiting = Promise.withResolvers();
    this.#worker.postMessage(request, request instanceof ArrayBuffer ? [request] : []);
    return this.#waiting.promise;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #onReply({ kind, failure }: WorkerReply): void {
    const error = failure === undefined ? undefined : new JournalFailure(failure.kind, failure.message);
    if (kind === 'ready') {
      this.#events.onReady();
    } else if (kind === 'unasked') {
      if (error !== undefined) this.#events.onFailure(error);
    } else {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (error === undefined) waiting?.resolve();
      else waiting?.reject(error);
    }
  }

  #onEnd(why: string): void {
    const failure = new JournalFailure('broken', `the object was not stored: the store's thread ended (${why})`);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#events.onFailure(failure);
    else waiting.reject(failure);
  }
}

import type { Log } from '../../base/log.ts';
import type { Runnable } from './runnable.ts';

export interface RunGroupOptions {
  readonly log: Log;
  /** A part rejected while nobody had asked it to stop. */
  readonly failed: (part: Runnable, error: unknown) => void;
}

/** Parts that start and stop together. Each part is started once. */
export class RunGroup {
  readonly #options: RunGroupOptions;
  readonly #stop = new AbortController();
  readonly #waiting: Runnable[] = [];
  readonly #running = new Map<Runnable, Promise<void>>();
  #isStarted = false;

  constructor(options: RunGroupOptions) {
    this.#options = options;
  }

  /** Starts at once when the group has started. */
  add(part: Runnable): void {
    if (!this.#isStarted) this.#waiting.push(part);
    // A part that does not get ready has failed, and that is told already.
    else this.#launch(part).catch(() => undefined);
  }

  /** Resolves when every part is ready; rejects when one failed before. */
  async start(): Promise<void> {
    this.#isStarted = true;
    const parts = this.#waiting.splice(0);
    await Promise.all(parts.map((part) => this.#launch(part)));
  }

  /** Tells every part to stop and resolves when all have; never rejects. A second call waits for the same. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running.values());
  }

  /** Names of the parts that run. */
  get running(): readonly string[] {
    return [...this.#running.keys()].map(({ name }) => name);
  }

  async #launch(part: Runnable): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const ended = this.#run(part, signal);
    this.#running.set(part, ended);
    try {
      await part.ready?.(signal);
    } catch (error) {
      this.#report(part, error);
      throw error;
    }
  }

  async #run(part: Runnable, signal: AbortSignal): Promise<void> {
    try {
      await part.run(signal);
    } catch (error) {
      this.#report(part, error);
    } finally {
      this.#running.delete(part);
    }
  }

  #report(part: Runnable, error: unknown): void {
    if (!this.#stop.signal.aborted) return this.#options.failed(part, error);
    // What comes after the stop is often its consequence, and changes nothing.
    const { signal } = this.#stop;
    if (error !== signal.reason)
      this.#options.log.warn({ err: error, part: part.name }, 'Part failed while it stopped');
  }
}

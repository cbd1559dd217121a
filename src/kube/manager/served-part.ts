import { aborted } from '../aborted.ts';
import { Listener, type ListenerOptions } from '../serving/https-listener.ts';
import type { Runnable, RunnableGroup } from './runnable.ts';

/** A server as a part of a manager: ready when it listens, ends when what it serves is done. */
export class ServedPart implements Runnable {
  readonly name: string;
  readonly group: RunnableGroup;
  /** Where it listens, once it does. */
  readonly port: Promise<number>;
  readonly #options: ListenerOptions;
  readonly #listening = Promise.withResolvers<Listener>();

  constructor(options: ListenerOptions, group: RunnableGroup = 'http') {
    this.name = `${options.name} server`;
    this.group = group;
    this.#options = options;
    this.port = this.#listening.promise.then((listener) => listener.port);
    // `run` rejects with the same; nobody has to ask for the port.
    this.port.catch(() => undefined);
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      this.#listening.resolve(await Listener.start(this.#options));
    } catch (error) {
      this.#listening.reject(error);
      throw error;
    }
    const listener = await this.#listening.promise;
    await aborted(signal);
    await listener.stop();
  }

  async ready(): Promise<void> {
    await this.#listening.promise;
  }
}

import type { Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import { reset } from '../../tcp/reset.ts';
import { splice } from '../../tcp/splice.ts';

export interface ProxiedConnectionOptions {
  readonly client: Socket;
  /** Port of the balancer, by which its listeners are known. */
  readonly port: number;
  readonly target: string;
  /** Opens the way to the target. */
  readonly dial: (signal: AbortSignal) => Promise<Socket>;
  /** The first bytes for the target (C17). */
  readonly header: Buffer | undefined;
  /** Lab time. */
  readonly clock: Pick<Clock, 'timer' | 'monotonicMs'>;
  readonly idleMs: number;
}

/** One client and its target, for as long as they talk. */
export class ProxiedConnection {
  readonly #options: ProxiedConnectionOptions;
  readonly #stop = new AbortController();
  #backend: Socket | undefined;

  constructor(options: ProxiedConnectionOptions) {
    this.#options = options;
  }

  get port(): number {
    return this.#options.port;
  }

  get target(): string {
    return this.#options.target;
  }

  /** Resolves when both sides are closed. Rejects when the target cannot be reached; the client is closed then. */
  async run(): Promise<void> {
    const { client, dial, header } = this.#options;
    // A client may go while nobody looks.
    client.on('error', () => client.destroy());
    try {
      this.#backend = await dial(this.#stop.signal);
    } catch (error) {
      client.destroy();
      throw error;
    }
    if (header !== undefined) this.#backend.write(header);
    const over = splice(client, this.#backend);
    using _watch = this.#watchIdle([client, this.#backend]);
    await over;
  }

  /** Ends it at once; both sides see that it did not end in order. */
  cut(): void {
    this.#stop.abort(new Error('the connection was cut'));
    reset(this.#options.client);
    if (this.#backend !== undefined) reset(this.#backend);
  }

  /** Cuts when no byte has moved for long. */
  #watchIdle(sides: readonly Socket[]): Disposable {
    const { clock, idleMs } = this.#options;
    let lastMs = clock.monotonicMs();
    const touch = () => {
      lastMs = clock.monotonicMs();
    };
    for (const side of sides) side.on('data', touch);
    let timer: Disposable;
    const arm = (leftMs: number) => {
      timer = clock.timer(leftMs, () => {
        const nextMs = lastMs + idleMs - clock.monotonicMs();
        return nextMs > 0 ? arm(nextMs) : this.cut();
      });
    };
    arm(idleMs);
    return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }
}

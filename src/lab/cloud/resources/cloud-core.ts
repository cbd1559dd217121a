import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { Boot } from '../boot.ts';
import { CloudState } from '../state/cloud-state.ts';
import type { LiveTransaction, RecordMove } from '../state/live-transaction.ts';
import type { OpenedState } from '../state/state-log.ts';
import type { KindCatalogue } from './kind-catalogue.ts';
import type { CloudAddresses, CloudServices, KindFactory } from './resource-kind.ts';
import { TransitionRunner } from './transition-runner.ts';
import { WorldEffects } from './world-effects.ts';

export interface CloudCoreOptions {
  readonly opened: OpenedState;
  readonly kinds: KindCatalogue;
  readonly factories: readonly KindFactory[];
  readonly seed: number;
  readonly clock: Clock;
  readonly real: Clock;
  readonly log: Log;
  /** `<data>/cloud`. */
  readonly directory: string;
  readonly addresses: CloudAddresses;
  readonly boot: Boot | undefined;
  readonly stuckMs: (fault: string) => number | 'always' | undefined;
  readonly hold: (reason: string) => Disposable;
}

/** The kinds of a cloud at work: transactions, what follows from them in time, and what they do to the world. */
export class CloudCore implements AsyncDisposable {
  readonly kinds: KindCatalogue;
  readonly state: CloudState;
  readonly #options: CloudCoreOptions;
  readonly #runner: TransitionRunner;
  readonly #effects: WorldEffects;

  constructor(options: CloudCoreOptions) {
    const { opened, kinds, seed, clock, log, hold, stuckMs } = options;
    this.#options = options;
    this.kinds = kinds;
    this.state = new CloudState({ tables: opened.tables, log: opened.log, kinds, seed, clock, logger: log });
    this.#effects = new WorldEffects(kinds, log);
    this.#runner = new TransitionRunner({
      kinds,
      clock,
      log,
      hold,
      stuckMs,
      state: this.state,
      commit: (work) => this.transact(work),
    });
  }

  /** Goes on where the last life of the cloud has ended. */
  async start(): Promise<void> {
    for (const factory of this.#options.factories) this.kinds.add(factory(this.#services()));
    this.kinds.checkSettings();
    const moves = this.kinds.all
      .flatMap((kind) => this.state.list(kind))
      .map((now) => ({ before: undefined, now }));
    await this.#follow(moves);
    const seed = (transaction: LiveTransaction) => {
      for (const kind of this.kinds.all) kind.seed?.(transaction);
    };
    await this.#follow(this.state.commit(seed, { isSeenAtOnce: true }).moves);
  }

  /** Runs at once; resolves when it is kept and the world follows. Rejects when nothing has happened. */
  async transact<T>(work: (transaction: LiveTransaction) => T, stuckBy?: string): Promise<T> {
    const { result, moves } = this.state.commit(work, { stuckBy });
    await this.#follow(moves);
    return result;
  }

  /** For what touches no object, such as faults: kept when it returns. */
  note(work: (transaction: LiveTransaction) => void): void {
    // Objects whose time is over are forgotten with any transaction.
    void this.#follow(this.state.commit(work).moves);
  }

  recheckFaults(): void {
    this.#runner.recheck();
  }

  /** Resolves when nothing is being done; what waits for time may wait. */
  async idle(): Promise<void> {
    await this.#runner.idle();
    await this.#effects.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runner[Symbol.asyncDispose]();
    await this.#effects.idle();
    for (const kind of this.kinds.all.toReversed()) await kind.dispose?.();
  }

  async #follow(moves: readonly RecordMove[]): Promise<void> {
    this.#runner.follow(moves);
    await this.#effects.follow(moves);
  }

  #services(): CloudServices {
    const { clock, real, log, directory, addresses, boot } = this.#options;
    const transact = <T>(work: (transaction: LiveTransaction) => T) => this.transact(work);
    return { clock, real, log, directory, addresses, boot, state: this.state, transact };
  }
}

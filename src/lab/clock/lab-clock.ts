import type { Clock } from '../../base/clock.ts';

/** How lab time goes (T2): as outside, faster by a factor, or from timer to timer when nothing else can happen. */
export type ClockMode = 'real' | 'auto' | { readonly scaled: number };

/** Lets time pass as outside while a child lives; `settled` once nobody waits for it any more (T5). */
export interface Following extends Disposable {
  /** From now on time may jump again, in small steps. Twice is the same as once. */
  settled(): void;
}

export interface IdleOptions {
  /** Lab time, such as `1h`. */
  readonly max: string;
  /** `6m` unless told otherwise: longer than the longest back-off and the time until a lost node is given up. */
  readonly quiet?: string;
}

/** The time of one lab: of its controllers, its nodes and its cloud alike (T1). */
export interface LabClock extends Clock, AsyncDisposable {
  readonly mode: 'real' | 'scaled' | 'auto';
  /** Lab milliseconds in one real one while a child lives. */
  readonly factor: number;
  /** Automatic time stands still until the hold is disposed; other modes only remember it. */
  hold(reason: string): Disposable;
  /** A child starts: it lives in real time, and so does the lab (T5). */
  follow(reason: string): Following;
  /** Calls `fire` every `ms`, unless disposed. */
  interval(ms: number, fire: () => void): Disposable;
  /** Resolves when nothing moves and nothing is due now; time does not pass. */
  settle(): Promise<void>;
  /**
   * Resolves when so much time has passed, in milliseconds or as `6m`. On automatic time everything that fell due has come
   * to rest then; time that goes on by itself waits for nobody.
   */
  advance(time: number | string): Promise<void>;
  /** The same, up to a moment. Rejects when that is over: lab time never goes backwards. */
  advanceTo(moment: Date): Promise<void>;
  /**
   * Lets time pass until nothing was written to an API server but heartbeats for a while, `quiet`. Rejects when that has
   * not come after `max`.
   */
  runUntilIdle(options: IdleOptions): Promise<void>;
  /** Resolves with what the promise gives; automatic time passes as it takes. Rejects after `withinMs` of lab time. */
  through<T>(promise: Promise<T>, withinMs: number): Promise<T>;
}

/** What a child needs to follow (T7), in its variable `SLIPWAY_CLOCK`; undefined in mode `auto`, where it cannot. */
export const clockSetting = (clock: Pick<LabClock, 'mode' | 'factor' | 'now'>, host: Clock): string | undefined =>
  clock.mode === 'auto'
    ? undefined
    : `scaled:${clock.factor}:${clock.now().toISOString()}:${host.now().toISOString()}`;

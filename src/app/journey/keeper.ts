import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { PhaseId, Running } from './phase.ts';

interface Kept {
  readonly phase: PhaseId;
  readonly name: string;
  readonly running: Running;
}

/** Everything together must be stopped within this time, counted from the request (experience X26). */
export const STOP_LIMIT_MS = 3000;
/** What each phase that is still to be stopped may count on, however long those before it take. */
const RESERVED_MS = 200;
/** A Ctrl-C reaches our children too, and which of the two we hear of first is chance. */
const MOURNING_MS = 100;

/** Takes one line about a thing; `isBad` = it could not be stopped properly. */
type Report = (line: string, isBad: boolean) => void;

/** Told when something ended without having been asked to. */
export type LossListener = (phase: PhaseId, name: string, why: string) => void;

/** Keeps what phases leave running and stops it, the last phase first: what came later may use what came before. */
export class Keeper {
  readonly #clock: Clock;
  readonly #onLoss: LossListener;
  /** Everything not known to have ended, for `kill`. */
  readonly #alive = new Set<Running>();
  #kept: readonly Kept[] = [];
  #stage: 'open' | 'stopping' | 'closed' = 'open';

  constructor(clock: Clock, onLoss: LossListener) {
    this.#clock = clock;
    this.#onLoss = onLoss;
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0;
  }

  keep(phase: PhaseId, name: string, running: Running): void {
    const kept = { phase, name, running };
    this.#alive.add(running);
    // A phase that was too slow to notice the end: nobody else would stop this any more.
    if (this.#stage === 'closed') return void this.#stopOne(kept, STOP_LIMIT_MS);
    this.#kept = [...this.#kept, kept];
    running.ended?.then(
      (why) => this.#mourn(kept, why),
      (error: unknown) => this.#mourn(kept, messageOf(error)),
    );
  }

  /** From now on, what ends by itself has only been quicker than we. */
  expectEnds(): void {
    if (this.#stage === 'open') this.#stage = 'stopping';
  }

  /** Stops everything; returns the names of what may still be running. */
  async stopAll(deadlineMs: number, report: Report): Promise<readonly string[]> {
    this.expectEnds();
    const left: string[] = [];
    // Looks again each time: a phase that is slow to notice an interruption may still hand something over.
    for (let last = this.#kept.at(-1); last !== undefined; last = this.#kept.at(-1)) {
      left.push(...(await this.#stopPhase(last.phase, deadlineMs, report)));
    }
    this.#stage = 'closed';
    return left;
  }

  async stopThoseOf(phase: PhaseId, report: Report): Promise<void> {
    await this.#stopPhase(phase, this.#clock.monotonicMs() + STOP_LIMIT_MS, report);
  }

  /** Ends everything at once, without waiting and without a word: the process is about to end. */
  kill(): void {
    for (const running of this.#alive) running.kill?.();
    this.#alive.clear();
  }

  async #stopPhase(phase: PhaseId, deadlineMs: number, report: Report): Promise<readonly string[]> {
    const mine = this.#kept.filter((kept) => kept.phase === phase).toReversed();
    this.#kept = this.#kept.filter((kept) => kept.phase !== phase);
    const phasesLeft = new Set(this.#kept.map((kept) => kept.phase)).size;
    const limitMs = deadlineMs - this.#clock.monotonicMs() - phasesLeft * RESERVED_MS;
    const left = await Promise.all(mine.map((kept) => this.#stopOne(kept, limitMs, report)));
    return left.flat();
  }

  /** The name of the thing if it may still be running. One thing that will not stop must not keep the others running. */
  async #stopOne(kept: Kept, limitMs: number, report: Report = () => {}): Promise<readonly string[]> {
    const { name, running } = kept;
    const problem = await this.#stopProblem(running, limitMs);
    const isKilled = problem !== undefined && running.kill !== undefined;
    if (isKilled) running.kill?.();
    const isLeft = problem !== undefined && !isKilled;
    if (!isLeft) this.#alive.delete(running);
    const end = isKilled ? 'and was killed' : 'and may still be running';
    report(problem === undefined ? `stopped ${name}` : `${name} ${problem} ${end}`, problem !== undefined);
    return isLeft ? [name] : [];
  }

  async #stopProblem(running: Running, limitMs: number): Promise<string | undefined> {
    const silence = Promise.withResolvers<string>();
    using _timer = this.#clock.timer(limitMs, () => silence.resolve('did not stop in time'));
    try {
      const stopped = running[Symbol.asyncDispose]();
      return await Promise.race([Promise.resolve(stopped).then(() => undefined), silence.promise]);
    } catch (error) {
      return `could not be stopped (${messageOf(error)})`;
    }
  }

  #mourn(kept: Kept, why: string): void {
    this.#alive.delete(kept.running);
    this.#clock.timer(MOURNING_MS, () => {
      // What is not in the list any more was stopped by us.
      if (this.#stage !== 'open' || !this.#kept.includes(kept)) return;
      this.#kept = this.#kept.filter((other) => other !== kept);
      this.#onLoss(kept.phase, kept.name, why);
    });
  }
}

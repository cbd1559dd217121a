import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';

interface Kept {
  readonly phase: string;
  readonly name: string;
  readonly running: AsyncDisposable;
}

/** Everything together must be stopped within this time (experience X26). */
const STOP_LIMIT_MS = 3000;
/** What is left for each of the others when one thing has used up all of it. */
const SHORTEST_LIMIT_MS = 200;

/** Takes one line about a thing; `isBad` = it could not be stopped properly. */
type Report = (line: string, isBad: boolean) => void;

/** Keeps what phases leave running and stops it in reverse order: what came last may use what came before. */
export class Keeper {
  readonly #clock: Clock;
  #kept: readonly Kept[] = [];
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0;
  }

  keep(phase: string, name: string, running: AsyncDisposable): void {
    // A phase that was too slow to notice the end: nobody else would stop this any more.
    if (this.#isClosed) return void this.#stopOne({ phase, name, running }, STOP_LIMIT_MS);
    this.#kept = [...this.#kept, { phase, name, running }];
  }

  async stopAll(report: Report): Promise<void> {
    await this.#stop(() => true, report);
    this.#isClosed = true;
  }

  stopThoseOf(phase: string, report: Report): Promise<void> {
    return this.#stop((kept) => kept.phase === phase, report);
  }

  /** The loop looks again each time: a phase that is slow to notice an interruption may still hand something over. */
  async #stop(isMeant: (kept: Kept) => boolean, report: Report): Promise<void> {
    const deadlineMs = this.#clock.monotonicMs() + STOP_LIMIT_MS;
    for (let kept = this.#kept.findLast(isMeant); kept !== undefined; kept = this.#kept.findLast(isMeant)) {
      const current = kept;
      this.#kept = this.#kept.filter((other) => other !== current);
      const problem = await this.#stopOne(current, deadlineMs - this.#clock.monotonicMs());
      report(problem ?? `stopped ${current.name}`, problem !== undefined);
    }
  }

  /** The problem as one line, or undefined. One thing that will not stop must not keep the others running. */
  async #stopOne({ name, running }: Kept, limitMs: number): Promise<string | undefined> {
    const silence = Promise.withResolvers<string>();
    using _timer = this.#clock.timer(Math.max(SHORTEST_LIMIT_MS, limitMs), () =>
      silence.resolve(`${name} did not stop in time; it may still be running`),
    );
    try {
      const stopped = running[Symbol.asyncDispose]();
      return await Promise.race([Promise.resolve(stopped).then(() => undefined), silence.promise]);
    } catch (error) {
      return `${name} could not be stopped: ${messageOf(error)}`;
    }
  }
}
